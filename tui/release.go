package tui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
)

// release is the panel that reviews a release. It keeps its own copy of what it
// asks about, reads the lock again every second, and offers the release only
// while what it shows is what is there.
type release struct {
	row   *row // what the console had seen when the panel opened
	stage stage
	seen  inspect.Lock // as first read: the plan is made from it
	live  inspect.Lock // as last read
	plan  inspect.Plan
	// blocked says why the release is not offered, "" while it is. lost is the
	// same for a server that does not answer, and passes.
	blocked, lost string
	news          string    // what changed between the list and the panel
	drawn         time.Time // since when the question stands on the screen
	hot           bool      // the focus is on Release, not on Cancel
	armed         bool      // once armed, it stays so while the panel is open
	typed         field     // the environment's name, to arm
	outcome       inspect.Outcome
	top           int

	looking  bool
	nextLook time.Time
	question int // answers to looks for an earlier panel are dropped
}

// stage is how far a release has come.
type stage int

const (
	reading stage = iota // the lock is being read; no key but cancel counts
	asking
	sending
	done
)

// quiet is how long a question must have stood on the screen before a key can
// answer it: what was typed before it was drawn is dropped.
const quiet = 300 * time.Millisecond

// openRelease opens the panel for a lock. Nothing happens yet.
func (m root) openRelease(r *row) (root, tea.Cmd) {
	armed := !m.server.Guarded || m.armed.After(m.now)
	m.release = release{row: r, question: m.release.question + 1, armed: armed}
	m.notice = notice{}
	return m.open(atRelease).look()
}

// lookMsg is what a look at the panel's lock found.
type lookMsg struct {
	question int
	lock     *inspect.Lock // nil: it is not there
	err      error
	at       time.Time
}

// look reads the panel's lock.
func (m root) look() (root, tea.Cmd) {
	m.release.looking = true
	ctx, cancel := m.bounded()
	in, q, id := m.opts.Inspector, m.release.question, m.release.row.id
	db, key := m.release.row.lock.DB, string(m.release.row.lock.Key)
	return m, func() tea.Msg {
		defer cancel()
		out := lookMsg{question: q}
		locks, err := in.Look(ctx, db, key)
		out.err, out.at = err, time.Now()
		if i := slices.IndexFunc(locks, func(l inspect.Lock) bool { return rowID(&l) == id }); i >= 0 {
			out.lock = &locks[i]
		}
		return out
	}
}

func (l lookMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	p := &m.release
	if l.question != p.question || p.stage > asking {
		return m, nil
	}
	m.now = later(m.now, l.at)
	p.looking, p.nextLook = false, l.at.Add(refreshEvery)
	first := p.stage == reading
	if first {
		p.stage, p.drawn = asking, l.at
	}
	p.lost = ""
	switch {
	case l.err != nil:
		p.lost = "it cannot be read now: " + cleanError(l.err)
		if first {
			p.stage = reading // there is nothing to ask about yet
		}
	case l.lock == nil:
		p.block("It is gone: nobody holds it any more.")
	case first:
		return m.review(*l.lock), nil
	default:
		p.compare(*l.lock)
	}
	return m, nil
}

// review makes the plan from what was just read.
func (m root) review(l inspect.Lock) root {
	p := &m.release
	p.seen, p.live = l, l
	if !sameHolders(p.row.lock, &l) {
		p.news = "It changed hands since the list showed it: " + p.row.lock.HolderWords() + " had it there."
	}
	plan, err := m.opts.Inspector.PlanRelease(l)
	switch {
	case m.server.ReadOnly != "":
		p.block("Nothing may be changed here: " + m.server.ReadOnly)
	case err != nil:
		p.block(cleanError(err))
	}
	p.plan = plan
	return m
}

// compare looks whether the lock is still what the panel asks about.
func (p *release) compare(l inspect.Lock) {
	p.live = l
	switch {
	case p.blocked != "":
	case !sameHolders(&p.seen, &l):
		p.block("It has changed hands since this panel opened: " + l.HolderWords() + " has it now.")
	case p.plan.Weak && l.Deadline.Sub(p.seen.Deadline) > time.Second:
		p.block("Its deadline has moved: renewed, or taken again by another of the same name. The holder's id does not tell.")
	}
}

func (p *release) block(why string) {
	p.blocked, p.hot = why, false
}

// tickRelease reads the lock again while the panel is open.
func (m root) tickRelease() (root, tea.Cmd) {
	p := m.release
	if !slices.Contains(m.stack, atRelease) || p.stage > asking || p.looking || m.now.Before(p.nextLook) {
		return m, nil
	}
	return m.look()
}

// typing reports whether the environment's name has to be typed first.
func (p release) typing() bool { return p.stage == asking && !p.armed && p.blocked == "" }

// releaseKey does what a key means in the panel.
func (m root) releaseKey(id keymap.ID) (root, tea.Cmd) {
	p := &m.release
	switch {
	case p.stage == sending:
		return m, nil // it cannot be called back
	case id == keymap.Close || id == keymap.Abandon:
		return m.leaveRelease(), nil
	case p.stage == done:
		if id == keymap.Confirm {
			return m.leaveRelease(), nil
		}
		return m.panelKey(id)
	case p.stage == reading || m.now.Sub(p.drawn) < quiet:
		return m, nil
	}
	switch id {
	case keymap.Next, keymap.Prev:
		p.hot = !p.hot && p.offered()
	case keymap.Apply:
		return m.arm(), nil
	case keymap.Confirm:
		if !p.hot {
			return m.leaveRelease(), nil
		}
		return m.send()
	case keymap.Refresh:
		return m.again()
	default:
		return m.panelKey(id)
	}
	return m, nil
}

// offered reports whether Release can be chosen.
func (p release) offered() bool {
	return p.stage == asking && p.blocked == "" && p.lost == "" && p.armed
}

// panelKey scrolls and copies.
func (m root) panelKey(id keymap.ID) (root, tea.Cmd) {
	p := &m.release
	switch {
	case id == keymap.Copy:
		return m, m.copyKey(p.row)
	case id == keymap.CopyCommands && len(p.plan.Steps) > 0:
		return m, m.copyText("the commands", strings.Join(p.plan.Lines(), "\n"))
	}
	p.top = scrolled(p.top, id, len(m.releaseText()), m.releaseRoom())
	return m, nil
}

// again reviews what is there now.
func (m root) again() (root, tea.Cmd) {
	r := m.release.row
	if now := m.feed.row(r.id); now != nil {
		r = now
	}
	return m.back().openRelease(r)
}

// leaveRelease closes the panel and says on the list what came of it.
func (m root) leaveRelease() root {
	p := m.release
	switch p.stage {
	case done:
		m = m.say(outcomeTone(p.outcome.Word), string(p.outcome.Word)+" "+p.outcome.Detail(&p.plan))
	case asking:
		m = m.say(fine, "nothing was changed")
	}
	m.release.question++ // late answers are dropped
	return m.back()
}

func outcomeTone(w inspect.Word) tone {
	switch w {
	case inspect.Released:
		return fine
	case inspect.Gone, inspect.Changed:
		return warn
	}
	return bad
}

// armedFor is how long an armed target stays so without use.
const armedFor = 10 * time.Minute

// arm compares what was typed with the environment's name.
func (m root) arm() root {
	if m.release.typed.String() != m.server.ArmingName() {
		m.release.typed = field{}
		return m.say(warn, "that is not the name; nothing was changed")
	}
	m.armed, m.release.armed, m.notice = m.now.Add(armedFor), true, notice{}
	return m
}

// releaseTyped takes the line after a key.
func (m root) releaseTyped(f field) (root, tea.Cmd) {
	if m.now.Sub(m.release.drawn) >= quiet {
		m.release.typed = f
	}
	return m, nil
}

// sentMsg is what came of a release.
type sentMsg struct {
	question int
	outcome  inspect.Outcome
	at       time.Time
}

// send carries out the plan that was shown.
func (m root) send() (root, tea.Cmd) {
	if !m.release.offered() {
		return m, nil
	}
	m.release.stage = sending
	if m.server.Guarded {
		m.armed = m.now.Add(armedFor)
	}
	ctx, cancel := m.bounded()
	in, plan, q := m.opts.Inspector, m.release.plan, m.release.question
	return m, func() tea.Msg {
		defer cancel()
		return sentMsg{q, in.Run(ctx, plan), time.Now()}
	}
}

func (s sentMsg) apply(m root) (root, tea.Cmd) {
	if s.question != m.release.question {
		return m, nil
	}
	m.now = later(m.now, s.at)
	m.release.stage, m.release.outcome, m.release.top = done, s.outcome, 0
	return m, m.acted(m.release.plan.Lock, s.outcome)
}

// copyCommands copies what a release of a row would send.
func (m root) copyCommands(r *row) (root, tea.Cmd) {
	plan, err := m.opts.Inspector.PlanRelease(*r.lock)
	if err != nil {
		return m.say(warn, cleanError(err)), nil
	}
	return m, m.copyText("the commands", strings.Join(plan.Lines(), "\n"))
}
