package tui

import (
	"context"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
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
	asked    []string // row ids
	locks    []inspect.Lock
	server   *Server
	err      error
	sent, at time.Time
}

// ask reads all known locks in one pass. Now and then, and while the connection
// is lost, it first asks what server it is: a failover makes a replica of it.
func (m root) ask() (root, tea.Cmd) {
	f := &m.feed
	f.question++
	f.pending, f.askedAt = f.question, m.now
	known := make([]inspect.Lock, 0, len(f.rows))
	ids := make([]string, 0, len(f.rows))
	for _, id := range sortedIDs(f.rows) {
		known = append(known, f.rows[id].lock)
		ids = append(ids, id)
	}
	identify := m.opts.Identify
	if f.link.lost.IsZero() && len(known) > 0 && m.now.Sub(f.identified) < rescanEvery {
		identify = nil
	}
	ctx, in, limit, q := m.ctx, m.opts.Inspector, m.opts.timeout(), f.question
	return m, func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		out := refreshMsg{question: q, asked: ids, sent: time.Now()}
		if identify != nil {
			s, err := identify(ctx)
			if err != nil {
				return out.failed(err)
			}
			out.server = &s
		}
		out.locks, out.err = in.Refresh(ctx, known)
		out.at = time.Now()
		return out
	}
}

func (r refreshMsg) failed(err error) refreshMsg {
	r.err, r.at = err, time.Now()
	return r
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
	wasLost := !m.feed.link.lost.IsZero()
	m.feed = m.feed.answered(r)
	if wasLost {
		m = m.say(fine, "the server answers again; what happened meanwhile was not seen")
		m.feed.scan.next = r.at
	}
	m.list = m.list.sync(m)
	if m.detail.id != "" {
		m.detail = m.detail.sync(m)
	}
	return m, nil
}

// answered files the answer to a refresh: what was asked for and is not in it
// is gone.
func (f feed) answered(r refreshMsg) feed {
	rows := maps.Clone(f.rows)
	if rows == nil {
		rows = map[string]*row{}
	}
	there := map[string]bool{}
	for _, l := range r.locks {
		id := rowID(&l)
		there[id] = true
		rows[id] = rows[id].next(l, r.at)
	}
	for _, id := range r.asked {
		old, ok := rows[id]
		switch {
		case !ok || there[id] || old.lock.SampledAt.After(r.sent): // a walk has seen it since
		case old.gone.IsZero():
			lost := *old
			lost.gone = r.at
			rows[id] = &lost
		case r.at.Sub(old.gone) > goneAsked:
			delete(rows, id)
		}
	}
	f.rows = rows
	f.link = f.link.ok(r.at)
	f.nextRefresh = nextRefresh(rows, r.at)
	return f
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
		return &row{lock: l, id: rowID(&l), whole: l.TTL}
	}
	if l.SampledAt.Before(r.lock.SampledAt) {
		return r // an older answer came late
	}
	n := *r
	n.lock, n.gone = l, time.Time{}
	if !r.gone.IsZero() || !sameHolders(&r.lock, &l) {
		n.since, n.renewed, n.renewals, n.whole = at, time.Time{}, 0, l.TTL
		n.before = r.lock.HolderWords()
		return &n
	}
	n.whole = max(r.whole, l.TTL)
	moved := l.Deadline.Sub(r.lock.Deadline)
	if !l.Persistent && !r.lock.Persistent && moved > renewalStep+l.Uncertainty+r.lock.Uncertainty {
		n.renewed, n.renewals = at, r.renewals+1
	}
	return &n
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

func sortedIDs(rows map[string]*row) []string {
	ids := make([]string, 0, len(rows))
	for id := range rows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
