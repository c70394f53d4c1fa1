package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

// labTalkKey is an action on the screen for a room.
func (m root) labTalkKey(id keymap.ID) (root, tea.Cmd) {
	switch id {
	case keymap.LabBlank:
		return m.change(func(s *labStage) { s.blank = !s.blank }), nil
	case keymap.LabNotes:
		return m.change(func(s *labStage) { s.notes = !s.notes }), nil
	case keymap.Back:
		return m.stop().back(), nil
	case keymap.LabStep, keymap.LabBack:
		m = m.change(func(s *labStage) { s.blank = false })
	}
	return m.labKey(id)
}

// talkScreen can be read from the back of a room: a sentence, one arrow, two
// boxes, one question. No commands, no table of rules.
func (m root) talkScreen() []string {
	s := m.lab.stage
	if s.blank {
		return padded(nil, m.height)
	}
	steps := len(s.front().steps())
	lines := []string{m.sides(fmt.Sprintf(" %d / %d", min(s.step, steps), steps), oneLine(s.story.Name)+" "), "", ""}
	if on, _ := s.asksSix(); on {
		lines = append(lines, indented(m.sixLines(m.width-6), "   ", "   ")...)
	} else {
		lines = append(lines, indented(theme.Wrap(m.talkSentence(), m.width-8), "    ", "    ")...)
	}
	lines = append(lines, "")
	if !s.ended() {
		lines = append(lines, m.boxes()...)
		lines = append(lines, "", m.talkResource())
	}
	if s.notes {
		lines = append(lines, "", m.sentTitle(s.front()))
		lines = append(lines, m.commandLines(s.front(), m.width, 6)...)
	} else if q := m.talkQuestion(); len(q) > 0 {
		lines = append(lines, "", "")
		lines = append(lines, q...)
	}
	lines = padded(lines, m.height-1)
	keys, _ := m.labHints(keymap.LabTalk)
	return append(lines[:m.height-1], keys)
}

// talkSentence tells the step that is shown last.
func (m root) talkSentence() string {
	s, w := m.lab.stage, m.words()
	run := s.front().run.Run
	switch {
	case s.ended():
		text := w.Text(s.story)
		return oneLine(w.Reach(s.story, run) + ". " + text.Lesson + " " + text.Code)
	case s.step == 0:
		return oneLine(w.Text(s.story).Story)
	}
	var told []string
	for _, st := range run.Steps {
		if st.N == s.number() && (!st.Auto || len(st.Broken) > 0) {
			told = append(told, w.Tell(s.story, run, st))
		}
	}
	if len(told) > 3 {
		told = append(told[:3], m.theme.Glyph.Ellipsis)
	}
	return oneLine(strings.Join(told, " "))
}

// boxWidth is the inner width of the boxes of a talk.
const boxWidth = 15

// boxes are the two actors of the step and Redis between them.
func (m root) boxes() []string {
	s := m.lab.stage
	run := s.front().run.Run
	v := s.front().view(s.number())
	left, right := m.talkActors(run)
	gap := max(3, (m.width-3*(boxWidth+2))/4)
	a, b := m.actorBox(v, left), m.actorBox(v, right)
	redis := m.redisBox(v)
	leftArrow, rightArrow := m.talkArrows(run, left, right, gap)
	names := compose(m.width, placed{gap/2 + (boxWidth+2-len(left))/2, left},
		placed{gap/2 + boxWidth + 2 + gap + (boxWidth-3)/2, "Redis"},
		placed{gap/2 + 2*(boxWidth+2+gap) + (boxWidth+2-len(right))/2, right})
	lines := []string{names}
	for i := range a {
		g1, g2 := strings.Repeat(" ", gap), strings.Repeat(" ", gap)
		if i == 2 {
			g1, g2 = leftArrow, rightArrow
		}
		lines = append(lines, strings.Repeat(" ", gap/2)+a[i]+g1+redis[i]+g2+b[i])
	}
	return lines
}

// talkActors are the first actor, and the other one that acted last.
func (m root) talkActors(run *scenario.Run) (left, right string) {
	left, others := sides(run)
	if len(others) > 0 {
		right = others[0]
	}
	for _, st := range run.Steps {
		if st.N <= m.lab.stage.number() && slices.Contains(others, st.Actor) {
			right = st.Actor
		}
	}
	return left, right
}

// sentTo is the name of a step's actor if all that it sent went to the
// resource, and "-" if it sent nothing.
func sentTo(st scenario.Step, node string) string {
	who := "-"
	for _, d := range st.Dids {
		for _, sent := range d.Sent {
			if sent.Node != node {
				return ""
			}
			who = st.Actor
		}
	}
	return who
}

// talkArrows point from who acts in this step to Redis.
func (m root) talkArrows(run *scenario.Run, left, right string, gap int) (string, string) {
	none := strings.Repeat(" ", gap)
	acts := func(name string) bool {
		return slices.ContainsFunc(run.Steps, func(st scenario.Step) bool {
			return st.N == m.lab.stage.number() && st.Actor == name && sentTo(st, scenario.NodeStore) == ""
		})
	}
	one, two := none, none
	if acts(left) {
		one = " " + strings.Repeat("-", gap-3) + "> "
	}
	if right != left && acts(right) {
		two = " <" + strings.Repeat("-", gap-3) + " "
	}
	return one, two
}

func box(lines ...string) []string {
	edge := "+" + strings.Repeat("-", boxWidth) + "+"
	out := []string{edge}
	for _, l := range lines {
		l = theme.Pad(" "+l, boxWidth)
		out = append(out, "|"+l+"|")
	}
	return append(out, edge)
}

func (m root) actorBox(v scenario.View, name string) []string {
	w := m.words()
	i := slices.IndexFunc(v.Actors, func(a scenario.ActorView) bool { return a.Name == name })
	if i < 0 {
		return box("", "", "")
	}
	a := v.Actors[i]
	state := w.Say("outside")
	switch {
	case a.Crashed:
		state = w.Say("crashed")
	case a.Paused:
		state = w.Say("paused")
	case a.Stalled:
		state = w.Say("stalled")
	case a.Inside:
		state = w.Say("inside")
	}
	thinks := m.cut(w.Thinks(a.Thinks), boxWidth-2)
	return box(m.theme.Strong.Wrap(strings.ToUpper(m.cut(state, boxWidth-2))), w.Say("thinks")+":", "  "+thinks)
}

func (m root) redisBox(v scenario.View) []string {
	w := m.words()
	switch {
	case !v.Lock.Known:
		return box("?", "", "")
	case !v.Lock.Held:
		return box(w.Say("free"), "", "")
	}
	number := ""
	if v.Lock.Number != "" {
		number = w.Say("number", "number", v.Lock.Number)
	}
	return box(m.theme.Strong.Wrap(m.cut(w.Say("holder", "who", v.Lock.Holder), boxWidth-2)), number, m.leftWords(v.Lock))
}

// talkResource is the resource, and who is inside together.
func (m root) talkResource() string {
	s, w := m.lab.stage, m.words()
	v := s.front().view(s.number())
	value := v.Value
	if s.step == 0 {
		value = s.story.Stage.Value
	}
	var inside []string
	for _, a := range v.Actors {
		if a.Inside {
			inside = append(inside, a.Name)
		}
	}
	text := "    " + m.storeName() + ":  " + m.theme.Strong.Wrap(oneLine(value))
	for _, st := range s.front().run.Steps {
		if who := sentTo(st, scenario.NodeStore); st.N == s.number() && who != "" && who != "-" {
			text += " <---- " + who
		}
	}
	if len(inside) > 1 {
		text = theme.Pad(text, m.width/2) + m.theme.Warn.Wrap(w.Rule(scenario.MutualExclusion)+": "+strings.Join(inside, ", "))
	}
	return text
}

// talkQuestion is the one question, large.
func (m root) talkQuestion() []string {
	s, w := m.lab.stage, m.words()
	text := w.Text(s.story)
	q, ok := s.question()
	if !ok {
		if lines := m.questionLines(m.width - 4); len(lines) > 0 {
			return indented(lines, "   ", "   ")
		}
		return nil
	}
	lines := indented(theme.Wrap(oneLine(text.Asks[q].Question), m.width-12), "    ?  ", "       ")
	const lead, gap = "       ", "       "
	row := lead
	lines = append(lines, "")
	for i, a := range text.Asks[q].Answers {
		part := strconv.Itoa(i+1) + "  " + oneLine(a)
		if s.answers[q] == i+1 {
			part = m.theme.Focus.Wrap("[" + strconv.Itoa(i+1) + "] " + oneLine(a))
		}
		switch {
		case row == lead:
		case theme.Width(row)+len(gap)+theme.Width(part) > m.width-1:
			lines = append(lines, row)
			row = lead
		default:
			row += gap
		}
		row += part
	}
	return append(lines, row)
}
