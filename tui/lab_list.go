package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/scenario"
	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

// labList is the list of stories.
type labList struct{ cursor, top int }

// oneLine makes a story's text safe on one line: it may be one's own.
func oneLine(s string) string { return wire.Clean(s) }

func (m root) labListKey(id keymap.ID) (root, tea.Cmd) {
	stories := m.opts.Lab.Stories
	page := max(1, m.height-6)
	l := m.lab.list
	switch id {
	case keymap.Up:
		l.cursor--
	case keymap.Down:
		l.cursor++
	case keymap.PageUp, keymap.HalfUp:
		l.cursor -= page
	case keymap.PageDown, keymap.HalfDown:
		l.cursor += page
	case keymap.Top:
		l.cursor = 0
	case keymap.Bottom:
		l.cursor = len(stories)
	case keymap.Confirm:
		if len(stories) == 0 {
			return m, nil
		}
		return m.openStory(stories[l.cursor])
	case keymap.LabByHand:
		return m.openFree()
	case keymap.LabLanguage:
		return m.nextLanguage(), nil
	case keymap.Back:
		return m.back(), nil
	}
	l.cursor = max(0, min(l.cursor, len(stories)-1))
	l.top = max(0, min(l.top, l.cursor), l.cursor-page+1)
	m.lab.list = l
	return m, nil
}

// labListScreen lists the stories, and tells the one under the cursor.
func (m root) labListScreen() []string {
	w, th := m.words(), m.theme
	l := m.lab.list
	stories := m.opts.Lab.Stories
	lines := []string{
		" " + th.Title.Wrap(w.Say("lab")) + "  " + w.Say("lab-choose"),
		" " + th.Muted.Wrap(m.cut(w.Say("lab-runs"), m.width-1)),
	}
	page := max(1, m.height-6)
	for i := l.top; i < min(len(stories), l.top+page); i++ {
		lines = append(lines, m.labListRow(i, i == l.cursor))
	}
	for len(lines) < m.height-4 {
		lines = append(lines, "")
	}
	lines = append(lines, m.rule())
	told := []string{""}
	if len(stories) > 0 {
		told = theme.Wrap(oneLine(w.Text(stories[l.cursor]).Story), m.width-1)
	}
	second := m.labNotice()
	if second == "" && len(told) > 1 {
		second = " " + told[1]
	}
	keys, _ := m.labHints(keymap.LabList)
	return append(lines, " "+told[0], second, keys)
}

func (m root) labListRow(i int, here bool) string {
	s := m.opts.Lab.Stories[i]
	mark := "  "
	if here {
		mark = m.theme.Glyph.Cursor + " "
	}
	row := mark + theme.Pad(oneLine(s.Name), 24) + theme.Pad(labRunsAt(s), 4) + oneLine(m.words().Text(s).Title)
	row = theme.Pad(m.theme.Glyph.Cut(row, m.width-1), m.width-1)
	if here {
		return m.theme.Cursor.Wrap(row)
	}
	return row
}

// labRunsAt are the letters of the places where a story runs.
func labRunsAt(s *scenario.Scenario) string {
	var b strings.Builder
	for _, w := range s.Runs {
		b.WriteString(strings.ToUpper(string(w[:1])))
	}
	return b.String()
}

// labNotice is the last but one line: what became of something, or where this
// is played.
func (m root) labNotice() string {
	if m.notice.text != "" {
		return m.noticeLine()
	}
	if m.front() == atLabList || m.lab.stage == nil {
		return ""
	}
	return " " + m.theme.Muted.Wrap(m.whereWords())
}

// whereWords say where the story was played: a newcomer must not take the
// sandbox for a server, nor a recording for now.
func (m root) whereWords() string {
	w, s := m.words(), m.lab.stage
	run := s.front().run
	emulated := slices.ContainsFunc(run.Steps, func(st scenario.Step) bool { return st.N == s.number() && st.Emulated })
	switch {
	case run.Lease == 0 && emulated:
		return w.Say("where-"+string(s.where)) + " " + m.theme.Glyph.Dot + " " + w.Say("step-emulated")
	case run.Lease == 0:
		return w.Say("where-" + string(s.where))
	}
	text := w.Say("recorded-"+string(s.where)) + " " + m.theme.Glyph.Dot + " " +
		w.Say("recorded", "at", run.At.Format("15:04:05"), "lease", w.Seconds(run.Lease))
	if full := text + " " + m.theme.Glyph.Dot + " " + run.Prefix; theme.Width(full) < m.width-20 {
		return full
	}
	return text
}

// labHints are the keys of a place, in the lab's language, as many as fit. The
// way back goes first where there is no room, and is told to be missing: it must
// stand somewhere, everybody tries Esc.
func (m root) labHints(scope keymap.Scope) (line string, back bool) {
	w := m.words()
	var parts []string
	way, help := "", ""
	for _, b := range m.keys.Hints(scope) {
		part := m.theme.Key.Wrap(keymap.Name(b.Keys[0])) + " " + w.Hint(string(b.ID), b.Hint)
		switch b.ID {
		case keymap.Back:
			way = part
		case keymap.OpenHelp:
			help = part
		default:
			parts = append(parts, part)
		}
	}
	for _, tail := range [][]string{{way, help}, {help}} {
		if line := " " + strings.Join(slices.Concat(parts, tail), "  "); theme.Width(line) <= m.width {
			return line, len(tail) == 2
		}
	}
	for len(parts) > 1 && theme.Width(strings.Join(parts, "  "))+theme.Width(help)+3 > m.width {
		parts = parts[:len(parts)-1]
	}
	return " " + strings.Join(append(parts, help), "  "), false
}

// inLab reports whether the screen in front, or the one below the help, is one
// of the lab's.
func (m root) inLab() bool {
	p := m.front()
	if p == atHelp && len(m.stack) > 1 {
		p = m.stack[len(m.stack)-2]
		return p == atLabList || p == atLab || p == atLabTalk
	}
	return p == atLabList || p == atLab || p == atLabTalk
}

// labLines is the whole screen, where one of the lab's is in front.
func (m root) labLines() ([]string, bool) {
	var lines []string
	switch m.front() {
	case atLabList:
		lines = m.labListScreen()
	case atLab:
		lines = m.labScreen()
	case atLabTalk:
		lines = m.talkScreen()
	default:
		return nil, false
	}
	lines = padded(lines, m.height)
	return lines[:m.height], true
}

// labKeys hands an action to the lab's screen in front.
func (m root) labKeys(id keymap.ID) (root, tea.Cmd) {
	switch m.front() {
	case atLabList:
		return m.labListKey(id)
	case atLabTalk:
		return m.labTalkKey(id)
	case atHelp:
		return m.helpKey(id)
	}
	switch s := m.lab.stage; {
	case s.seeking:
		return m.labSeekKey(id)
	case m.labUnseen() && id != keymap.Back:
		return m, nil // what it would do cannot be seen
	case s.menu.open:
		return m.menuKey(id)
	case s.free != nil:
		return m.freeKey(id)
	}
	return m.labKey(id)
}
