package tui

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
)

// release is the panel that reviews what can be done about a lock. It keeps its
// own copy of what it asks about, reads the lock again every second, and offers
// a change only while what it shows is what is there.
type release struct {
	row   *row // what the console had seen when the panel opened
	stage stage
	seen  inspect.Lock // as first read: every plan is made from it
	live  inspect.Lock // as last read
	plan  inspect.Plan // of the release of all holders
	off   map[choice]string
	// blocked says why nothing may be done about what is there now, "" while
	// something may. lost is the same for a server that does not answer, and passes.
	blocked, lost string
	news          string    // what changed between the list and the panel
	also          []string  // other masters that have the same lock, as rows of their own
	drawn         time.Time // since when the question stands on the screen
	focus         choice
	armed         bool // once armed, it stays so while the panel is open
	form          form
	pick          int // the holder that is chosen, where one of several is released
	unfolded      bool
	top           int

	closer closer

	// What was carried out, and what came of it.
	sent     inspect.Plan
	outcome  inspect.Outcome
	warnings []string
	after    string // who took it next

	looking  bool
	nextLook time.Time
	question int // answers to looks for an earlier panel are dropped
}

// stage is how far a panel has come.
type stage int

const (
	reading stage = iota // the lock is being read; no key but cancel counts
	asking               // which choice
	picking              // which of several holders
	filling              // what the choice needs to know
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
	there    bool          // its key is, though no lock was seen in it
	err      error
	at       time.Time
}

// look reads the panel's lock.
func (m root) look() (root, tea.Cmd) {
	m.release.looking = true
	ctx, cancel := m.bounded()
	in, q, known := m.opts.Inspector, m.release.question, *m.release.row.lock
	return m, func() tea.Msg {
		defer cancel()
		out := lookMsg{question: q}
		out.lock, out.there, out.err = readAgain(ctx, in, known)
		out.at = time.Now()
		return out
	}
}

// readAgain reads a known lock; nil where it is not there any more. there says
// that something stands at its key all the same.
func readAgain(ctx context.Context, in *inspect.Inspector, known inspect.Lock) (l *inspect.Lock, there bool, err error) {
	locks, err := in.Refresh(ctx, []inspect.Lock{known})
	if err != nil {
		return nil, false, err
	}
	id := rowID(&known)
	if i := slices.IndexFunc(locks, func(l inspect.Lock) bool { return rowID(&l) == id }); i >= 0 {
		return &locks[i], true, nil
	}
	there, err = in.Exists(ctx, known.DB, string(known.Key))
	return nil, there && !known.HasField, err
}

func (l lookMsg) apply(m root) (root, tea.Cmd) {
	p := &m.release
	if l.question != p.question || p.stage > filling {
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
	case l.lock == nil && l.there:
		m.block("What stands at its key now is not read as a lock.")
	case l.lock == nil:
		m.block("It is gone: nobody holds it any more.")
	case first:
		m = m.review(*l.lock)
		return m.lookCloser()
	default:
		m = m.compare(*l.lock)
	}
	return m, nil
}

// tickRelease reads the lock again while the panel is open.
func (m root) tickRelease() (root, tea.Cmd) {
	p := m.release
	if !slices.Contains(m.stack, atRelease) || p.stage > filling {
		return m, nil
	}
	if m.armed.Sub(m.now) < time.Minute && p.armed && m.server.Guarded {
		m.armed = m.now.Add(time.Minute) // what is armed does not lapse inside an open panel
	}
	if p.looking || m.now.Before(p.nextLook) {
		return m, nil
	}
	return m.look()
}

// releaseKey does what a key means in the panel, outside of a form.
func (m root) releaseKey(id keymap.ID) (root, tea.Cmd) {
	p := &m.release
	switch {
	case p.stage == sending:
		return m, nil // it cannot be called back
	case p.stage == picking:
		return m.pickKey(id)
	case id == keymap.Close:
		return m.leaveRelease(), nil
	case p.stage == done && id == keymap.Confirm:
		return m.leaveRelease(), nil // the list says the outcome once more
	case p.stage == reading, m.now.Sub(p.drawn) < quiet:
		return m, nil
	case p.stage == asking:
		if c, ok := chosenBy(id); ok {
			return m.choose(c)
		}
	}
	return m.panelKey(id)
}

// panelKey moves the focus, scrolls and copies.
func (m root) panelKey(id keymap.ID) (root, tea.Cmd) {
	p := &m.release
	switch {
	case id == keymap.Copy:
		return m, m.copyKey(p.row)
	case id == keymap.CopyCommands && len(p.plan.Steps) > 0:
		return m, m.copyPlan(p.plan)
	case id == keymap.Unfold:
		p.unfolded = !p.unfolded
	case p.stage == done:
		p.top = scrolled(p.top, id, len(m.releaseText()), m.releaseRoom())
	case id == keymap.Refresh:
		return m.again()
	case id == keymap.Confirm:
		return m.choose(p.focus)
	case id == keymap.Next, id == keymap.Prev:
		p.focus = m.otherButton()
	case id == keymap.Up, id == keymap.Down:
		p.focus = m.moveFocus(id)
	default:
		p.top = scrolled(p.top, id, len(m.releaseText()), m.releaseRoom())
	}
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
	switch {
	case p.stage == done:
		text := string(p.outcome.Word) + " " + p.outcome.Detail(&p.sent)
		if p.after != "" {
			text += "; " + p.after
		}
		m = m.say(outcomeTone(p.outcome.Word), text)
	case p.stage > reading:
		m = m.say(fine, "nothing was changed")
	}
	m.release.question++ // late answers are dropped
	return m.back()
}

func outcomeTone(w inspect.Word) tone {
	switch {
	case w.Done():
		return fine
	case w == inspect.Gone, w == inspect.Changed:
		return warn
	}
	return bad
}
