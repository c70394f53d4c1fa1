package theme

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of cells that s takes on a terminal, escape sequences
// not counted.
func Width(s string) int { return ansi.StringWidth(s) }

// Cut shortens s to at most w cells, ending in the ellipsis where something
// was cut. Escape sequences stay whole.
func (g Glyphs) Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if Width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, g.Ellipsis)
}

// CutMiddle shortens s to w cells by leaving out its middle: of a key or a
// holder's id, the end tells as much as the beginning.
func (g Glyphs) CutMiddle(s string, w int) string {
	n := Width(s)
	if n <= w {
		return s
	}
	mark := Width(g.Ellipsis)
	if w < mark+4 {
		return g.Cut(s, w)
	}
	tail := (w - mark) / 2
	head := w - mark - tail
	end := ansi.TruncateLeft(s, n-tail, "")
	if Width(end) > tail { // the cut fell inside a wide character
		end = ansi.TruncateLeft(s, n-tail+1, "")
	}
	return ansi.Truncate(s, head, "") + g.Ellipsis + end
}

// Pad fills s with spaces to w cells, on its right side.
func Pad(s string, w int) string {
	if n := w - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// PadLeft fills s with spaces to w cells, on its left side.
func PadLeft(s string, w int) string {
	if n := w - Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// Wrap breaks s, which has no escape sequences, into lines of at most w cells:
// between words where it can, but not at hyphens, which holders' ids have, nor
// between a number and its unit. An empty s has no lines.
func Wrap(s string, w int) []string {
	if w <= 0 || s == "" {
		return nil
	}
	s = ansi.Wrap(keepUnits(strings.ReplaceAll(s, "-", hyphen)), w, "")
	return strings.Split(strings.NewReplacer(hyphen, "-", joint, " ").Replace(s), "\n")
}

// Stand-ins for what a line is not broken at: private use, which escaped text
// never has.
const hyphen, joint = "\ue000", "\ue001"

// keepUnits joins a number and its unit.
func keepUnits(s string) string {
	var b strings.Builder
	before := ""
	for i, word := range strings.Split(s, " ") {
		switch {
		case i == 0:
		case isUnit(strings.TrimRight(word, ",;:.)")) && before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9':
			b.WriteString(joint)
		default:
			b.WriteByte(' ')
		}
		b.WriteString(word)
		before = word
	}
	return b.String()
}

func isUnit(word string) bool {
	switch word {
	case "y", "d", "h", "min", "s", "ms":
		return true
	}
	return false
}

// Strip removes escape sequences, for tests and plain output.
func Strip(s string) string { return ansi.Strip(s) }

// Bar draws how much of a whole is left, w cells wide. A cell that is begun
// counts, so what is left but small still shows.
func (t Theme) Bar(left, whole int64, w int, paint Paint) string {
	if w <= 0 {
		return ""
	}
	full := 0
	if whole > 0 && left > 0 {
		full = min(w, int(math.Ceil(float64(left)/float64(whole)*float64(w))))
	}
	return paint.Wrap(strings.Repeat(t.Glyph.Full, full)) +
		t.Muted.Wrap(strings.Repeat(t.Glyph.Empty, w-full))
}
