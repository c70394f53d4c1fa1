package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/tui/theme"
)

// How often the server is asked. Known locks are read in one pipelined pass;
// the keyspace is walked for new ones more slowly.
const (
	refreshEvery = time.Second
	rescanEvery  = 10 * time.Second
	// soonest is the least time between two passes, where a lock that is due
	// asks for one out of turn.
	soonest = 200 * time.Millisecond
	// A lock that is gone is shown as gone for a moment, and asked for longer: it
	// may come back with another holder before the next walk.
	goneShown = 4 * time.Second
	goneAsked = 90 * time.Second
	// staleAfter is the age from which a fact is shown as old.
	staleAfter = 3 * time.Second
)

// row is one lock on the screen: the last facts, and what was seen of it since
// the console has known it.
type row struct {
	lock     inspect.Lock
	id       string
	since    time.Time // when this holder was first seen; the zero time: at the first look
	whole    int64     // the largest TTL seen of this holder, ms: the bar's full length
	renewed  time.Time // when its deadline was last seen to move
	renewals int
	before   string    // the holder before this one
	gone     time.Time // when the server said that it is gone; zero while it is there

	// What the list needs of every row at every change, worked out once: the
	// row's name, all of it that a filter looks through, and widths in cells.
	name, text             string
	nameWidth, holderWidth int
}

// dressed fills in what is worked out once.
func (r *row) dressed() *row {
	r.name, r.text = nameOf(&r.lock), textOf(&r.lock)
	r.nameWidth = theme.Width(r.name)
	r.holderWidth = theme.Width(holderCell(&r.lock, theme.Glyphs{}, 1<<10))
	return r
}

// feed is what is known of the locks, and when the server is asked again.
type feed struct {
	rows map[string]*row // by row id; the map and its rows are replaced, never written to
	link link

	// question numbers the refreshes; an answer to an earlier one is dropped. 0
	// in pending: none is under way.
	question    int
	pending     int
	askedAt     time.Time
	identified  time.Time // when the server was last asked what it is
	nextRefresh time.Time

	scan     scanState
	coverage inspect.Coverage // of the last walk that ended
	scanned  time.Time        // when the last one that reached the server ended
}

// link is how the connection does.
type link struct {
	answered time.Time // the last answer
	lost     time.Time // since when there is none; zero while there is
	why      string
	tries    int
	ever     bool // the server has answered at least once
}

// backoff is how long to wait before the next try.
func (l link) backoff() time.Duration {
	return min(10*time.Second, 500*time.Millisecond<<min(l.tries, 6))
}

func (l link) ok(now time.Time) link { return link{answered: now, ever: true} }

func (l link) failed(now time.Time, why string) link {
	if l.lost.IsZero() {
		l.lost = now
	}
	l.why = why
	l.tries++
	return l
}

// refreshMsg is what the server says of the known locks.
type refreshMsg struct {
	question int
	asked    map[string]*row // what was known then
	rows     map[string]*row // the same after the answer; what is gone is marked
	server   *Server
	err      error
	at       time.Time
}

// ask reads all known locks in one pass. Now and then, and while the connection
// is lost, it first asks what server it is: a failover makes a replica of it.
func (m root) ask() (root, tea.Cmd) {
	f := &m.feed
	f.question++
	f.pending, f.askedAt = f.question, m.now
	identify := m.opts.Identify
	if f.link.lost.IsZero() && len(f.rows) > 0 && m.now.Sub(f.identified) < rescanEvery {
		identify = nil
	}
	in, out := m.opts.Inspector, refreshMsg{question: f.question, asked: f.rows}
	ctx, cancel := m.bounded()
	return m, func() tea.Msg {
		defer cancel()
		var locks []inspect.Lock
		sent := time.Now()
		if identify != nil {
			var s Server
			s, out.err = identify(ctx)
			out.server = &s
		}
		if out.err == nil {
			locks, out.err = in.Refresh(ctx, locksOf(out.asked))
		}
		out.at = time.Now()
		if out.err == nil {
			out.rows = answered(out.asked, locks, sent, out.at)
		}
		return out
	}
}

func locksOf(rows map[string]*row) []inspect.Lock {
	locks := make([]inspect.Lock, 0, len(rows))
	for _, r := range rows {
		locks = append(locks, r.lock)
	}
	return locks
}

// answered are the rows after an answer: what was asked for and is not in it is
// gone, unless it was seen after the question was sent.
func answered(asked map[string]*row, locks []inspect.Lock, sent, at time.Time) map[string]*row {
	rows := make(map[string]*row, len(asked))
	for _, l := range locks {
		id := rowID(&l)
		rows[id] = asked[id].next(l, at)
	}
	for id, old := range asked {
		switch {
		case rows[id] != nil:
		case old.lock.SampledAt.After(sent):
			rows[id] = old
		case old.gone.IsZero():
			lost := *old
			lost.gone = at
			rows[id] = &lost
		case at.Sub(old.gone) <= goneAsked:
			rows[id] = old
		}
	}
	return rows
}

func (r refreshMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	if r.question != m.feed.pending {
		return m, nil
	}
	m.now = later(m.now, r.at)
	m.feed.pending = 0
	if r.err != nil {
		m.feed.link = m.feed.link.failed(r.at, cleanError(r.err))
		m.feed.nextRefresh = r.at.Add(m.feed.link.backoff())
		return m, nil
	}
	if r.server != nil {
		m.server, m.feed.identified = *r.server, r.at
	}
	if !m.feed.link.lost.IsZero() {
		m = m.say(fine, "the server answers again; what happened meanwhile was not seen")
		m.feed.scan.next = r.at
	}
	m.feed.rows = merged(m.feed.rows, r.asked, r.rows)
	m.feed.link = m.feed.link.ok(r.at)
	m.feed.nextRefresh = nextRefresh(m.feed.rows, r.at)
	m.list = m.list.sync(m)
	if m.detail.id != "" {
		m.detail = m.detail.sync(m)
	}
	return m, nil
}

// merged puts an answer together with what a walk has found since the question:
// of two looks at one lock the later one stays.
func merged(now, asked, answer map[string]*row) map[string]*row {
	for id, r := range now {
		if asked[id] == r {
			continue // nothing new of it meanwhile
		}
		if got := answer[id]; got == nil || r.lock.SampledAt.After(got.lock.SampledAt) && got.gone.Before(r.lock.SampledAt) {
			answer[id] = r
		}
	}
	return answer
}

// nextRefresh is when to ask again: after a second, or just after the first
// deadline that falls before, so that a lock at zero is asked for, not presumed
// gone.
func nextRefresh(rows map[string]*row, at time.Time) time.Time {
	next := at.Add(refreshEvery)
	for _, r := range rows {
		if left, ok := r.lock.Left(at); ok && r.gone.IsZero() && left > 0 {
			if due := at.Add(left + 10*time.Millisecond + r.lock.Uncertainty); due.Before(next) {
				next = due
			}
		}
	}
	return later(next, at.Add(soonest))
}

// next takes a new look at a lock into its row; r is nil for a new one.
func (r *row) next(l inspect.Lock, at time.Time) *row {
	if r == nil {
		return (&row{lock: l, id: rowID(&l), whole: l.TTL}).dressed()
	}
	if l.SampledAt.Before(r.lock.SampledAt) {
		return r // an older answer came late
	}
	n := *r
	n.lock, n.gone = l, time.Time{}
	if !r.gone.IsZero() || !sameHolders(&r.lock, &l) {
		n.since, n.renewed, n.renewals, n.whole = at, time.Time{}, 0, l.TTL
		n.before = r.lock.HolderWords()
		return n.dressed()
	}
	n.whole = max(r.whole, l.TTL)
	moved := l.Deadline.Sub(r.lock.Deadline)
	if !l.Persistent && !r.lock.Persistent && moved > renewalStep+l.Uncertainty+r.lock.Uncertainty {
		n.renewed, n.renewals = at, r.renewals+1
	}
	if l.State != r.lock.State || l.Persistent != r.lock.Persistent || l.Family != r.lock.Family {
		return n.dressed()
	}
	return &n // all that is worked out from it is as before
}

// renewalStep is how far a deadline must move to count as renewed: clocks and
// round trips move it by less.
const renewalStep = 300 * time.Millisecond

// sameHolders reports whether a lock is held by the same acquisitions, as far as
// ids and the fencing token tell.
func sameHolders(a, b *inspect.Lock) bool {
	same := func(x, y family.Holder) bool { return x.ID == y.ID && x.Mode == y.Mode }
	return slices.EqualFunc(sortedHolders(a), sortedHolders(b), same) && a.Fence == b.Fence
}

func sortedHolders(l *inspect.Lock) []family.Holder {
	return slices.SortedFunc(slices.Values(l.Holders), func(a, b family.Holder) int {
		if a.ID != b.ID {
			return map[bool]int{true: -1, false: 1}[a.ID < b.ID]
		}
		return map[bool]int{true: -1, false: 1}[a.Mode < b.Mode]
	})
}

// rowID names a row for ever: RowID, and the node where several are looked at.
func rowID(l *inspect.Lock) string { return l.Node + "/" + l.RowID() }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
