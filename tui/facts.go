package tui

import (
	"strings"

	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

// fact is a name and a value; a value of several lines has them one below the
// other. A fact without a value is left out.
type fact struct {
	name, value string
	paint       theme.Paint
}

// factIndent is the column in which values begin.
const factIndent = 14

// facts lays out names and values. Values are wrapped and never cut, because
// what is cut may be what matters. Each line is painted for itself: Bubble Tea
// draws lines anew one by one. Whatever a value was made of, it is cleaned here
// once more: nothing from a server may command the terminal.
func (m root) facts(list ...fact) []string {
	var lines []string
	for _, f := range list {
		if f.value == "" {
			continue
		}
		lead := " " + m.theme.Label.Wrap(theme.Pad(f.name, factIndent-1))
		for _, part := range strings.Split(f.value, "\n") {
			for _, text := range theme.Wrap(wire.Clean(part), m.width-factIndent-2) {
				lines = append(lines, lead+f.paint.Wrap(text))
				lead = strings.Repeat(" ", factIndent)
			}
		}
	}
	return lines
}
