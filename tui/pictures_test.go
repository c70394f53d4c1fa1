package tui_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
)

// picturesVariable makes TestPictures draw: it replaces the README's pictures by
// frames of the program as it is now.
const picturesVariable = "FENCEPOST_PICTURES"

// TestPictures draws the README's pictures from the cells that a real terminal
// holds. Without the variable it checks that the pictures show what they are
// named for.
func TestPictures(t *testing.T) {
	for _, p := range pictures() {
		t.Run(p.name, func(t *testing.T) {
			path := filepath.Join("..", "testdata", "pictures", p.name+".svg")
			if os.Getenv(picturesVariable) != "" {
				s := open(t, terminal{cols: p.cols, rows: p.rows})
				s.sees("order:4711", "payments:settle")
				p.play(s)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(svg(s.vt)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			drawn, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (%s=1 go test ./tui -run Pictures draws it)", err, picturesVariable)
			}
			for _, word := range p.shows {
				if !strings.Contains(string(drawn), html.EscapeString(word)) {
					t.Errorf("%s does not show %q", path, word)
				}
			}
		})
	}
}

// picture is one frame and the keys that lead to it.
type picture struct {
	name       string
	cols, rows int
	play       func(*session)
	shows      []string
}

func pictures() []picture {
	return []picture{
		{"list", 100, 26, func(*session) {}, []string{"SANDBOX", "order:4711", "no expiry"}},
		{"release", 100, 30, func(s *session) {
			s.write("/order\r")
			s.loses("payments:settle")
			s.write("u")
			s.sees("Release this lock by force?")
		}, []string{"Release this lock by force?", "Cancel", "consequence"}},
		{"lab", 120, 37, func(s *session) {
			s.write("4")
			s.sees("gc-pause-late-write")
			s.write("\r")
			s.sees("step 0/10")
			for step := 1; step <= 8; step++ {
				s.write("]")
				s.sees(fmt.Sprintf("step %d/10", step))
			}
			s.write("c")
			s.sees("WORLD 2")
		}, []string{"70 taken", "refused 33<34", "THEY PART AT STEP 8"}},
	}
}

// Size of a cell in the picture, in its own units.
const cellWidth, cellHeight = 8.4, 18

// svg draws the cells of a terminal: runs of one look as one text each.
func svg(term vt10x.Terminal) string {
	term.Lock()
	defer term.Unlock()
	cols, rows := term.Size()
	var b strings.Builder
	w, h := float64(cols)*cellWidth+24, rows*cellHeight+24
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">`+"\n", w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	for y := range rows {
		for x := 0; x < cols; {
			x += run(&b, term, x, y, cols)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// look is what the cells of one run share.
type look struct {
	mode   int16
	fg, bg vt10x.Color
}

func lookOf(g vt10x.Glyph) look { return look{g.Mode, g.FG, g.BG} }

// run draws the cells from x on that look alike, and returns how many.
func run(b *strings.Builder, term vt10x.Terminal, x, y, cols int) int {
	first := lookOf(term.Cell(x, y))
	var text strings.Builder
	n := 0
	for ; x+n < cols; n++ {
		g := term.Cell(x+n, y)
		if lookOf(g) != first {
			break
		}
		if g.Char == 0 {
			g.Char = ' '
		}
		text.WriteRune(g.Char)
	}
	left, top := 12+float64(x)*cellWidth, 12+y*cellHeight
	width := float64(n) * cellWidth
	fg, bg := colour(first.fg, foreground), colour(first.bg, "")
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, width, cellHeight, bg)
	}
	line := text.String()
	if strings.TrimSpace(line) == "" {
		return n
	}
	weight := ""
	if first.mode&attrBold != 0 {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
		left, top+14, width, fg, weight, html.EscapeString(line))
	return n
}

// attrBold is vt10x's bit for bold, which it does not export. Reverse video it
// has resolved by then.
const attrBold = 1 << 2

// The colours of the picture: a dark terminal's.
const background, foreground = "#1b1f27", "#d7dce4"

// colour is a terminal's colour as SVG names it; or for the default ones.
func colour(c vt10x.Color, or string) string {
	palette := [16]string{
		"#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
		"#7f8796", "#ff7b85", "#b5e090", "#ffd68a", "#7cc4ff", "#dd95f0", "#7fd8e0", "#ffffff",
	}
	switch {
	case c == vt10x.DefaultFG:
		return foreground
	case c == vt10x.DefaultBG && or == "":
		return ""
	case c == vt10x.DefaultBG:
		return background
	case c < 16:
		return palette[c]
	}
	return or
}
