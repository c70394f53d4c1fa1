package inspect

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What SCAN answers is read back as it was, whatever bytes are in a key.
func TestScanPageReadsWhatIsWritten(t *testing.T) {
	var over []string
	rapid.Check(t, func(t *rapid.T) {
		cursor := rapid.StringMatching(`[0-9]{1,20}|[a-z:]{0,9}`).Draw(t, "cursor")
		keys := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))).Draw(t, "keys")
		var b strings.Builder
		write := func(s string) { b.WriteString("$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n") }
		b.WriteString("*2\r\n")
		write(cursor)
		b.WriteString("*" + strconv.Itoa(len(keys)) + "\r\n")
		for _, k := range keys {
			write(k)
		}
		next, got, ok := scanPage(b.String(), over)
		if !ok || next != cursor || !slices.Equal(got, keys) {
			t.Fatalf("%q was read as %q, %q, %v", b.String(), next, got, ok)
		}
		over = got
		cut := b.String()[:rapid.IntRange(0, b.Len()-1).Draw(t, "cut")]
		if _, _, ok := scanPage(cut, nil); ok {
			t.Fatalf("%q passes for a page", cut)
		}
	})
}

// What is not plainly a page is left to the library, and nothing makes the
// reader ask for memory that the answer does not fill.
func TestScanPageRefuses(t *testing.T) {
	for _, s := range []string{
		"", "-ERR no\r\n", "*2\r\n", "*2\r\n$1\r\n0\r\n", "*3\r\n$1\r\n0\r\n*0\r\n", "*2\r\n:0\r\n*0\r\n", "*2\r\n$1\r\n0\r\n*-1\r\n",
		"*2\r\n$1\r\n0\r\n*999999999\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$99999999999\r\na\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$-1\r\n",
		"*2\r\n$1\r\n0\r\n*0\r\nmore", "~2\r\n$1\r\n0\r\n*0\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nab\r\n", "$-1\r\n", "_\r\n",
	} {
		if next, keys, ok := scanPage(s, nil); ok {
			t.Errorf("%q passes for a page: %q, %q", s, next, keys)
		}
	}
}
