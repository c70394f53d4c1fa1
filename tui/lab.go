package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/scenario"
)

// LabOptions is what the lab needs from whoever starts the console. Without
// Play there is no lab.
type LabOptions struct {
	Stories []*scenario.Scenario
	Words   []*scenario.Words // the languages; the first is in use
	// Play plays one world, there.
	Play func(ctx context.Context, there scenario.Where, s *scenario.Scenario, w *scenario.World, ends *scenario.Ending) (LabRun, error)
	// Handout is a story in Markdown.
	Handout func(w *scenario.Words, s *scenario.Scenario, runs []*scenario.Run) string
	// Save writes a file of the lab's and returns where it lies.
	Save func(name, text string) (path string, err error)
}

// LabRun is a world as it was played, and where in reality.
type LabRun struct {
	*scenario.Run
	Prefix string        // of its keys, on a server; "" in the sandbox
	Lease  time.Duration // the real one; 0 in virtual time
	At     time.Time     // when it was recorded
}

// lab is the state of the lab's screens.
type lab struct {
	speaks int // index of the language
	list   labList
	stage  *labStage // the story that is on; a new one at each change
	asking int64     // the question to the player that is being waited for
	why    string    // why the last one failed
}

// words are the lab's, in the language that is in use.
func (m root) words() *scenario.Words { return m.opts.Lab.Words[m.lab.speaks] }

// labStage is a story that is being looked at. It is never changed: an action
// makes a new one.
type labStage struct {
	story  *scenario.Scenario
	where  scenario.Where
	worlds []labWorld // those of the file, then forks
	at     int        // which world is in front
	other  int        // the one beside it
	step   int        // how many steps have been shown; one more than there are: the end
	view   labView
	// answers are those that were given first, by question.
	answers map[int]int
	next    time.Time // when playing goes on; zero: it stands
	seeking bool
	seek    field
	menu    labMenu
	free    *freeLab // the stage is played by hand
	notes   bool     // the speaker's
	blank   bool
}

// labWorld is a world and its run.
type labWorld struct {
	world scenario.World
	run   LabRun
}

// labView is how a stage is looked at.
type labView int

const (
	oneWorld labView = iota
	twoWorlds
	commandsOf
)

// change returns the root with a changed stage.
func (m root) change(f func(s *labStage)) root {
	next := *m.lab.stage
	f(&next)
	m.lab.stage = &next
	return m
}

// front is the world that is looked at.
func (s *labStage) front() labWorld { return s.worlds[s.at] }

// steps are the numbers of a run's steps, in order.
func (w labWorld) steps() []int {
	var out []int
	for _, st := range w.run.Steps {
		if !slices.Contains(out, st.N) {
			out = append(out, st.N)
		}
	}
	slices.Sort(out)
	return out
}

// number is the number of the step that is shown last; 0 before the first.
func (s *labStage) number() int {
	steps := s.front().steps()
	if s.step == 0 {
		return 0
	}
	return steps[min(s.step, len(steps))-1]
}

// ended reports whether all steps have been shown, and the end is.
func (s *labStage) ended() bool { return s.step > len(s.front().steps()) }

// view is the stage after the step that is shown last.
func (w labWorld) view(number int) scenario.View {
	var v scenario.View
	found := false
	for _, st := range w.run.Steps {
		if st.N <= number {
			v, found = st.View, true
		}
	}
	if !found && len(w.run.Steps) > 0 { // before anything happened
		first := w.run.Steps[0].View
		for _, a := range first.Actors {
			v.Actors = append(v.Actors, scenario.ActorView{Name: a.Name, Thinks: scenario.ThinksNothing})
		}
		v.Lock = scenario.LockState{Known: true}
	}
	return v
}

// play asks for worlds to be played. What comes back is taken only if nothing
// newer was asked for.
func (m root) play(p labPlay) (root, tea.Cmd) {
	m.lab.asking++
	m.lab.why = ""
	p.asked = m.lab.asking
	ctx, play := m.ctx, m.opts.Lab.Play
	return m, func() tea.Msg { return p.run(ctx, play) }
}

// labTimeout bounds all worlds of one story on a server with real leases.
const labTimeout = 3 * time.Minute

// labPlay is a question to the player, and its answer.
type labPlay struct {
	asked  int64
	story  *scenario.Scenario
	where  scenario.Where
	worlds []scenario.World
	forked bool // one world more, for a stage that is there
	free   *freeLab
	runs   []LabRun
	err    error
}

func (p labPlay) run(ctx context.Context, play func(context.Context, scenario.Where, *scenario.Scenario, *scenario.World, *scenario.Ending) (LabRun, error)) tea.Msg {
	ctx, cancel := context.WithTimeout(ctx, labTimeout)
	defer cancel()
	for i := range p.worlds {
		w := &p.worlds[i]
		var ends *scenario.Ending
		if !p.forked && p.free == nil {
			e := w.Ends
			ends = &e
		}
		run, err := play(ctx, p.where, p.story, w, ends)
		if err != nil {
			p.err = err
			return p
		}
		p.runs = append(p.runs, run)
	}
	return p
}

func (p labPlay) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	if p.asked != m.lab.asking {
		return m, nil // another story was opened meanwhile
	}
	if p.err != nil {
		m.lab.why = cleanError(p.err)
		return m.say(bad, m.lab.why), nil
	}
	worlds := make([]labWorld, len(p.runs))
	for i := range p.runs {
		worlds[i] = labWorld{p.worlds[i], p.runs[i]}
	}
	switch {
	case p.free != nil:
		return m.freePlayed(p, worlds[0]), nil
	case p.forked:
		return m.change(func(s *labStage) {
			s.worlds = append(slices.Clone(s.worlds), worlds...)
			s.at = len(s.worlds) - 1
			s.view = oneWorld
		}), nil
	}
	m.notice = notice{}
	m.lab.stage = &labStage{story: p.story, where: p.where, worlds: worlds, other: min(1, len(worlds)-1), answers: map[int]int{}}
	if m.front() == atLabList {
		m = m.open(atLab)
	}
	return m, nil
}

// openLab goes to the list of stories.
func (m root) openLab() (root, tea.Cmd) {
	if m.opts.Lab.Play == nil {
		return m.say(warn, "there is no lab here"), nil
	}
	return m.open(atLabList), nil
}

// openStory plays a story in the sandbox and goes to its stage.
func (m root) openStory(s *scenario.Scenario) (root, tea.Cmd) {
	if !s.RunsAt(scenario.Sandbox) {
		return m.say(warn, "this story does not run in the sandbox; fencepost simulate plays it"), nil
	}
	return m.play(labPlay{story: s, where: scenario.Sandbox, worlds: s.Worlds})
}

// labPlayEvery is the pace of play: slow enough to read a line.
const labPlayEvery = 2 * time.Second

// tickLab goes on where a story plays by itself. It stops at a question that
// nobody has answered, and at the end.
func (m root) tickLab() root {
	s := m.lab.stage
	if s == nil || s.next.IsZero() || m.now.Before(s.next) || (m.front() != atLab && m.front() != atLabTalk) {
		return m
	}
	m = m.stepTo(s.step + 1)
	now := m.now
	return m.change(func(s *labStage) {
		s.next = now.Add(labPlayEvery)
		if q, ok := s.question(); s.ended() || ok && s.answers[q] == 0 {
			s.next = time.Time{}
		}
	})
}

// stepTo shows so many steps.
func (m root) stepTo(step int) root {
	return m.change(func(s *labStage) {
		s.step = max(0, min(step, len(s.front().steps())+1))
	})
}

// labKey is an action on the stage of a story.
func (m root) labKey(id keymap.ID) (root, tea.Cmd) {
	s := m.lab.stage
	switch id {
	case keymap.LabStep:
		return m.stop().stepTo(s.step + 1), nil
	case keymap.LabBack:
		return m.stop().stepTo(s.step - 1), nil
	case keymap.LabFirst:
		return m.stop().stepTo(0), nil
	case keymap.LabLast:
		return m.stop().stepTo(len(s.front().steps()) + 1), nil
	case keymap.LabPlay:
		now := m.now
		return m.change(func(s *labStage) {
			if s.next.IsZero() {
				s.next = now
				return
			}
			s.next = time.Time{}
		}), nil
	case keymap.LabAnswer1, keymap.LabAnswer2, keymap.LabAnswer3, keymap.LabAnswer4:
		return m.answer(slices.Index([]keymap.ID{keymap.LabAnswer1, keymap.LabAnswer2, keymap.LabAnswer3, keymap.LabAnswer4}, id) + 1), nil
	case keymap.LabLanguage:
		return m.nextLanguage(), nil
	}
	return m.labPanelKey(id)
}

// labPanelKey is an action that opens something, and so stops the clock.
func (m root) labPanelKey(id keymap.ID) (root, tea.Cmd) {
	m = m.stop()
	switch id {
	case keymap.LabSeek:
		return m.change(func(s *labStage) { s.seeking, s.seek = true, field{} }), nil
	case keymap.LabWorld:
		return m.nextWorld(), nil
	case keymap.LabCompare:
		return m.toggle(twoWorlds), nil
	case keymap.LabCommands:
		return m.toggle(commandsOf), nil
	case keymap.LabFork:
		return m.openForks(), nil
	case keymap.LabPresent:
		return m.change(func(s *labStage) { s.notes, s.blank = false, false }).open(atLabTalk), nil
	case keymap.LabWhere:
		return m.elsewhere()
	case keymap.LabHandout:
		return m.handout()
	case keymap.Back:
		return m.back(), nil
	}
	return m, nil
}

// stop lets the story stand.
func (m root) stop() root { return m.change(func(s *labStage) { s.next = time.Time{} }) }

func (m root) toggle(v labView) root {
	return m.change(func(s *labStage) {
		if s.view == v {
			v = oneWorld
		}
		s.view = v
	})
}

// nextWorld shows the next world at the same step.
func (m root) nextWorld() root {
	return m.change(func(s *labStage) {
		if s.view == twoWorlds && len(s.worlds) > 2 {
			if s.other = (s.other + 1) % len(s.worlds); s.other == s.at {
				s.other = (s.other + 1) % len(s.worlds)
			}
			return
		}
		s.at = (s.at + 1) % len(s.worlds)
		if s.other == s.at {
			s.other = (s.at + len(s.worlds) - 1) % len(s.worlds)
		}
		s.step = min(s.step, len(s.front().steps())+1)
	})
}

func (m root) nextLanguage() root {
	m.lab.speaks = (m.lab.speaks + 1) % len(m.opts.Lab.Words)
	return m
}

// handout writes the story down.
func (m root) handout() (root, tea.Cmd) {
	s, o, words := m.lab.stage, m.opts.Lab, m.words()
	if o.Save == nil || o.Handout == nil {
		return m.say(warn, "nothing can be saved here"), nil
	}
	runs := make([]*scenario.Run, len(s.worlds))
	for i, w := range s.worlds {
		runs[i] = w.run.Run
	}
	return m, func() tea.Msg {
		path, err := o.Save(s.story.Name+".md", o.Handout(words, s.story, runs))
		return labSaved{path, err}
	}
}

// labSaved is the answer to a file that was to be written.
type labSaved struct {
	path string
	err  error
}

func (r labSaved) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	if r.err != nil {
		return m.say(bad, fmt.Sprintf("it could not be written: %v", r.err)), nil
	}
	return m.say(fine, "written: "+r.path), nil
}

// elsewhere plays the story on the server that the console is connected to, or
// in the sandbox again.
func (m root) elsewhere() (root, tea.Cmd) {
	s := m.lab.stage
	switch {
	case s.where == scenario.ChosenRedis:
		return m.play(labPlay{story: s.story, where: scenario.Sandbox, worlds: s.story.Worlds})
	case m.server.Sandbox:
		return m.say(warn, "the console is in its sandbox; start it with a server to play there"), nil
	case !s.story.RunsAt(scenario.ChosenRedis):
		return m.say(warn, "this story stops, fills or turns back a server: never on a chosen Redis"), nil
	case m.server.ReadOnly != "":
		return m.say(warn, "the lab writes: "+m.server.ReadOnly), nil
	case m.server.Guarded && !m.armed.After(m.now):
		return m.say(warn, "this server is guarded and not armed; the lab plays in the sandbox"), nil
	}
	return m.openWhere(), nil
}
