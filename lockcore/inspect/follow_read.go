package inspect

import (
	"context"
	"maps"
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// reading is what a tracker is to look at, and is looking at.
type reading struct {
	marks   map[string]*mark     // by main key, or a key that may be a new lock
	job     *readJob             // one at a time
	nextAt  time.Time            // not before
	pollAt  time.Time            // when the next pass over all known locks begins
	began   time.Time            // of the pass under way
	pass    []string             // keys that this pass has still to look at
	forced  map[string]*act      // what this program did lately, by the lock's key
	doubts  map[string]time.Time // changes that were found and not told
	echoes  map[string]time.Time // keys found gone before that was told
	outlive map[string]time.Time // keys that are there though their lock is gone, and when they end
	absent  map[string]time.Time // keys that were told of, and found empty
	ghosts  map[string]time.Time // keys of locks that were here lately: where nothing is told, they are looked at on
	behind  string               // the barrier that a job gave up waiting for: what is told before its answer, a look has seen
	jobs    uint64
}

// mark is why a key is to be looked at.
type mark struct {
	tidings
	flushed bool
	gap     string        // why changes may have been missed
	zero    bool          // its time is over
	found   bool          // a scan came upon it
	within  time.Duration // how long the pass was over then that did not see it; 0: none was lately
	lock    *Lock         // as it saw it, where nobody tells
	late    bool          // it was told behind a look that has seen it
	seen    bool          // the last look may have seen renewals that are told here
	tries   int           // looks that changes came in between of
}

// tell adds what was told. A mark that waited for a look before anything was told
// dates nothing.
func (m *mark) tell(what *tidings) {
	if !m.tracked {
		m.first = what.first
	}
	m.tracked, m.last = true, what.last
}

// readBatch is how many keys one job looks at, in as few round trips as their
// types allow.
const readBatch = 500

// barrierWait is how long a job waits for what was told before it.
const barrierWait = time.Second

// factsFor is how long it is taken for granted that a server does not evict.
const factsFor = 10 * time.Second

// readJob is one look at some keys.
type readJob struct {
	marks   map[string]*mark // of the keys that were marked
	keys    []string         // all of them
	known   []probe
	founds  []family.Found
	unknown []probe

	counts counts              // before; and, where they were asked for, after
	first  bool                // to be asked for before the look, so that an earlier flush ends no hold that began since
	silent bool                // nobody tells when a database is emptied
	stale  bool                // they are old: to be asked for at an end
	unsure bool                // they were not said
	was    map[string]wire.Raw // who held each lock of one holder, where nothing is told, or an act of ours was
	held   map[string]bool     // an operator holds it now, as the note beside it says

	began, done time.Time
	locks       []Lock
	unread      map[string]string    // keys that could not be read, and why
	ends        map[string]time.Time // when keys end that were there without a lock
	err         error
	barrier     string // the answer to this ping comes after all that was told before the look
}

// mark has a key looked at soon.
func (t *tracker) mark(key string, at time.Time) *mark {
	if t.read.marks == nil {
		t.read.marks = map[string]*mark{}
	}
	m := t.read.marks[key]
	if m == nil {
		m = &mark{tidings: tidings{first: at, last: at}}
		t.read.marks[key] = m
	}
	return m
}

// rereadAll has every known lock looked at; why says what may have been missed.
func (t *tracker) rereadAll(now time.Time, why string) {
	for key := range t.rows {
		if m := t.mark(key, now); why != "" {
			m.gap = why
		}
	}
}

// look starts the next job where one is due.
func (t *tracker) look(now time.Time, wake *earliest) {
	r := &t.read
	t.settleDoubts(now, wake)
	if r.job != nil && r.job.barrier != "" {
		if limit := r.job.done.Add(barrierWait); now.Before(limit) {
			wake.by(limit)
		} else {
			r.behind = r.job.barrier
			t.settle(r.job, false)
		}
	}
	over, next := t.due.over(now, readBatch)
	for _, row := range over {
		t.mark(string(row.w.Key), now).zero = true
	}
	if !next.IsZero() {
		wake.by(next)
	}
	if t.status.Source == ByPolling {
		t.poll(now, wake)
	}
	if r.job != nil || len(r.marks) == 0 && len(r.pass) == 0 {
		return
	}
	if now.Before(r.nextAt) {
		wake.by(r.nextAt)
		return
	}
	t.start(now)
}

// poll begins a pass over all known locks.
func (t *tracker) poll(now time.Time, wake *earliest) {
	r := &t.read
	if len(r.pass) > 0 || len(t.rows) == 0 && len(r.ghosts) == 0 {
		return
	}
	if now.Before(r.pollAt) {
		wake.by(r.pollAt)
		return
	}
	r.pass = slices.AppendSeq(make([]string, 0, len(t.rows)+len(r.ghosts)), maps.Keys(t.rows))
	for key, since := range r.ghosts {
		if now.Sub(since) > ghostsFor || t.rows[key] != nil {
			delete(r.ghosts, key)
			continue
		}
		r.pass = append(r.pass, key)
	}
	r.began = now
	r.pollAt = now.Add(t.pollEvery())
}

// Ghosts are few, and forgotten after a while.
const (
	mostGhosts = 500
	ghostsFor  = 5 * time.Minute
)

// ghost has the key of a lock that is gone looked at on: who takes a lock once
// mostly takes it again.
func (t *tracker) ghost(key string, now time.Time) {
	r := &t.read
	if r.ghosts == nil {
		r.ghosts = map[string]time.Time{}
	}
	for k := range r.ghosts {
		if len(r.ghosts) < mostGhosts {
			break
		}
		delete(r.ghosts, k)
	}
	r.ghosts[key] = now
}

// pollEvery is the time between two passes: as the operator chose, else a
// second, and down to a third of it where a pass is one batch.
func (t *tracker) pollEvery() time.Duration {
	switch {
	case t.f.opt.Poll > 0:
		return t.f.opt.Poll
	case len(t.rows) <= 100:
		return 400 * time.Millisecond
	}
	return time.Second
}

// start makes a job of what is marked, and of the pass under way.
func (t *tracker) start(now time.Time) {
	r := &t.read
	job := &readJob{marks: map[string]*mark{}, was: map[string]wire.Raw{}, began: now, counts: t.counts}
	job.silent = t.status.Source != ByTracking
	job.stale = now.Sub(t.counts.asked) > factsFor || job.silent
	for key, m := range r.marks {
		if len(job.keys) == readBatch {
			break
		}
		job.marks[key] = m
		job.first = job.first || t.status.Source == ByNotification && t.rows[key] != nil && slices.ContainsFunc(m.names, replaces)
		delete(r.marks, key)
		t.include(job, key)
	}
	for len(r.pass) > 0 && len(job.keys) < readBatch {
		key := r.pass[len(r.pass)-1]
		r.pass = r.pass[:len(r.pass)-1]
		if job.marks[key] == nil {
			t.include(job, key)
		}
	}
	if len(job.keys) == 0 {
		return
	}
	r.jobs++
	r.job = job
	t.asked(now)
	node := t.node
	if t.feeds.single != nil {
		node.Client = t.feeds.single // reading by it makes the server track these keys
	}
	t.beside(func(ctx context.Context) func() {
		job.err = t.readKeys(ctx, node, job)
		if job.err != nil {
			job.done = time.Now()
		}
		return func() { t.looked(job) }
	})
}

// include adds a key to a job.
func (t *tracker) include(job *readJob, key string) {
	job.keys = append(job.keys, key)
	first := t.rows[key]
	if first == nil {
		job.unknown = append(job.unknown, probe{key: key, idle: true})
		return
	}
	_, ours := t.read.forced[key]
	if h := held(&first.w.Lock); (ours || t.status.Source == ByPolling) && len(h) == 1 && first.next == nil {
		job.was[key] = h[0].ID
	}
	job.first = job.first || job.silent && first.w.FirstSeen.After(t.counts.asked)
	p := first.probe()
	for r := first; r != nil; r = r.next {
		job.founds = append(job.founds, r.found())
		if r != first && r.w.HasField && p.fields != nil {
			p.fields = append(p.fields, string(r.w.Field))
		}
	}
	job.known = append(job.known, p)
}
