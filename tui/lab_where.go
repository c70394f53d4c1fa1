package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/scenario"
)

// elsewhere asks where the story is to be played: nothing is written to a server
// that was not chosen here, in words. The first choice changes nothing.
func (m root) elsewhere() (root, tea.Cmd) {
	w := m.words()
	choices := []labChoice{{w.Say("there-stay"), func(m root) (root, tea.Cmd) { return m, nil }}}
	for _, there := range []scenario.Where{scenario.Sandbox, scenario.OwnServers, scenario.ChosenRedis} {
		if c, ok := m.placeChoice(there); ok {
			choices = append(choices, c)
		}
	}
	return m.change(func(s *labStage) { s.menu = labMenu{open: true, title: w.Say("there-title"), choices: choices} }), nil
}

// placeChoice is a place in the menu. One that does not take the story says why.
func (m root) placeChoice(there scenario.Where) (labChoice, bool) {
	s, w := m.lab.stage, m.words()
	text := w.Say("there-"+string(there), "name", m.server.Name)
	why := ""
	switch {
	case there == s.where && there != scenario.ChosenRedis:
		return labChoice{}, false
	case there == scenario.ChosenRedis && m.server.Sandbox:
		return labChoice{}, false
	case !s.story.RunsAt(there) && there == scenario.ChosenRedis:
		why = w.Say("there-never")
	case !s.story.RunsAt(there):
		return labChoice{}, false
	case there == scenario.ChosenRedis:
		why = m.refusesLab()
	}
	if why != "" {
		return labChoice{w.Say("there-not", "name", m.server.Name, "why", why), func(m root) (root, tea.Cmd) { return m.say(warn, why), nil }}, true
	}
	return labChoice{text, func(m root) (root, tea.Cmd) { return m.playThere(there) }}, true
}

// playThere plays all worlds of the story in another place, from the start.
func (m root) playThere(there scenario.Where) (root, tea.Cmd) {
	s := m.lab.stage
	if s.free != nil {
		f := *s.free
		f.there = there
		return m.playFree(&f)
	}
	if there != scenario.Sandbox {
		m = m.say(fine, m.words().Say("there-playing"))
	}
	return m.play(labPlay{story: s.story, where: there, worlds: s.story.Worlds})
}

// refusesLab is why the lab may not write to the server that the console is
// connected to; "" when it may.
func (m root) refusesLab() string {
	switch {
	case m.server.ReadOnly != "":
		return m.words().Say("there-readonly", "why", m.server.ReadOnly)
	case m.server.Guarded && !m.armed.After(m.now):
		return m.words().Say("there-guarded")
	}
	return ""
}
