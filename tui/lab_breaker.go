package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/scenario"
)

// breakers are the stories that break the world in front, where that is safe in
// this schedule only; none before its end is known.
func (s *labStage) breakers() []string {
	run := s.front().run
	if !s.ended() || run.Reach() != scenario.Here {
		return nil
	}
	return s.front().world.BrokenBy
}

// openBreakers offers to play what breaks a safe here.
func (m root) openBreakers() root {
	w := m.words()
	var choices []labChoice
	for _, name := range m.lab.stage.breakers() {
		i := slices.IndexFunc(m.opts.Lab.Stories, func(s *scenario.Scenario) bool { return s.Name == name })
		if i < 0 {
			continue // a file of one's own may name what is not there
		}
		text := oneLine(name + ": " + w.Text(m.opts.Lab.Stories[i]).Title)
		choices = append(choices, labChoice{text, func(m root) (root, tea.Cmd) { return m.breakWith(i) }})
	}
	if len(choices) == 0 {
		return m.say(warn, w.Say("breaker-none"))
	}
	return m.change(func(s *labStage) { s.menu = labMenu{open: true, title: w.Say("breaker-title"), choices: choices} })
}

// breakWith plays a story from its beginning. One that breaks itself does so in
// another of its worlds.
func (m root) breakWith(story int) (root, tea.Cmd) {
	breaker := m.opts.Lab.Stories[story]
	if s := m.lab.stage; s.story.Name == breaker.Name {
		at := s.unsafe()
		return m.change(func(s *labStage) { s.at, s.step, s.view, s.other = at, 0, oneWorld, s.at }), nil
	}
	m = m.leave()
	m.lab.list.cursor = story
	return m.openStory(breaker)
}

// unsafe is the next world of the story that ends unsafe, or the one in front.
func (s *labStage) unsafe() int {
	for i := range s.worlds {
		if at := (s.at + 1 + i) % len(s.worlds); s.worlds[at].world.Ends.Verdict == scenario.Unsafe {
			return at
		}
	}
	return s.at
}
