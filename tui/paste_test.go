package tui

import (
	"strings"
	"testing"
)

// A paste is cut short, what comes before and after it is not, wherever the
// reads happen to end.
func TestPasteFilter(t *testing.T) {
	long := strings.Repeat("x", 3*pasteLimit)
	for _, c := range []struct{ in, want string }{
		{"jj", "jj"},
		{"j" + pasteBegin + "short" + pasteEnd + "k", "j" + pasteBegin + "short" + pasteEnd + "k"},
		{"j" + pasteBegin + long + pasteEnd + "k", "j" + pasteBegin + long[:pasteLimit] + pasteEnd + "k"},
		{pasteBegin + long + "\x1b[20x" + pasteEnd, pasteBegin + long[:pasteLimit] + "\x1b[20" + pasteEnd},
		{pasteBegin + pasteBegin + pasteEnd + long, pasteBegin + pasteBegin + pasteEnd + long},
		{"\x1b[A\x1b[20", "\x1b[A\x1b[20"},
	} {
		for _, size := range []int{1, 3, 256, len(c.in)} {
			var f pasteFilter
			var got strings.Builder
			for rest := []byte(c.in); len(rest) > 0; {
				part := rest[:min(size, len(rest))]
				rest = rest[len(part):]
				got.Write(part[:f.filter(part)])
			}
			if got.String() != c.want {
				t.Errorf("%.20q in reads of %d: %d bytes came through, want %d", c.in, size, got.Len(), len(c.want))
			}
		}
	}
}
