package tui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

// freeLab is a stage that is played by hand: an actor and an act are chosen,
// and everything is played anew from the start with that act behind it. So going
// back is leaving one out.
type freeLab struct {
	actor  int
	cursor int
	guard  bool
	lines  []scenario.Line
	now    time.Duration // of the last line
	there  scenario.Where
}

// freeActors and freeActs are what there is to choose from. A pause of 12 s
// outlives a lease of 10.
func freeActors() []string { return []string{"A", "B", "C"} }

func freeActs() []string {
	return []string{"acquire, read", "renew", "take 30", "release", "pause 12", "stall 12", "crash", "check", "over"}
}

// freeStep is the time between two acts.
const freeStep = 500 * time.Millisecond

// openFree opens an empty stage.
func (m root) openFree() (root, tea.Cmd) {
	if m.lab.kept[scenario.FreeName] != nil {
		return m.takeUp(scenario.FreeName), nil
	}
	return m.playFree(&freeLab{there: scenario.Sandbox})
}

// playFree plays what was done by hand from the start, under a fresh prefix
// where that is on a server.
func (m root) playFree(f *freeLab) (root, tea.Cmd) {
	if why := m.refusesLab(); why != "" && f.there == scenario.ChosenRedis {
		return m.say(warn, why), nil
	}
	if f.there != scenario.Sandbox {
		m = m.say(fine, m.words().Say("there-playing"))
	}
	if m.lab.stage != nil && m.lab.stage.free != nil { // what is done before the answer is there comes behind this
		m = m.change(func(s *labStage) { s.free = f })
	}
	story := scenario.FreeLab(f.guard)
	story.Worlds[0].Lines = f.lines
	return m.play(labPlay{story: story, where: f.there, worlds: story.Worlds, free: f})
}

// freePlayed shows what came of the last act.
func (m root) freePlayed(p labPlay, world labWorld) root {
	m.notice = notice{}
	all := *world.run.Run
	all.Actors = freeActors() // each has a lane of its own from the start
	world.run.Run = &all
	free := p.free
	if m.lab.stage != nil && m.lab.stage.free != nil && m.front() == atLab {
		free = m.lab.stage.free // another actor or act may have been chosen meanwhile
	}
	m.lab.stage = &labStage{story: p.story, where: p.where, worlds: []labWorld{world}, answers: map[int]int{}, free: free}
	m = m.stepTo(len(world.steps()))
	if m.front() == atLabList {
		m = m.open(atLab)
	}
	return m
}

// freeKey is an action on a stage that is played by hand.
func (m root) freeKey(id keymap.ID) (root, tea.Cmd) {
	f := *m.lab.stage.free
	switch id {
	case keymap.LabNextOne:
		f.actor = (f.actor + 1) % len(freeActors())
	case keymap.Up:
		f.cursor = max(0, f.cursor-1)
	case keymap.Down:
		f.cursor = min(len(freeActs())-1, f.cursor+1)
	case keymap.Confirm:
		return m.freeAct(f)
	case keymap.LabUndo:
		if len(f.lines) == 0 {
			return m, nil
		}
		f.lines = slices.Clone(f.lines[:len(f.lines)-1])
		f.now = 0
		if n := len(f.lines); n > 0 {
			f.now = f.lines[n-1].At[0]
		}
		return m.playFree(&f)
	case keymap.LabGuard:
		f.guard = !f.guard
		return m.playFree(&f)
	case keymap.LabSave:
		return m.saveFree()
	case keymap.LabWhere:
		return m.elsewhere()
	case keymap.LabLanguage:
		return m.nextLanguage(), nil
	case keymap.Back:
		return m.leave(), nil
	}
	return m.change(func(s *labStage) { s.free = &f }), nil
}

// freeAct adds an act behind the others. Letting a lease run out moves the time
// to where it ends.
func (m root) freeAct(f freeLab) (root, tea.Cmd) {
	if len(f.lines) >= 99 {
		return m.say(warn, m.words().Say("free-full")), nil
	}
	act := freeActs()[f.cursor]
	who := freeActors()[f.actor]
	at := f.now + freeStep
	if act == "over" && m.lab.playing {
		return m.say(warn, m.words().Say("there-playing")), nil // it is not known yet when that is
	}
	if act == "over" {
		who = "-"
		if l := m.lab.stage.front().view(m.lab.stage.number()).Lock; l.Held && !l.Forever {
			at = f.now + l.Left
		}
	}
	line, err := scenario.ParseLine("1 " + scenario.Seconds(at) + " " + who + " " + act)
	if err != nil {
		return m.say(bad, cleanError(err)), nil
	}
	line.N = len(f.lines) + 1
	line.Text = line.String()
	f.lines = append(slices.Clone(f.lines), line)
	f.now = at
	return m.playFree(&f)
}

// saveFree writes the story down as a file that --check reads.
func (m root) saveFree() (root, tea.Cmd) {
	s, save := m.lab.stage, m.opts.Lab.Save
	if save == nil || len(s.free.lines) == 0 {
		return m.say(warn, m.words().Say("free-empty")), nil
	}
	world := s.front()
	name := "by-hand-" + m.now.UTC().Format("20060102-150405")
	text := scenario.Format(s.story, &world.world, world.run.Run, name, "Played by hand.")
	story, err := scenario.Parse(name, text)
	if err != nil {
		return m.say(bad, cleanError(err)), nil
	}
	return m, func() tea.Msg {
		path, err := save(name+".toml", text)
		return labSaved{path, err, story}
	}
}

// freeLines are the actors and the acts to choose from.
func (m root) freeLines() []string {
	s, w, th := m.lab.stage, m.words(), m.theme
	f := s.free
	var who []string
	for i, a := range freeActors() {
		if i == f.actor {
			a = th.Cursor.Wrap("[" + a + "]")
		}
		who = append(who, a)
	}
	guard := w.Say("free-guard-off")
	if f.guard {
		guard = w.Say("free-guard-on")
	}
	lines := []string{" " + th.Strong.Wrap(w.Say("free-who")) + "  " + strings.Join(who, "  ") + "     " + guard}
	row := "  "
	for i, act := range freeActs() {
		text := " " + act + " "
		if i == f.cursor {
			text = th.Cursor.Wrap("[" + act + "]")
		}
		if theme.Width(row)+theme.Width(text)+2 > m.width {
			lines = append(lines, row)
			row = "  "
		}
		row += text + " "
	}
	return append(lines, row)
}
