package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/tui/theme"
)

// help shows the keys of the screen that it was opened from, and what the
// screen means.
type help struct {
	scope keymap.Scope
	top   int
}

func newHelp(m root) help { return help{scope: m.scope()} }

func (m root) helpKey(id keymap.ID) (root, tea.Cmd) {
	if id == keymap.Back {
		return m.back(), nil
	}
	m.help.top = scrolled(m.help.top, id, len(m.helpLines()), m.bodyHeight())
	return m, nil
}

func (m root) helpBody() []string {
	return window(m.helpLines(), m.help.top, m.bodyHeight())
}

// helpLines are made from the bindings, so that they cannot say other keys than
// those that work.
func (m root) helpLines() []string {
	lines := []string{"", " " + m.theme.Strong.Wrap("Keys here"), ""}
	bindings := m.keys.For(m.help.scope)
	width := 0
	for _, b := range bindings {
		width = max(width, theme.Width(b.Names()))
	}
	for _, b := range bindings {
		line := "   " + m.theme.Key.Wrap(theme.Pad(b.Names(), width)) + "  " + b.Help
		if b.Dangerous {
			line += " " + m.theme.Warn.Wrap("(leads to a change)")
		}
		lines = append(lines, line)
	}
	lines = append(lines, "", " "+m.theme.Strong.Wrap("What the screen says"), "")
	texts := legend()
	if m.inLab() {
		texts = m.words().Legend()
	}
	for _, text := range texts {
		for i, part := range theme.Wrap(text, m.width-5) {
			lead := "   "
			if i > 0 {
				lead = "     "
			}
			lines = append(lines, lead+part)
		}
	}
	return append(lines, "")
}

// legend explains marks and words of the list.
func legend() []string {
	return []string{
		"!  look at this lock: it has a warning, or its library takes it for free already",
		"+  it has just got a new holder      -  the server has just said that it is gone",
		"TIME LEFT is computed from the server's last answer. At zero it says \"due, asking\" until the server says what became of the lock; nothing is counted down as a fact.",
		"The bar shows the time left of the most that was seen of this holder. A bar that fills up again was renewed.",
		"no expiry: only a release ends it.   lapsed: the key is there, its library ignores it.   cooling: the work is done, the lock stays on purpose.   free: nobody holds it, but waiters or remains are there.",
		"AGE is how old the facts are. A \"?\" behind the time left says that this was so when the server was last heard.",
		"FENCE is the fencing token, which grows with every holder. WAIT is how many wait, where the library lets that be seen.",
		"A \"?\" behind a library's name says that the shape fits others too.",
	}
}

// scrolled moves the top line of a text by an action.
func scrolled(top int, id keymap.ID, lines, height int) int {
	switch id {
	case keymap.Up:
		top--
	case keymap.Down:
		top++
	case keymap.PageUp:
		top -= height
	case keymap.PageDown:
		top += height
	case keymap.HalfUp:
		top -= height / 2
	case keymap.HalfDown:
		top += height / 2
	case keymap.Top:
		top = 0
	case keymap.Bottom:
		top = lines
	}
	return max(0, min(top, lines-height))
}

// window is the part of a text that shows.
func window(lines []string, top, height int) []string {
	top = max(0, min(top, len(lines)-height))
	return lines[top:min(len(lines), top+height)]
}
