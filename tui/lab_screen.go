package tui

import (
	"fmt"
	"strconv"
	"strings"

	"fencepost/keymap"
	"fencepost/tui/theme"
)

// The smallest screen of a story.
const (
	labMinWidth  = 60
	labMinHeight = 22
)

// labScreen is the stage of a story: what happened above, whose lease it is
// below that, then the resource and the rules, and the question.
func (m root) labScreen() []string {
	s := m.lab.stage
	if m.labUnseen() {
		return theme.Wrap(fmt.Sprintf(" A story needs a terminal of %dx%d; this one is %dx%d. q goes back.",
			labMinWidth, labMinHeight, m.width, m.height), m.width)
	}
	if s.view == twoWorlds && len(s.worlds) > 1 {
		return m.compareScreen()
	}
	lines := append([]string{m.labHead()}, m.storyLines()...)
	bottom := m.labBottom()
	l := lanesFor(m.width)
	lines = append(lines, m.laneHead(l, s.front().run.Run))
	rows := m.laneRows(l, s.front(), s.number(), 0)
	lines = append(lines, m.windowed(rows, m.height-len(lines)-len(bottom))...)
	return append(lines, bottom...)
}

// labUnseen reports whether the terminal is too small to show the stage.
func (m root) labUnseen() bool {
	return m.front() == atLab && (m.width < labMinWidth || m.height < labMinHeight)
}

// windowed shows the rows around the step that is shown last.
func (m root) windowed(rows []string, room int) []string {
	here := 0
	for i, r := range rows {
		if strings.HasPrefix(theme.Strip(r), ">") || strings.HasPrefix(theme.Strip(r), "X") {
			here = i
		}
	}
	out := window(rows, here-room+3, room)
	for len(out) < room {
		out = append(out, "")
	}
	return out
}

// labHead says which story and which world this is, and how far it has got.
func (m root) labHead() string {
	s, w, th := m.lab.stage, m.words(), m.theme
	left := " " + th.Title.Wrap(w.Say("lab")) + " " + oneLine(s.story.Name)
	label := ": " + th.Strong.Wrap(strings.ToUpper(m.worldLabel(s.front())))
	n, of := strconv.Itoa(s.at+1), strconv.Itoa(len(s.worlds))
	world := w.Say("world", "n", n, "of", of) + label
	steps := len(s.front().steps())
	right := w.Say("step", "n", strconv.Itoa(min(s.step, steps)), "of", strconv.Itoa(steps)) + "  " +
		w.Say("time", "t", fmt.Sprintf("%.1f", s.front().view(s.number()).Now.Seconds())) + " "
	if !s.next.IsZero() {
		right = w.Say("playing") + "  " + right
	}
	line := theme.Pad(left, 31) + " " + world
	fits := func() bool { return theme.Width(line)+theme.Width(right)+1 <= m.width }
	if !fits() {
		line = left + "  " + n + "/" + of + label
	}
	if !fits() {
		right = strconv.Itoa(min(s.step, steps)) + "/" + strconv.Itoa(steps) + " "
	}
	return m.sides(line, right)
}

// worldLabel is a world's name on the screen.
func (m root) worldLabel(w labWorld) string {
	text := m.words().Text(m.lab.stage.story)
	if label := text.World[w.world.Name]; label != "" {
		return oneLine(label)
	}
	return oneLine(w.world.Name)
}

// storyLines tell the story, on a second line where the screen is narrow.
func (m root) storyLines() []string {
	text := m.words().Text(m.lab.stage.story).Story
	if m.lab.stage.free != nil {
		text = m.words().Say("free-story")
	}
	lines := theme.Wrap(oneLine(text), m.width-1)
	return indented(lines[:min(2, len(lines))], " ", " ")
}

// labBottom is everything below the lanes.
func (m root) labBottom() []string {
	s := m.lab.stage
	tall := m.height >= 34
	var lines []string
	if s.view == commandsOf || tall && !s.ended() {
		most := max(4, m.height-30)
		if s.view == commandsOf && !tall {
			most = 7
		}
		lines = append(lines, m.thinRule(), m.sentTitle(s.front()))
		lines = append(lines, m.commandLines(s.front(), m.width, most)...)
	}
	if s.view != commandsOf && !s.ended() || tall {
		most := 2
		if tall || len(s.front().run.Actors) > 2 {
			most = 3
		}
		lines = append(lines, m.thinRule())
		lines = append(lines, m.barLines(s.front(), s.number(), m.width, most)...)
		lines = append(lines, m.thinRule())
	} else {
		lines = append(lines, m.thinRule())
	}
	lines = append(lines, m.resourceLine(s.front(), s.number(), m.width))
	lines = append(lines, m.ruleLines(tall)...)
	lines = append(lines, m.thinRule())
	switch {
	case s.menu.open:
		lines = append(lines, m.menuLines()...)
	case s.free != nil:
		lines = append(lines, m.freeLines()...)
	case s.ended():
		lines = append(lines, m.endLines(m.width)...)
	default:
		lines = append(lines, padded(m.questionLines(m.width), 2)...)
	}
	return append(lines, m.labFoot()...)
}

// endLines are what is told at the end, or the six questions behind it.
func (m root) endLines(width int) []string {
	if on, _ := m.lab.stage.asksSix(); on {
		return m.sixLines(width)
	}
	return m.closing(width)
}

// padded keeps a part of the screen from jumping: it has at least so many lines.
func padded(lines []string, least int) []string {
	for len(lines) < least {
		lines = append(lines, "")
	}
	return lines
}

// labFoot is where it is played, or what became of something, and the keys.
func (m root) labFoot() []string {
	s := m.lab.stage
	notice := m.labNotice()
	if s.seeking {
		notice = " " + m.words().Say("seek-to") + " " + s.seek.view(m.theme, 12)
	}
	line, back := m.labHints(m.scope())
	return []string{m.sides(notice, m.labMore(back)), line}
}

// labMore are the keys that the last line has no room for, or that matter only
// now: those that answer, and what comes behind the end.
func (m root) labMore(back bool) string {
	s, w := m.lab.stage, m.words()
	key := func(id keymap.ID) string {
		b, _ := m.keys.Get(id)
		return m.theme.Key.Wrap(keymap.Name(b.Keys[0]))
	}
	var parts []string
	q, asks := s.question()
	switch on, _ := s.asksSix(); {
	case s.menu.open || s.seeking || s.free != nil:
	case asks && s.answers[q] == 0:
		n := len(w.Text(s.story).Asks[q].Answers)
		parts = append(parts, w.Say("keys-answer", "keys", key(keymap.LabAnswer1)+"-"+strconv.Itoa(n)))
	case s.ended() && !on:
		if len(s.breakers()) > 0 {
			parts = append(parts, w.Say("keys-breaker", "key", key(keymap.LabBreaker)))
		}
		parts = append(parts, w.Say("keys-six", "key", key(keymap.LabStep)))
	}
	if !back && !s.seeking {
		parts = append(parts, key(keymap.Back)+" "+w.Hint(string(keymap.Back), "back"))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "  ") + " "
}

func (m root) thinRule() string { return m.theme.Rule.Wrap(strings.Repeat("-", m.width)) }

// labScope is where the keys of the lab's screens are looked up.
func (m root) labScope() (keymap.Scope, bool) {
	switch m.front() {
	case atLabList:
		return keymap.LabList, true
	case atLabTalk:
		return keymap.LabTalk, true
	case atLab:
		switch s := m.lab.stage; {
		case s.menu.open:
			return keymap.LabMenu, true
		case s.free != nil:
			return keymap.LabFree, true
		}
		return keymap.Lab, true
	}
	return "", false
}
