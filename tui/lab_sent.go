package tui

import (
	"strconv"

	"fencepost/tui/theme"
)

// sentTitle stands above the commands, and says below which prefix their keys
// are in reality.
func (m root) sentTitle(world labWorld) string {
	text := " " + m.words().Say("sent", "n", strconv.Itoa(m.lab.stage.number()))
	if world.run.Prefix != "" {
		text += "  (" + world.run.Prefix + "...)"
	}
	return m.theme.Muted.Wrap(m.cut(text, m.width))
}

// commandLines are what the step sent, and what came back.
func (m root) commandLines(world labWorld, width, most int) []string {
	number := m.lab.stage.number()
	var lines []string
	for _, st := range world.run.Steps {
		if st.N != number {
			continue
		}
		for _, d := range st.Dids {
			for _, sent := range d.Sent {
				who := st.Actor
				if who == "-" {
					who = " "
				}
				lines = append(lines, m.cut(" "+theme.Pad(who, 3)+m.theme.Command.Wrap(oneLine(sent.Line)), width),
					m.cut("      "+oneLine(sent.Reply), width))
			}
		}
	}
	if len(lines) == 0 && number > 0 {
		lines = []string{m.theme.Muted.Wrap("      " + m.words().Say("sent-nothing"))}
	}
	if len(lines) > most {
		left := len(lines) - most + 1
		lines = append(lines[:most-1], m.theme.Muted.Wrap("      "+m.words().Say("more", "n", strconv.Itoa(left))))
	}
	return padded(lines, min(most, 4))
}
