package inspect

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// reading is what a tracker is to look at, and is looking at.
type reading struct {
	marks  map[string]*mark // by main key, or a key that may be a new lock
	job    *readJob         // one at a time
	nextAt time.Time        // not before
	pollAt time.Time        // when the next pass over all known locks begins
	began  time.Time        // of the pass under way
	pass   []string         // keys that this pass has still to look at
	forced map[string]time.Time
	doubts map[string]time.Time // changes that were found and not told
	echoes map[string]time.Time // keys found gone before that was told
	absent map[string]time.Time // keys that were told of, and found empty
	ghosts map[string]time.Time // keys of locks that were here lately: where nothing is told, they are looked at on
	jobs   uint64
}

// mark is why a key is to be looked at.
type mark struct {
	tidings
	flushed bool
	gap     string // why changes may have been missed
	zero    bool   // its time is over
	found   bool   // a scan came upon it
	tries   int    // looks that changes came in between of
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

	facts   serverFacts         // before; and, where INFO was asked, after
	checked bool                // INFO was asked
	stale   bool                // the facts are old: INFO is to be asked at an end
	was     map[string]wire.Raw // who held each lock of one holder, where nothing is told
	held    map[string]bool     // an operator holds it now, as the note beside it says
	evicted bool                // keys were evicted meanwhile, or may have been
	flushed bool                // a database was emptied meanwhile

	began, done time.Time
	locks       []Lock
	unread      map[string]string // keys that could not be read, and why
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
	job := &readJob{marks: map[string]*mark{}, was: map[string]wire.Raw{}, began: now, facts: t.facts}
	job.stale = now.Sub(t.factsAt) > factsFor || t.status.Source != ByTracking
	for key, m := range r.marks {
		if len(job.keys) == readBatch {
			break
		}
		job.marks[key] = m
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
		job.done = time.Now()
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
	if h := held(&first.w.Lock); t.status.Source == ByPolling && len(h) == 1 && first.next == nil {
		job.was[key] = h[0].ID
	}
	p := first.probe()
	for r := first; r != nil; r = r.next {
		job.founds = append(job.founds, r.found())
		if r != first && r.w.HasField && p.fields != nil {
			p.fields = append(p.fields, string(r.w.Field))
		}
	}
	job.known = append(job.known, p)
}

// readKeys does the looking.
func (t *tracker) readKeys(ctx context.Context, n Node, job *readJob) error {
	if len(job.known) > 0 {
		found, err := t.in.relook(ctx, n, job.known, job.founds)
		if err != nil {
			return err
		}
		job.take(found, nil)
		t.causes(ctx, n, job)
		t.notes(ctx, job)
	}
	if len(job.unknown) == 0 {
		return nil
	}
	return t.newcomers(ctx, n, job)
}

// causes finds out whether locks that are gone may have been evicted or flushed,
// where nobody tells.
func (t *tracker) causes(ctx context.Context, n Node, job *readJob) {
	if len(job.locks) >= len(job.founds) || !job.facts.evicts && !job.stale {
		return
	}
	fields, ok := info(ctx, n)
	after := factsOf(fields, ok)
	job.evicted = after.evicts && (!ok || !job.facts.known || after.evicted != job.facts.evicted)
	job.flushed = ok && job.facts.known && after.flushes != job.facts.flushes
	job.facts, job.checked = after, ok
}

// mostNotes is how many locks that changed hands between two looks are asked
// whether an operator holds them.
const mostNotes = 20

// notes finds out which locks changed hands to an operator, where nobody tells:
// the note beside a lock does.
func (t *tracker) notes(ctx context.Context, job *readJob) {
	asked := 0
	for i := range job.locks {
		l := &job.locks[i]
		was, ok := job.was[string(l.Key)]
		if !ok || len(l.Holders) != 1 || l.Holders[0].ID == was || asked == mostNotes {
			continue
		}
		asked++
		if note, err := t.in.HoldOf(ctx, l); err == nil && note != nil {
			if job.held == nil {
				job.held = map[string]bool{}
			}
			job.held[string(l.Key)] = true
		}
	}
}

// newcomers looks at keys that may be locks, as a scan would.
func (t *tracker) newcomers(ctx context.Context, n Node, job *readJob) error {
	w := &nodeWalk{Node: n, w: t.scan.sieve, guess: t.scan.guess}
	worth, err := w.chunk(ctx, job.unknown)
	if err != nil || len(worth) == 0 {
		return err
	}
	if err := w.complete(ctx, worth); err != nil {
		return err
	}
	found, err := t.in.decode(ctx, n, worth, nil)
	if err != nil {
		return err
	}
	job.take(found, t.scan.sieve.acceptable)
	return nil
}

// take adds what a look came to; acceptable may be nil.
func (j *readJob) take(found looked, acceptable func(*Lock) bool) {
	for i := range found.locks {
		if acceptable == nil || acceptable(&found.locks[i]) {
			j.locks = append(j.locks, found.locks[i])
		}
	}
	if j.unread == nil {
		j.unread = map[string]string{}
	}
	maps.Copy(j.unread, found.unread)
}

// looked takes a job's result. Where notifications say what happened, it waits
// until all that was told before the look has come: another connection brings it.
func (t *tracker) looked(job *readJob) {
	r := &t.read
	if job.err != nil {
		r.job = nil
		for key, m := range job.marks {
			t.merge(key, m)
		}
		r.nextAt = time.Now().Add(pulse / 2)
		t.failed(job.err)
		return
	}
	if t.stuck {
		t.stuck = false
		t.publish(func(s *NodeStatus) { s.Err = "" })
	}
	t.answered(job.done)
	if t.feeds.notifies && len(job.marks) > 0 && t.feeds.cur != nil {
		job.barrier = strconv.FormatUint(r.jobs, 10)
		if t.feeds.cur.ping(t.ctx, job.barrier) == nil {
			return
		}
		job.barrier = ""
	}
	t.settle(job, false)
}

// merge puts a mark back, before what came meanwhile.
func (t *tracker) merge(key string, old *mark) {
	m := t.read.marks[key]
	if m == nil {
		if t.read.marks == nil {
			t.read.marks = map[string]*mark{}
		}
		t.read.marks[key] = old
		return
	}
	if old.tracked || !m.tracked {
		m.first = old.first
	}
	m.names = append(slices.Clone(old.names), m.names...)
	m.more = m.more || old.more
	if len(m.names) > namesKept {
		m.names, m.more = m.names[:namesKept], true
	}
	m.tracked, m.flushed = m.tracked || old.tracked, m.flushed || old.flushed
	m.zero, m.found = m.zero || old.zero, m.found || old.found
	if m.gap == "" {
		m.gap = old.gap
	}
	m.tries = max(m.tries, old.tries)
}

// barrier settles the job that waited for this answer.
func (t *tracker) barrier(pong string) {
	if job := t.read.job; job != nil && job.barrier == pong && !job.done.IsZero() {
		t.settle(job, true)
	}
}
