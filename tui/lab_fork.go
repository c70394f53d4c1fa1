package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/scenario"
)

// labMenu is a menu over a stage: what to do to whom, or whether to write to a
// server.
type labMenu struct {
	open    bool
	cursor  int
	title   string
	choices []labChoice
}

type labChoice struct {
	text string
	do   func(m root) (root, tea.Cmd)
}

// openForks offers what can be done here that the story does not.
func (m root) openForks() root {
	s, w := m.lab.stage, m.words()
	number := s.number()
	v := s.front().view(number)
	var choices []labChoice
	add := func(t scenario.Twist, actor string) {
		choices = append(choices, labChoice{w.Say("twist-"+string(t), "who", actor), func(m root) (root, tea.Cmd) { return m.fork(t, actor) }})
	}
	for _, a := range v.Actors {
		if a.Crashed || len(choices) > 9 {
			continue
		}
		for _, t := range []scenario.Twist{scenario.PauseIt, scenario.CrashIt, scenario.CutReply} {
			if t != scenario.PauseIt || !a.Paused { // who is stopped cannot be stopped once more
				add(t, a.Name)
			}
		}
	}
	add(scenario.RunOut, "")
	if s.where != scenario.ChosenRedis { // nobody else's server is ever killed
		add(scenario.KillIt, "")
	}
	return m.change(func(s *labStage) {
		s.menu = labMenu{open: true, title: w.Say("fork-title"), choices: choices}
	})
}

// fork plays the world anew up to this step, and then with the twist.
func (m root) fork(t scenario.Twist, actor string) (root, tea.Cmd) {
	s := m.lab.stage
	world := s.front().world
	forked, err := s.story.Fork(&world, s.number(), t, actor)
	if err != nil {
		return m.say(warn, cleanError(err)), nil
	}
	forked.Name = m.words().Say("forked-"+string(t), "who", actor)
	switch s.where {
	case scenario.ChosenRedis:
		if why := m.refusesLab(); why != "" {
			return m.say(warn, why), nil
		}
		m = m.say(fine, m.words().Say("fork-playing"))
	case scenario.OwnServers:
		m = m.say(fine, m.words().Say("there-playing"))
	}
	return m.play(labPlay{story: s.story, where: s.where, worlds: []scenario.World{forked}, forked: true})
}

// menuKey is an action on the menu.
func (m root) menuKey(id keymap.ID) (root, tea.Cmd) {
	menu := m.lab.stage.menu
	switch id {
	case keymap.Up:
		menu.cursor = max(0, menu.cursor-1)
	case keymap.Down:
		menu.cursor = min(len(menu.choices)-1, menu.cursor+1)
	case keymap.Back:
		menu = labMenu{}
	case keymap.Confirm:
		chosen := menu.choices[menu.cursor]
		return chosen.do(m.change(func(s *labStage) { s.menu = labMenu{} }))
	}
	return m.change(func(s *labStage) { s.menu = menu }), nil
}

// menuRoom is how many choices show at once.
const menuRoom = 5

func (m root) menuLines() []string {
	menu := m.lab.stage.menu
	count := strconv.Itoa(menu.cursor+1) + "/" + strconv.Itoa(len(menu.choices)) + " "
	lines := []string{m.sides(" "+m.theme.Strong.Wrap(menu.title), m.theme.Muted.Wrap(count))}
	top := max(0, min(menu.cursor-menuRoom+1, len(menu.choices)-menuRoom))
	for i, c := range menu.choices[top:min(len(menu.choices), top+menuRoom)] {
		c.text = m.cut(oneLine(c.text), m.width-5)
		line := "   " + c.text
		if top+i == menu.cursor {
			line = m.theme.Cursor.Wrap(" " + m.theme.Glyph.Cursor + " " + c.text + " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// labSeekKey takes a key while the number of a step is typed.
func (m root) labSeekKey(id keymap.ID) (root, tea.Cmd) {
	s := m.lab.stage
	if id == keymap.Abandon || id == keymap.Abort {
		return m.change(func(s *labStage) { s.seeking = false }), nil
	}
	if id != keymap.Apply {
		return m, nil
	}
	want, steps := s.seek.String(), s.front().steps()
	m = m.change(func(s *labStage) { s.seeking = false })
	i := slices.IndexFunc(steps, func(n int) bool { return strconv.Itoa(n) == strings.TrimSpace(want) })
	if i < 0 {
		return m.say(warn, m.words().Say("no-step")), nil
	}
	return m.stepTo(i + 1), nil
}
