package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
)

// exam is what a closer look at one lock has shown: the one before the
// operator's eyes, in the detail screen or in a panel over it.
type exam struct {
	id      string              // of the row
	look    inspect.Examination // without what watching alone shows
	at      time.Time           // when it was answered; zero: not yet
	err     error
	askedAt time.Time
	asking  bool
}

// examineEvery is how often the lock before the operator's eyes is examined: a
// server with many connections is busy for a moment each time.
const examineEvery = 10 * time.Second

// examinedMsg is the answer to an examination.
type examinedMsg struct {
	id   string
	look inspect.Examination
	err  error
	at   time.Time
}

// beforeEyes is the lock that the operator is looking at closely; nil if none is.
func (m root) beforeEyes() *row {
	id := ""
	switch {
	case slices.Contains(m.stack, atRelease) && m.release.row != nil:
		id = m.release.row.id
	case slices.Contains(m.stack, atDetail):
		id = m.detail.id
	}
	if id == "" {
		return nil
	}
	if r := m.feed.row(id); r != nil && r.goneAt().IsZero() {
		return r
	}
	return nil
}

// examine has the lock before the operator's eyes examined where that is due.
func (m root) examine() (root, tea.Cmd) {
	r := m.beforeEyes()
	if r == nil {
		return m, nil
	}
	if m.exam.id != r.id {
		m.exam = exam{id: r.id}
	}
	e := &m.exam
	if _, live := m.feed.known(r); !live || e.asking || !e.askedAt.IsZero() && m.now.Sub(e.askedAt) < examineEvery {
		return m, nil
	}
	e.asking, e.askedAt = true, m.now
	ctx, cancel := m.bounded()
	in, w, id := m.opts.Inspector, m.readSince(r.watched), r.id
	return m, func() tea.Msg {
		defer cancel()
		look, err := in.Examine(ctx, w)
		// What watching shows is true from second to second: it is taken from the row.
		look.Evidence = look.Evidence[min(len(w.Evidence(look.At)), len(look.Evidence)):]
		if w.Waiters != nil && w.Waiters.Count != 0 && len(look.Contention) > 0 {
			look.Contention = look.Contention[1:]
		}
		return examinedMsg{id, look, err, time.Now()}
	}
}

// readSince is a row with the panel's own reading counted in, also one that is
// still under way: what that touches is touched from here.
func (m root) readSince(w *inspect.Watched) *inspect.Watched {
	at := m.release.live.SampledAt
	if m.release.looking {
		at = m.now
	}
	if !slices.Contains(m.stack, atRelease) || !at.After(w.SampledAt) {
		return w
	}
	touched := *w
	touched.SampledAt = at
	return &touched
}

func (e examinedMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	if e.id != m.exam.id {
		return m, nil
	}
	m.now = later(m.now, e.at)
	m.exam.asking, m.exam.err = false, e.err
	if e.err == nil {
		m.exam.look, m.exam.at = e.look, e.at
	}
	return m, nil
}

// evidenceOf is all that speaks for a living or for a dead holder of a row's
// lock, and how each is known: what watching has shown, and the last examination
// with its age.
func (m root) evidenceOf(r *row) []inspect.Evidence {
	known, live := m.feed.known(r)
	out := r.watched.Evidence(known)
	if !live { // it speaks of then, not of now
		for i := range out {
			out[i].How += ", when the server was last heard, " + ago(known, m.now)
		}
	}
	if !m.examined(r) {
		return out
	}
	for _, e := range m.exam.look.Evidence {
		e.How += m.examAge()
		out = append(out, e)
	}
	return out
}

// examined reports whether the last examination was of this row's lock as it is:
// under the same holder, and not renewed since.
func (m root) examined(r *row) bool {
	x, w := m.exam, r.watched
	return x.id == r.id && !x.at.IsZero() && !w.FirstSeen.After(x.at) && (w.Beat == nil || !w.Beat.Last.After(x.at))
}

// examAge says how old an examination is, where that is more than a moment.
func (m root) examAge() string {
	if age := m.now.Sub(m.exam.at); age >= 2*time.Second {
		return ", " + coarse(age) + " ago"
	}
	return ""
}

// contentionOf are the signs of others who want a row's lock, besides the waiters
// that its library lets be seen.
func (m root) contentionOf(r *row) []inspect.Sign {
	if !m.examined(r) {
		return nil
	}
	out := slices.Clone(m.exam.look.Contention)
	for i := range out {
		out[i].How += m.examAge()
	}
	return out
}
