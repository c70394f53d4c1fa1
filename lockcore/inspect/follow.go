package inspect

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Follower keeps a list of live locks true, second by second, at next to no
// cost for the server, and remembers what happened to them.
//
// A console uses it so:
//
//	f := in.Follow(ctx, query, inspect.FollowOptions{})
//	defer f.Stop()
//	for range f.Changed() {          // at most a few times a second: see below
//		v := f.View()            // all locks, the state of every node, the coverage
//		events, lost := f.Drain() // what happened since the last call
//		…
//	}
//
// Changed never holds more than one token, so it may be waited for in a command
// of the screen and its View be drawn at whatever rate the screen has: nothing
// piles up meanwhile. A View does not change once it is given; its rows are
// pointers to facts that do not change either, and a row that is the same
// pointer as before has not changed. What a row says is as old as v.Known(row)
// says: where a node does not answer, nothing about its locks is known since.
// What the console itself has done to a lock is told to the Follower by Acted, so
// that its event says who it was.
//
// A Follower uses connections of its own and leaves nothing behind after Stop.
type Follower struct {
	q    Query
	opt  FollowOptions
	stop context.CancelFunc
	all  sync.WaitGroup

	changed chan struct{}

	mu      sync.Mutex // guards all that follows, and what trackers publish
	nodes   []*tracker
	hist    history
	drained uint64
	found   []Event // snapshot events that were not drained yet
	version uint64
	view    *View
}

// FollowOptions says how locks are followed. The zero options are right for a
// console.
type FollowOptions struct {
	// Poll is the time between two looks at known locks where the server tells of
	// no changes; 0: a second, and less where there are few locks.
	Poll time.Duration
	// Without are sources that are not to be used. Polling always is, at last.
	Without []Source
	// Snapshot has Drain begin with one event for each lock that is there.
	Snapshot bool
	// Paused starts without scanning; Resume begins it.
	Paused bool
	// Crash takes a panic in one of the Follower's goroutines, with its stack; the
	// Follower ends then. nil: the panic ends the program.
	Crash func(value any, stack []byte)
}

// another makes one more client of the node, with options changed.
func (n Node) another(change func(*redis.Options)) *redis.Client {
	if n.Another != nil {
		return n.Another(change)
	}
	o := *n.Client.Options()
	change(&o)
	return redis.NewClient(&o)
}

// ownClient sets what all clients of a Follower have in common: nothing is sent
// twice, every step has a deadline, and pushes are handled by nobody else.
func ownClient(o *redis.Options, pool int) {
	o.PoolSize, o.MinIdleConns, o.MaxRetries, o.DialerRetries = pool, 0, -1, 1
	o.ReadTimeout, o.WriteTimeout, o.ContextTimeoutEnabled = stepTimeout, stepTimeout, true
	o.PushNotificationProcessor = nil // the library writes its own into the options of every client
}

// followPool is enough for a scan, a look at locks and a sign of life at once.
const followPool = 4

// Follow begins to follow the locks that q asks for, on all nodes. It returns at
// once; Stop, or the end of ctx, ends it.
func (in *Inspector) Follow(ctx context.Context, q Query, opt FollowOptions) *Follower {
	ctx, stop := context.WithCancel(ctx)
	f := &Follower{q: q, opt: opt, stop: stop, changed: make(chan struct{}, 1)}
	for _, n := range in.nodes {
		f.nodes = append(f.nodes, newTracker(ctx, f, in, n))
	}
	for _, t := range f.nodes {
		f.all.Go(t.run)
	}
	return f
}

// Stop ends the following and waits until its connections and goroutines are
// gone, which takes well under a second whatever the servers do.
func (f *Follower) Stop() {
	f.stop()
	f.all.Wait()
}

// Changed holds a token when there is something new to see or to drain.
func (f *Follower) Changed() <-chan struct{} { return f.changed }

// bump marks the view as outdated; mu is held.
func (f *Follower) bump() {
	f.version++
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// record files events; mu is held.
func (f *Follower) record(events ...Event) {
	for _, e := range events {
		f.hist.add(e)
	}
	if len(events) > 0 {
		f.bump()
	}
}

// Drain returns the events since the last call, oldest first. lost is how many
// were pushed out of the ring before anybody came for them.
func (f *Follower) Drain() (events []Event, lost uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.found
	f.found = nil
	events, lost = f.hist.after(f.drained)
	f.drained = f.hist.seq
	return slices.Concat(found, events), lost
}

// History returns what happened to one lock, oldest first, as far back as the
// ring of 20,000 events reaches for all locks together.
func (f *Follower) History(l *Lock) []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hist.of(l)
}

// Pause stops the scan where it is; what is known is followed on.
func (f *Follower) Pause() { f.tell((*tracker).pause) }

// Resume lets the scan go on from where it was.
func (f *Follower) Resume() { f.tell((*tracker).resume) }

// Rescan looks at all known locks and walks over all keys again, to find locks of
// which nothing told. A node that is lost is tried at once.
func (f *Follower) Rescan() { f.tell((*tracker).rescanNow) }

// Deepen walks over all keys once and looks at the shape of each, whatever its
// name. The passes after it are as they were before.
func (f *Follower) Deepen() { f.tell((*tracker).deepen) }

// Acted tells that a plan of ours was carried out on a lock, so that the event
// which follows says that an operator did it.
func (f *Follower) Acted(l *Lock, out Outcome) {
	if !out.Word.Done() && out.Word != Partial {
		return
	}
	key, of := string(l.Key), holderIDs(l)
	f.tell(func(t *tracker) {
		if t.node.Addr == l.Node && t.node.DB == l.DB {
			t.acted(key, of)
		}
	})
}

// catch is deferred in every goroutine. A panic ends the Follower, whoever takes
// it: the other goroutines would wait for this one for ever.
func (f *Follower) catch() {
	v := recover()
	if v == nil {
		return
	}
	f.stop()
	if f.opt.Crash == nil {
		panic(v)
	}
	f.opt.Crash(v, debug.Stack())
}

// tell has every tracker do something, on its own goroutine.
func (f *Follower) tell(do func(*tracker)) {
	for _, t := range f.nodes {
		t.tell(do)
	}
}
