package tui

import (
	"slices"
	"strconv"
	"strings"

	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

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
