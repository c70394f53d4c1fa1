package tui

import (
	"slices"
	"strconv"
	"strings"

	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

// wideCompare is from which width on two worlds stand side by side in lanes.
const wideCompare = 112

// compareScreen is two worlds of the same schedule at the same step, and where
// they part.
func (m root) compareScreen() []string {
	s := m.lab.stage
	lines := append([]string{m.labHead()}, m.storyLines()...)
	var bottom []string
	if m.height >= 34 {
		bottom = m.compareBottom()
	} else {
		bottom = m.compareVerdicts()
	}
	bottom = append(bottom, m.labFoot()...)
	body := m.compareTable
	if m.width >= wideCompare {
		body = m.compareLanes
	}
	part := scenario.PartAt(s.front().run.Run, s.worlds[s.other].run.Run)
	head, rows := body(part)
	lines = append(lines, head...)
	lines = append(lines, m.windowed(rows, m.height-len(lines)-len(bottom))...)
	return append(lines, bottom...)
}

// half is the width of one of two worlds beside each other.
func (m root) half() int { return (m.width - 3) / 2 }

// beside puts two texts beside each other.
func (m root) beside(left, right, between string) string {
	w := m.half()
	return theme.Pad(m.cut(left, w), w) + " " + between + " " + m.cut(right, w)
}

func (m root) worldTitle(i int) string {
	return " " + strings.ToUpper(m.words().Say("world-n", "n", strconv.Itoa(i+1))) + "   " +
		m.theme.Strong.Wrap(strings.ToUpper(m.worldLabel(m.lab.stage.worlds[i])))
}

// compareLanes are two sets of lanes, the first line that differs marked.
func (m root) compareLanes(part int) (head, rows []string) {
	s := m.lab.stage
	l := lanesFor(m.half())
	left, right := s.worlds[s.at], s.worlds[s.other]
	head = []string{m.beside(m.worldTitle(s.at), m.worldTitle(s.other), "|"),
		m.beside(m.laneHead(l, left.run.Run), m.laneHead(l, right.run.Run), "|")}
	number := s.number()
	a, b := m.rowsByStep(l, left, number), m.rowsByStep(l, right, number)
	for n := 1; n <= 99; n++ {
		for i := range max(len(a[n]), len(b[n])) {
			mark := "|"
			if n == part && i == 0 && n <= number {
				mark = m.theme.Danger.Wrap("X")
			}
			rows = append(rows, m.beside(at(a[n], i), at(b[n], i), mark))
		}
	}
	return head, rows
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// rowsByStep are a world's rows by the number of their step.
func (m root) rowsByStep(l lanes, world labWorld, number int) map[int][]string {
	out := make(map[int][]string)
	rows := m.laneRows(l, world, number, 0)
	i, horizon := 0, world.horizon(number)
	for _, st := range world.run.Steps {
		if st.N > horizon || st.N > number && st.Auto {
			continue
		}
		out[st.N] = append(out[st.N], rows[i])
		i++
	}
	return out
}

// compareTable is for a narrow screen: who does what, and what it came to in
// either world.
func (m root) compareTable(part int) (head, rows []string) {
	s := m.lab.stage
	col := (m.width - 28) / 2
	row := func(mark, does, left, right string) string {
		return compose(m.width, placed{0, mark}, placed{5, m.cut(does, 20)}, placed{27, m.cut(left, col-1)}, placed{27 + col, m.cut(right, col-1)})
	}
	head = []string{m.thinRule(), row("", "", strings.ToUpper(m.worldLabel(s.worlds[s.at])), strings.ToUpper(m.worldLabel(s.worlds[s.other])))}
	number := s.number()
	horizon := s.front().horizon(number)
	for _, n := range union(s.worlds[s.at].steps(), s.worlds[s.other].steps()) {
		if n > horizon {
			break
		}
		leftDoes, leftSays := m.cameTo(s.worlds[s.at], n, number)
		rightDoes, rightSays := m.cameTo(s.worlds[s.other], n, number)
		if leftDoes == "" {
			leftDoes = rightDoes
		}
		mark := "  "
		switch {
		case n == part && n <= number:
			mark = "X "
		case n == number:
			mark = "> "
		}
		rows = append(rows, row(mark+pad2(n), leftDoes, leftSays, rightSays))
	}
	return head, rows
}

func pad2(n int) string { return theme.PadLeft(strconv.Itoa(n), 2) }

func union(a, b []int) []int {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// cameTo is who does what in a step, and what it came to; "?" while it is hidden.
func (m root) cameTo(world labWorld, n, number int) (does, says string) {
	for _, st := range world.run.Steps {
		if st.N != n || st.Auto {
			continue
		}
		row := laneRow{step: st, hidden: n > number}
		d, redis, store := m.laneTexts(lanes{short: true}, world.run.Run, row)
		who := st.Actor
		if who == "-" || who == "N" {
			who = ""
		}
		does = strings.TrimSpace(who + " " + d)
		if says = redis; says == "" {
			says = store
		}
		if st.Skipped != "" && n <= number {
			says = m.words().Say("skipped")
		}
		return does, m.lanePaint(row).Wrap(says)
	}
	return "", m.theme.Muted.Wrap(m.words().Say("not-here"))
}

// compareVerdicts are both verdicts, as far as they are known.
func (m root) compareVerdicts() []string {
	s, w := m.lab.stage, m.words()
	lines := []string{m.thinRule()}
	part := scenario.PartAt(s.front().run.Run, s.worlds[s.other].run.Run)
	if part > 0 && s.number() >= part {
		lines = append(lines, " "+m.theme.Strong.Wrap(w.Say("part-at", "n", strconv.Itoa(part))))
	} else {
		lines = append(lines, "")
	}
	on, _ := s.asksSix()
	asked := m.questionLines(m.width)
	switch {
	case on:
		return append(lines[:len(lines)-1], m.sixLines(m.width)...)
	case len(asked) > 0:
		return append(lines, padded(asked, 2)...)
	}
	for _, i := range []int{s.at, s.other} {
		text := w.Say("not-yet")
		if s.ended() {
			text = w.Reach(s.story, s.worlds[i].run.Run)
		}
		parts := labelled(w.Say("world-n", "n", strconv.Itoa(i+1)), m.theme.Strong, oneLine(text), m.width)
		lines = append(lines, parts...)
	}
	return lines
}

// compareBottom is for a tall screen: time, resource, commands and rules of both.
func (m root) compareBottom() []string {
	s, w := m.lab.stage, m.words()
	left, right := s.worlds[s.at], s.worlds[s.other]
	number := s.number()
	lines := []string{m.thinRule()}
	lines = append(lines, m.barLines(left, number, m.width, 2)...)
	lines = append(lines, m.thinRule(), m.beside(m.resourceLine(left, number, m.half()), m.resourceLine(right, number, m.half()), "|"), m.thinRule(),
		m.theme.Muted.Wrap(" "+w.Say("sent", "n", strconv.Itoa(number))))
	a, b := m.commandLines(left, m.half(), 4), m.commandLines(right, m.half(), 4)
	for i := range max(len(a), len(b)) {
		lines = append(lines, m.beside(at(a, i), at(b, i), "|"))
	}
	lines = append(lines, m.thinRule(), compose(m.width, placed{1, w.Say("rules")},
		placed{27, w.Say("world-n", "n", strconv.Itoa(s.at+1))}, placed{61, w.Say("world-n", "n", strconv.Itoa(s.other+1))}))
	for _, r := range s.watched() {
		lines = append(lines, compose(m.width, placed{2, w.Rule(r)}, placed{27, m.ruleState(left, number, r)}, placed{61, m.ruleState(right, number, r)}))
	}
	if !s.ended() {
		return append(lines, m.compareVerdicts()...)
	}
	lines = append(lines, m.compareVerdicts()...)
	text := w.Text(s.story)
	if on, _ := s.asksSix(); on {
		return lines
	}
	for _, l := range [][2]string{{"lesson", text.Lesson}, {"code", text.Code}, {"watch", text.Watch}} {
		if l[1] != "" {
			lines = append(lines, labelled(m.theme.Strong.Wrap(w.Say(l[0])), theme.Paint{}, oneLine(l[1]), m.width)...)
		}
	}
	return lines
}
