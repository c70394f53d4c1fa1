package tui

import (
	"strings"

	"fencepost/keymap"
	"fencepost/tui/theme"
)

// roomyBody is the height from which each choice has a line of its own.
const roomyBody = 18

// panelFoot are the lines that never scroll away: the choices, or what is to be
// filled in, and the buttons.
func (m root) panelFoot() []string {
	p := m.release
	switch p.stage {
	case done:
		return []string{"  " + m.theme.Focus.Wrap(m.bracket("OK", true))}
	case sending:
		return []string{"   sending" + m.theme.Glyph.Ellipsis}
	case reading:
		return []string{"  " + m.theme.Focus.Wrap(m.bracket("Cancel", true))}
	case picking:
		return []string{m.theme.Muted.Wrap("   Up and Down choose, Enter goes on, Esc goes back")}
	case filling:
		return m.formFoot(p.form, p.form.spanWords(&p.live, m.now))
	}
	return append(m.choiceLines(), m.buttons())
}

// choiceLines are the choices besides the buttons, the gentlest first.
func (m root) choiceLines() []string {
	if m.release.blocked != "" {
		return nil
	}
	if m.bodyHeight() < roomyBody {
		return m.choicesInShort()
	}
	p, th := &m.release, m.theme
	var lines []string
	for _, c := range gentle {
		key := m.keyOf(c)
		name := theme.Pad(nameOfChoice(p, c), 17)
		about := aboutChoice(p, c)
		paint := th.Muted
		if why := m.off(c); why != "" {
			about = "not here: " + why
		} else {
			name = th.Strong.Wrap(name)
		}
		lead := "   "
		if p.focus == c {
			lead = " " + th.Glyph.Cursor + " "
			name = th.Focus.Wrap(theme.Strip(name))
		}
		lines = append(lines, lead+th.Key.Wrap(key)+"  "+name+" "+paint.Wrap(th.Glyph.Cut(about, m.width-26)))
	}
	return lines
}

// choicesInShort are the same on one line, for a low screen.
func (m root) choicesInShort() []string {
	p, th := &m.release, m.theme
	var parts []string
	for _, c := range gentle {
		name := map[choice]string{toWait: "wait", toTTL: "TTL", toLater: "later", toHold: "hold", toOne: "one holder"}[c]
		if c == toHold && p.closer.note != nil {
			name = "lift"
		}
		text := th.Key.Wrap(m.keyOf(c)) + " " + name
		switch {
		case p.focus == c:
			text = th.Glyph.Cursor + m.keyOf(c) + " " + th.Focus.Wrap(name)
		case m.off(c) != "":
			text = th.Muted.Wrap(m.keyOf(c) + " (" + name + ")")
		}
		parts = append(parts, text)
	}
	return []string{"  " + strings.Join(parts, "  ")}
}

func (m root) keyOf(c choice) string {
	id := map[choice]keymap.ID{toWait: keymap.ReviewWait, toTTL: keymap.ReviewTTL, toLater: keymap.ReviewLater,
		toHold: keymap.ReviewHold, toOne: keymap.ReviewOne}[c]
	b, _ := m.keys.Get(id)
	return keymap.Name(b.Keys[0])
}

// buttons are Cancel, which has the focus when the panel opens, and Release.
func (m root) buttons() string {
	p, th := &m.release, m.theme
	cancel, release := th.Button, th.Button
	switch p.focus {
	case toCancel:
		cancel = th.Focus
	case toRelease:
		release = th.FocusHot
	}
	buttons := "  " + cancel.Wrap(m.bracket("Cancel", p.focus == toCancel))
	if why := m.off(toRelease); why != "" {
		text := "Release is off: " + why + ". "
		if p.blocked != "" || p.lost != "" {
			retry, _ := m.keys.Get(keymap.Refresh)
			text = "Release is off. " + keymap.Name(retry.Keys[0]) + " reviews what is there now."
		}
		return buttons + "   " + th.Muted.Wrap(th.Glyph.Cut(text, m.width-16))
	}
	buttons += "  " + release.Wrap(m.bracket(nameOfChoice(p, toRelease), p.focus == toRelease))
	return buttons + th.Muted.Wrap("   "+m.wallHint())
}

// wallHint says before it is chosen what a release will ask for.
func (m root) wallHint() string {
	switch {
	case m.server.Guarded && !m.release.armed:
		return "not armed; choosing asks for the name"
	case m.wall() != "":
		return "asks for the holder and a reason"
	}
	return "Tab to the other, Enter to choose"
}

// formFoot are the lines of a form, and what is wrong with them.
func (m root) formFoot(f form, preview string) []string {
	th := m.theme
	lines := []string{m.formLead(f)}
	width := 0
	for _, l := range f.lines {
		width = max(width, theme.Width(l.ask))
	}
	width = min(width, m.width*6/10)
	for i, l := range f.lines {
		ask := theme.Pad(th.Glyph.Cut(l.ask, width), width)
		room := max(8, m.width-width-7)
		text := th.Glyph.Cut(l.text.String(), room)
		lead := "   "
		if i == f.at {
			lead, ask = " "+th.Glyph.Cursor+" ", th.Strong.Wrap(ask)
			text = l.text.view(th, room)
		}
		lines = append(lines, lead+ask+": "+text)
	}
	switch {
	case f.said != "":
		lines = append(lines, "   "+th.Warn.Wrap(th.Glyph.Cut(f.said, m.width-4)))
	case preview != "":
		lines = append(lines, "   "+th.Muted.Wrap(th.Glyph.Cut(preview, m.width-4)))
	default:
		lines = append(lines, "")
	}
	return lines
}

// formLead says why so much is asked, and what Enter in the last line does.
func (m root) formLead(f form) string {
	if f.has(proofLine) || f.has(armLine) {
		if why := m.wall(); why != "" && m.front() == atRelease {
			return "   " + m.theme.Warn.Wrap(m.theme.Glyph.Cut(why, m.width-4))
		}
	}
	if f.act == toLater {
		return "   " + m.theme.Muted.Wrap("Enter sets the reminder, Esc goes back")
	}
	return "   " + m.theme.Muted.Wrap("Enter in the last line does it, Esc goes back")
}

// bracket marks the focused choice without colour too.
func (m root) bracket(label string, focused bool) string {
	if focused {
		return m.theme.Glyph.Cursor + "[ " + label + " ]"
	}
	return " [ " + label + " ]"
}
