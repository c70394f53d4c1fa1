package tui

import (
	"context"
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
	speaks  int // index of the language
	list    labList
	stage   *labStage            // the story that is on; a new one at each change
	kept    map[string]*labStage // stages that were left, by the story's name
	playing bool                 // the newest question to the player has no answer yet
	asking  int64                // the question to the player that is being waited for
	why     string               // why the last one failed
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

// openLab goes to the list of stories.
func (m root) openLab() (root, tea.Cmd) {
	if m.opts.Lab.Play == nil {
		return m.say(warn, "there is no lab here"), nil
	}
	return m.open(atLabList), nil
}

// openStory plays a story in the sandbox and goes to its stage; one that was on
// before is where it was left.
func (m root) openStory(s *scenario.Scenario) (root, tea.Cmd) {
	if m.lab.kept[s.Name] != nil {
		return m.takeUp(s.Name), nil
	}
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
		if q, ok := s.question(); s.step > len(s.front().steps()) || ok && s.answers[q] == 0 {
			s.next = time.Time{}
		}
	})
}

// stepTo shows so many steps.
func (m root) stepTo(step int) root {
	return m.change(func(s *labStage) {
		s.step = max(0, min(step, s.last()))
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
	s := m.lab.stage
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
	case keymap.LabBreaker:
		return m.openBreakers(), nil
	case keymap.Back:
		if s.view != oneWorld {
			return m.toggle(s.view), nil
		}
		return m.leave(), nil
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
		s.other = s.partner()
		s.step = min(s.step, len(s.front().steps())+1)
	})
}

// partner is the world that stands beside the one in front: another of the same
// timetable if there is one, the one before it rather than one behind.
func (s *labStage) partner() int {
	n := len(s.worlds)
	best := (s.at + n - 1) % n
	for i := range n - 1 {
		other := (s.at + n - 1 - i) % n
		if s.worlds[other].world.Schedule == s.front().world.Schedule {
			return other
		}
	}
	return best
}

func (m root) nextLanguage() root {
	m.lab.speaks = (m.lab.speaks + 1) % len(m.opts.Lab.Words)
	return m
}
