package tui

import "maps"

// leave goes back to the list, and keeps the stage as it is: the step, the
// answers, the forks.
func (m root) leave() root {
	m = m.stop()
	kept := maps.Clone(m.lab.kept)
	if kept == nil {
		kept = make(map[string]*labStage)
	}
	kept[m.lab.stage.story.Name] = m.lab.stage
	m.lab.kept = kept
	return m.back()
}

// takeUp goes on where a story was left.
func (m root) takeUp(name string) root {
	m.lab.stage = m.lab.kept[name]
	m.lab.asking++ // whatever is still being played belongs to another stage
	m = m.open(atLab)
	if m.lab.stage.step > 0 && m.lab.stage.free == nil {
		return m.say(fine, m.words().Say("taken-up"))
	}
	return m
}

// score counts the right first answers, over all stories that were on.
func (m root) score() (right, of int) {
	count := func(s *labStage) {
		r, n := s.score()
		right, of = right+r, of+n
	}
	count(m.lab.stage)
	for name, s := range m.lab.kept {
		if name != m.lab.stage.story.Name {
			count(s)
		}
	}
	return right, of
}
