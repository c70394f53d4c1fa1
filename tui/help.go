package tui

import (
	"fmt"
	"slices"
	"strings"

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
	return m.scroll(m.helpLines(), m.help.top)
}

// helpLines are made from the bindings, so that they cannot say other keys than
// those that work.
func (m root) helpLines() []string {
	lines := []string{"", " " + m.theme.Strong.Wrap(m.helpWord("keys-here", "Keys here")), ""}
	bindings := m.keys.For(m.help.scope)
	width := 0
	for _, b := range bindings {
		width = max(width, theme.Width(b.Names()))
	}
	for _, b := range bindings {
		lines = append(lines, m.helpOf(b, width)...)
	}
	lines = append(lines, "", " "+m.theme.Strong.Wrap(m.helpWord("keys-mean", "What the screen says")), "")
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

// helpOf is a binding's line, or lines where the screen is narrow; names are
// width cells wide.
func (m root) helpOf(b keymap.Binding, width int) []string {
	text := b.Help
	if m.inLab() {
		text = m.words().KeyHelp(string(b.ID), b.Help)
	}
	if b.Dangerous {
		text += " " + m.helpWord("keys-danger", "(leads to a change)")
	}
	lead := "   " + m.theme.Key.Wrap(theme.Pad(b.Names(), width)) + "  "
	var lines []string
	for _, part := range theme.Wrap(text, m.width-width-6) {
		if b.Dangerous {
			part = m.theme.Warn.Wrap(part)
		}
		lines = append(lines, lead+part)
		lead = strings.Repeat(" ", width+5)
	}
	return lines
}

// legend explains marks and words of the screens.
func legend() []string {
	return []string{
		"!  look at this lock: it has a warning, or its library takes it for free already",
		"+  it has just got a new holder      -  the server has just said that it is gone",
		"EXPIRES is computed from the server's last answer. At zero it says \"due, asking\" until the server says what became of the lock; nothing is counted down as a fact.",
		"The bar shows the time left of the most that was seen of this holder. A bar that fills up again was renewed.",
		"no expiry: only a release ends it.   lapsed: the key is there, its library ignores it.   cooling: the work is done, the lock stays on purpose.   free: nobody holds it, but waiters or remains are there.",
		"AGE is up to how long ago the facts are known to hold. A \"?\" behind EXPIRES says that this was so when the server was last heard.",
		"FENCE is the fencing token, which grows with every holder. WAIT is how many wait, where the library lets that be seen. FAMILY is the library; a \"?\" behind it says that the shape fits others too.",
		"live, by tracking: the server says at once that a key changed. By notifications: it also says how. By polling: it says nothing and is asked again and again, so what comes and goes in between is missed.",
		"looked at by name: only keys whose name promises a lock were read. Deep: the shape of every key was looked at.   doubtful: so many may be locks, and nothing sure says so; fencepost --possible shows them.",
		"Evidence is no verdict: a holder that renews may have finished its work, one that does not may be in the middle of it. (inferred): concluded, not seen.",
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

// scroll is the part of a text that shows, with a last line that says how much
// more there is.
func (m root) scroll(lines []string, top int) []string {
	h := m.bodyHeight()
	if len(lines) <= h {
		return lines
	}
	out := window(lines, top, h)
	if more := len(lines) - max(0, min(top, len(lines)-h)) - h; more > 0 {
		out = slices.Clone(out)
		out[h-1] = " " + m.theme.Muted.Wrap(fmt.Sprintf("%s more below (Down, PgDn)", plural(more+1, "line")))
	}
	return out
}

// window is the part of a text that shows.
func window(lines []string, top, height int) []string {
	top = max(0, min(top, len(lines)-height))
	return lines[top:min(len(lines), top+height)]
}
