// Package theme holds every style and every glyph of the console, and nothing
// else does: a screen names what a text means, the theme says how that looks.
//
// Colours are the terminal's own sixteen, which the user has already fitted to
// a dark or a light background. No meaning hangs on colour alone: beside each
// stands a glyph or a word, so that the console reads the same without colour.
//
// Styles are precomputed pairs of escape strings (Paint), because styling a
// cell at a time costs ten times as much as writing it.
package theme

import (
	"strings"

	"github.com/muesli/termenv"
)

// Paint is a style: what to write before a text and after it. The zero Paint
// is plain text.
type Paint struct{ On, Off string }

// Wrap returns s painted. An empty s stays empty.
func (p Paint) Wrap(s string) string {
	if p.On == "" || s == "" {
		return s
	}
	return p.On + s + p.Off
}

// Depth is how much a terminal can show.
type Depth int

// Plain is text only: TERM=dumb, or no terminal. Mono has bold, faint and
// reverse but no colour: NO_COLOR. Sixteen has the terminal's palette.
const (
	Plain Depth = iota
	Mono
	Sixteen
)

// Theme is all that the console draws with.
type Theme struct {
	Depth Depth

	Text   Paint // nothing special
	Title  Paint // the program's name, headings
	Strong Paint // what the eye should find first
	Muted  Paint // what can be passed over
	Key    Paint // a key to press, in hints and help
	Label  Paint // the name of a fact in a list of facts
	Cursor Paint // the row under the cursor
	Rule   Paint // lines between parts

	Good    Paint // done, healthy
	Warn    Paint // look here
	Danger  Paint // may do harm
	Holder  Paint // who holds
	Fence   Paint // the fencing token
	Command Paint // what goes over the wire

	BadgeSandbox Paint
	BadgeProd    Paint
	BadgeEnv     Paint
	BadgeLost    Paint

	Button   Paint // a choice that is not focused
	Focus    Paint // the focused choice
	FocusHot Paint // the focused choice that changes something

	Glyph Glyphs
}

// Glyphs are the marks that stand beside the colours.
type Glyphs struct {
	Cursor   string // the row under the cursor, one cell
	Flag     string // a row with a warning, one cell
	Full     string // the bar: time left, one cell each
	Empty    string
	Rule     string // a horizontal line, one cell
	Ellipsis string // stands for what was cut off
	Dot      string // between facts on a line
	Up, Down string // sorted ascending, descending
	Bullet   string
}

// unicodeGlyphs are one cell wide on every terminal but those that draw
// ambiguous characters wide, which asciiGlyphs are for.
func unicodeGlyphs() Glyphs {
	return Glyphs{
		Cursor: ">", Flag: "!", Full: "━", Empty: "╌", Rule: "─",
		Ellipsis: "…", Dot: "·", Up: "↑", Down: "↓", Bullet: "•",
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		Cursor: ">", Flag: "!", Full: "=", Empty: ".", Rule: "-",
		Ellipsis: "~", Dot: "|", Up: "^", Down: "v", Bullet: "*",
	}
}

// New returns the theme for a terminal of this depth; ascii keeps to ASCII
// glyphs.
func New(depth Depth, ascii bool) Theme {
	p := painter{depth}
	t := Theme{
		Depth:        depth,
		Title:        p.paint("1", ""),
		Strong:       p.paint("1", ""),
		Muted:        p.paint("2", ""),
		Key:          p.paint("1", "36"),
		Label:        p.paint("2", ""),
		Cursor:       p.paint("7", ""),
		Rule:         p.paint("2", ""),
		Good:         p.paint("", "32"),
		Warn:         p.paint("1", "33"),
		Danger:       p.paint("1", "31"),
		Holder:       p.paint("", "36"),
		Fence:        p.paint("", "35"),
		Command:      p.paint("", "36"),
		BadgeSandbox: p.paint("7", "36"),
		BadgeProd:    p.paint("1;7", "31"),
		BadgeEnv:     p.paint("7", ""),
		BadgeLost:    p.paint("1;7", "33"),
		Button:       p.paint("", ""),
		Focus:        p.paint("7", ""),
		FocusHot:     p.paint("1;7", "31"),
		Glyph:        unicodeGlyphs(),
	}
	if ascii {
		t.Glyph = asciiGlyphs()
	}
	return t
}

type painter struct{ depth Depth }

// paint joins attributes and a colour, as far as the depth goes.
func (p painter) paint(attributes, colour string) Paint {
	if p.depth < Mono {
		attributes = ""
	}
	if p.depth < Sixteen {
		colour = ""
	}
	sgr := strings.Trim(attributes+";"+colour, ";")
	if sgr == "" {
		return Paint{}
	}
	return Paint{On: termenv.CSI + sgr + "m", Off: termenv.CSI + "0m"}
}
