package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fencepost/keymap"
	"fencepost/lockcore/scenario"
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
	if m.width < labMinWidth || m.height < labMinHeight {
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

// resourceLine is the protected resource: what it holds and by whom, what it
// took and refused, and the highest number that it has seen.
func (m root) resourceLine(world labWorld, number, width int) string {
	w, v := m.words(), world.view(number)
	value := v.Value
	if number == 0 {
		value = m.lab.stage.story.Stage.Value
	}
	holds := w.Say("holds", "value", oneLine(value))
	if v.By != "" {
		holds = w.Say("holds-by", "value", oneLine(value), "who", v.By)
	}
	highest := w.Say("highest-none")
	if v.Highest != "" {
		highest = w.Say("highest", "number", v.Highest)
	}
	first := " " + theme.Pad(m.storeName(), 10) + " " + theme.Pad(holds, 18) + " " + theme.Pad(w.Say("taken", "n", strconv.Itoa(v.Taken)), 9) +
		" " + theme.Pad(w.Say("refused", "n", strconv.Itoa(v.Refused)), 10)
	if theme.Width(first)+theme.Width(highest)+1 > width {
		return m.cut(first, width)
	}
	return first + " " + highest
}

// watched are the rules that this story is about: those that some world of it
// breaks, the two at the heart of it when it breaks none.
func (s *labStage) watched() []scenario.Rule {
	var out []scenario.Rule
	for _, w := range s.worlds {
		for _, v := range append(slices.Clone(w.world.Ends.Broken), w.run.Broken...) {
			if !slices.Contains(out, v.Rule) {
				out = append(out, v.Rule)
			}
		}
	}
	if len(out) == 0 {
		out = []scenario.Rule{scenario.MutualExclusion, scenario.StaleWrite}
	}
	if slices.Contains(out, scenario.StaleWrite) && !slices.Contains(out, scenario.ForeignRelease) && s.unlocks() {
		out = append(out, scenario.ForeignRelease) // the unlock was right, the write was not: both are to be seen
	}
	all := scenario.Rules()
	slices.SortFunc(out, func(a, b scenario.Rule) int { return slices.Index(all, a) - slices.Index(all, b) })
	return out
}

// unlocks reports whether somebody in this story unlocks.
func (s *labStage) unlocks() bool {
	return slices.ContainsFunc(s.front().run.Steps, func(st scenario.Step) bool {
		return slices.ContainsFunc(st.Dids, func(d scenario.Did) bool { return d.Does == scenario.Release })
	})
}

// ruleLines keep the rules in view from the first step on.
func (m root) ruleLines(all bool) []string {
	s, w := m.lab.stage, m.words()
	label := " " + theme.Pad(w.Say("rules"), 10) + " "
	line := label
	var lines []string
	for _, r := range s.watched() {
		part := w.Rule(r) + " " + m.ruleState(s.front(), s.number(), r)
		if line != label && theme.Width(line)+theme.Width(part)+4 > m.width {
			lines = append(lines, line)
			line = strings.Repeat(" ", theme.Width(label))
		} else if line != label {
			part = "   " + part
		}
		line += part
	}
	if slices.Contains(s.watched(), scenario.Herd) {
		line += "   " + w.Say("attempts-n", "n", strconv.Itoa(s.front().view(s.number()).Handed))
	}
	lines = append(lines, line)
	if !all && len(lines) > 2 {
		lines = lines[:2]
	}
	return lines
}

// ruleState says whether a rule is broken so far, and since when.
func (m root) ruleState(world labWorld, number int, r scenario.Rule) string {
	w := m.words()
	for _, v := range world.run.Broken {
		if v.Rule != r || v.Step > number {
			continue
		}
		n := strconv.Itoa(v.Step)
		switch {
		case r.Class() == scenario.Exposure:
			return m.theme.Warn.Wrap(w.Say("since", "n", n))
		case v.Aside:
			return w.Say("yes-step", "n", n)
		}
		return m.theme.Danger.Wrap(w.Say("yes-step", "n", n))
	}
	return m.theme.Muted.Wrap(w.Say("no"))
}

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
