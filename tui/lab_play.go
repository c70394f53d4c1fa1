package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/scenario"
)

// play asks for worlds to be played. What comes back is taken only if nothing
// newer was asked for.
func (m root) play(p labPlay) (root, tea.Cmd) {
	m.lab.asking++
	m.lab.why, m.lab.playing = "", true
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
	m.lab.playing = false
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
		m.notice = notice{}
		return m.change(func(s *labStage) {
			s.worlds = append(slices.Clone(s.worlds), worlds...)
			s.at = len(s.worlds) - 1
			s.view = oneWorld
		}), nil
	}
	m.notice = notice{}
	next := &labStage{story: p.story, where: p.where, worlds: worlds, other: min(1, len(worlds)-1), answers: map[int]int{}}
	if old := m.lab.stage; m.front() == atLab && old != nil && old.story == p.story { // the same story, played elsewhere
		next.answers, next.step, next.at = old.answers, old.step, min(old.at, len(worlds)-1)
		next.other = next.partner()
	}
	m.lab.stage = next
	if m.front() == atLabList {
		m = m.open(atLab)
	}
	return m, nil
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
		return labSaved{path: path, err: err}
	}
}

// labSaved is the answer to a file that was to be written.
type labSaved struct {
	path  string
	err   error
	story *scenario.Scenario // that can be played from now on; nil for a handout
}

func (r labSaved) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	if r.err != nil {
		return m.say(bad, fmt.Sprintf("it could not be written: %v", r.err)), nil
	}
	if r.story != nil {
		m.opts.Lab.Stories = append(slices.Clone(m.opts.Lab.Stories), r.story)
	}
	return m.say(fine, "written: "+r.path), nil
}
