package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"fencepost/keymap"
	"fencepost/tui/theme"
)

// The smallest screen that anything can be read on.
const (
	minWidth  = 60
	minHeight = 12
)

// The lines around the body: two above, two below.
const (
	headLines = 2
	footLines = 2
)

func (m root) bodyHeight() int { return m.height - headLines - footLines }

// draw puts the screen together: exactly height lines, none wider than width,
// because Bubble Tea cuts what is too long from the top.
func (m root) draw() string {
	if m.unseen() {
		return m.tooSmall()
	}
	if lines, ok := m.labLines(); ok {
		return m.fit(lines)
	}
	lines := m.head()
	switch m.front() {
	case atDetail:
		lines = append(lines, m.detailBody()...)
	case atRelease:
		lines = append(lines, m.releaseBody()...)
	case atBulk:
		lines = append(lines, m.bulkBody()...)
	case atHelp:
		lines = append(lines, m.helpBody()...)
	case atSort:
		lines = append(lines, m.sortBody()...)
	case atEvents:
		lines = append(lines, m.eventsBody()...)
	default:
		lines = append(lines, m.listBody()...)
	}
	bottom := m.height - footLines
	for len(lines) < bottom {
		lines = append(lines, "")
	}
	return m.fit(append(lines[:bottom], m.foot()...))
}

// fit cuts lines to the screen's width, and joins them.
func (m root) fit(lines []string) string {
	for i, line := range lines {
		lines[i] = m.theme.Glyph.Cut(line, m.width)
	}
	return strings.Join(lines, "\n")
}

// unseen reports whether the terminal is too small to show anything.
func (m root) unseen() bool { return m.width < minWidth || m.height < minHeight }

func (m root) tooSmall() string {
	text := fmt.Sprintf("fencepost needs a terminal of %dx%d; this one is %dx%d", minWidth, minHeight, m.width, m.height)
	lines := theme.Wrap(text, m.width)
	return strings.Join(lines[:min(len(lines), m.height)], "\n")
}

// head is what stands above every screen: what this is, and how true it is.
func (m root) head() []string {
	left := " " + m.theme.Title.Wrap("fencepost") + "  " + m.badge() + m.targetWords()
	return []string{m.sides(left, m.linkWords()+" "), m.secondLine()}
}

// sides puts one text left and one right; where both do not fit the left one is
// cut.
func (m root) sides(left, right string) string {
	room := m.width - theme.Width(right)
	left = m.theme.Glyph.Cut(left, room-1)
	return theme.Pad(left, room) + right
}

// badge names the environment, and that nothing may be changed, in words and not
// by colour alone. It stands first, so that a narrow screen does not cut it.
func (m root) badge() string {
	th := m.theme
	text := ""
	switch {
	case m.server.Sandbox:
		text = th.BadgeSandbox.Wrap(" SANDBOX ") + "  "
	case m.server.Guarded:
		name := cmp.Or(m.server.Env, "guarded")
		text = th.BadgeProd.Wrap(" "+strings.ToUpper(name)+", "+m.armedWords()+" ") + "  "
	case m.server.Env != "":
		text = th.BadgeEnv.Wrap(" "+m.server.Env+" ") + "  "
	}
	if m.server.ReadOnly != "" {
		text += th.Warn.Wrap("READ-ONLY") + "  "
	}
	return text
}

// targetWords name the server.
func (m root) targetWords() string {
	s := m.server
	if s.Sandbox {
		return "a Redis inside this program"
	}
	parts := []string{s.Name}
	if s.Role != "" {
		role := s.Role
		if role != "master" {
			role = m.theme.Warn.Wrap(strings.ToUpper(role))
		}
		parts = append(parts, role)
	}
	if s.Mode != "" && s.Mode != "single" {
		parts = append(parts, s.Mode)
	}
	if s.Version != "" {
		parts = append(parts, s.Version)
	}
	return strings.Join(parts, " "+m.theme.Glyph.Dot+" ")
}

// armedWords say whether releases are possible, and for how long.
func (m root) armedWords() string {
	if left := m.armed.Sub(m.now); left > 0 {
		return fmt.Sprintf("ARMED %02d:%02d", int(left.Minutes()), int(left.Seconds())%60)
	}
	return "not armed"
}

// foot is the notice and the keys.
func (m root) foot() []string { return []string{m.noticeLine(), m.hintLine()} }

func (m root) noticeLine() string {
	if f, ok := m.input(); ok && m.front() == atList {
		return " filter: " + f.view(m.theme, m.width-12)
	}
	n := m.notice
	switch n.tone {
	case bad:
		return " " + m.theme.Danger.Wrap(n.text)
	case warn:
		return " " + m.theme.Warn.Wrap(n.text)
	}
	if n.text == "" {
		return cmp.Or(m.welcome(), m.lastEvent())
	}
	return " " + n.text
}

// welcomeFor is how long a newcomer is told what to do first.
const welcomeFor = 2 * time.Minute

// welcome says what to do first, to those who started without a server.
func (m root) welcome() string {
	if !m.server.Sandbox || m.front() != atList || m.now.Sub(m.started) > welcomeFor {
		return ""
	}
	first, _ := m.keys.Get(keymap.OpenRelease)
	return m.theme.Muted.Wrap(" These locks are here to try things on; nothing is real. Press " + first.Names() + " to release one.")
}

// hintLine shows the keys of this place, as many as fit; help comes last and is
// always there.
func (m root) hintLine() string {
	hints := m.keys.Hints(m.scope())
	var parts []string
	for _, b := range hints {
		if text := m.hintOf(b); text != "" {
			parts = append(parts, m.theme.Key.Wrap(keymap.Name(b.Keys[0]))+" "+text)
		}
	}
	line := " " + strings.Join(parts, "  ")
	for keep := 2; len(parts) > keep && theme.Width(line) > m.width; { // the last two are quit or back, and help
		parts = append(parts[:len(parts)-keep-1], parts[len(parts)-keep:]...)
		line = " " + strings.Join(parts, "  ")
	}
	return line
}

// hintOf is what a key does here, in a word or two; "" where it does nothing. A
// panel's keys are those of its question, and not of what comes before and after.
func (m root) hintOf(b keymap.Binding) string {
	p := &m.release
	switch {
	case m.scope() != keymap.Release:
	case b.ID == keymap.Next && (p.stage != asking || m.off(toRelease) != ""):
		return ""
	case b.ID == keymap.Close && (p.stage == picking || p.stage == done):
		return "back"
	}
	return b.Hint
}

func (m root) rule() string {
	return m.theme.Rule.Wrap(strings.Repeat(m.theme.Glyph.Rule, m.width))
}
