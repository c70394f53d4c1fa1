package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Walk is one pass over the keys of all nodes. It may be stopped and run on
// from where it was, after any pause: SCAN keeps its promise (a key that is
// there all the time is seen) for as long as the server runs. A Walk is for one
// goroutine.
type Walk struct {
	in     *Inspector
	q      Query
	nodes  []*nodeWalk
	cov    Coverage
	seen   map[string]family.Confidence // row ids of locks already given
	mu     sync.Mutex                   // guards what follows and its counts: batches are read side by side
	hidden keySet                       // keys counted in PossibleHidden
	unread keySet                       // keys counted in Refused
	first  string                       // the first of them, and why
	// known keys need no look: a Follower has them, or has found them ordinary.
	known    func(key string) bool
	ordinary func(key string) // told of keys that turned out to be no lock, side by side; may be nil
	each     func(Progress) bool
	surveyed *survey // where the node was asked already
	unhinted bool    // without looking for hints
	catch    func()  // takes panics of batches
}

// NewWalk prepares a pass; nothing is sent before Run.
func (in *Inspector) NewWalk(q Query) *Walk {
	w := &Walk{in: in, q: q, seen: map[string]family.Confidence{}, catch: func() {}}
	w.cov = Coverage{Match: q.Match, Nodes: len(in.nodes), Depth: q.Depth}
	if len(q.Match) == 0 {
		w.cov.Match = []string{"*"}
	}
	return w
}

// Coverage says what was looked at so far.
func (w *Walk) Coverage() Coverage {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.cov.clone()
	switch {
	case c.Refused == 1:
		c.Errors = append(c.Errors, "one key could not be read: "+w.first)
	case c.Refused > 1:
		c.Errors = append(c.Errors, fmt.Sprintf("%d keys could not be read, one of them %s", c.Refused, w.first))
	}
	return c
}

// Done reports whether every node was walked to its end.
func (w *Walk) Done() bool { return w.nodes != nil && w.cov.NodesScanned == len(w.nodes) }

// errStopped says that the caller of Run had enough.
var errStopped = errors.New("inspect: stopped")

// Run walks on until the end, until each returns false, or until ctx ends; only
// the last is an error. A node that fails is named in the coverage, and tried
// again by the next Run.
func (w *Walk) Run(ctx context.Context, each func(Progress) bool) error {
	w.each = each
	w.cov.Errors = nil
	if w.nodes == nil {
		w.prepare(ctx)
	}
	for _, n := range w.nodes {
		if n.done {
			continue
		}
		err := n.run(ctx)
		switch {
		case errors.Is(err, errStopped), ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.cov.Errors = append(w.cov.Errors, wire.Clean(n.Addr)+": "+reasonOf(err))
		default:
			n.done = true
			w.cov.NodesScanned++
		}
	}
	if w.Done() {
		w.seen = nil // nothing more is taken, and a Follower keeps its last walk
	}
	w.cov.Complete = w.Done() && w.cov.Refused == 0
	w.each(Progress{Coverage: w.Coverage(), end: true})
	return ctx.Err()
}

// prepare learns how large the keyspace is, and decides how deep to look.
func (w *Walk) prepare(ctx context.Context) {
	quiet := true
	w.cov.OtherDBsKnown = true
	for i, f := range w.surveys(ctx) {
		n := w.in.nodes[i]
		w.nodes = append(w.nodes, newNodeWalk(w, n, f))
		w.cov.Keyspace += f.keys
		w.cov.DBs = append(w.cov.DBs, n.DB)
		w.cov.OtherDBs = append(w.cov.OtherDBs, f.dbs...)
		w.cov.OtherDBsKnown = w.cov.OtherDBsKnown && f.dbsKnown
		quiet = quiet && (f.quiet || f.failed != nil) // one that does not answer cannot be disturbed
	}
	slices.Sort(w.cov.DBs)
	w.cov.DBs = slices.Compact(w.cov.DBs)
	w.cov.OtherDBs = slices.DeleteFunc(w.cov.OtherDBs, func(db int) bool { return slices.Contains(w.cov.DBs, db) })
	slices.Sort(w.cov.OtherDBs)
	w.cov.OtherDBs = slices.Compact(w.cov.OtherDBs)
	if w.q.Depth != Auto {
		return
	}
	w.cov.Depth = ByName
	if _, named := literals(w.q.Match); named || quiet && w.cov.Keyspace <= autoDeepLimit {
		w.cov.Depth = Deep
	}
}

// surveys asks all nodes at once: one that hangs keeps nobody waiting but itself.
func (w *Walk) surveys(ctx context.Context) []survey {
	if w.surveyed != nil {
		return []survey{*w.surveyed}
	}
	out := make([]survey, len(w.in.nodes))
	var all sync.WaitGroup
	for i, n := range w.in.nodes {
		all.Go(func() {
			defer w.catch()
			out[i] = surveyNode(ctx, n)
		})
	}
	all.Wait()
	return out
}

// nodeWalk is the pass over one node.
type nodeWalk struct {
	Node
	w       *Walk
	pacing  sync.Mutex // pages are asked for side by side
	pace    pacer
	guess   *typeGuess
	cursor  string // "": not begun
	done    bool
	hinted  bool
	named   bool // the operator named the keys: they are read whatever their names
	pattern string
	keys    int64 // as the server counted at the start
	scanned int64
	silent  error // it did not answer when it was surveyed, which is not to be waited for twice

	lists    chan []string // of pages that were looked at
	gathered []probe       // candidates that are not read yet
	readAt   time.Time     // when candidates were read last
}

func newNodeWalk(w *Walk, n Node, f survey) *nodeWalk {
	return &nodeWalk{
		Node: n, w: w, guess: newTypeGuess(), pattern: serverPattern(w.q.Match), keys: f.keys,
		pace: newPacer(w.q, f.rtt, f.ops), silent: f.failed, lists: make(chan []string, 2),
	}
}

// run walks on to the end of the cursor.
func (n *nodeWalk) run(ctx context.Context) error {
	if err := n.silent; err != nil {
		n.silent = nil
		return err
	}
	if !n.hinted && !n.w.unhinted {
		if err := n.hints(ctx); err != nil {
			return err
		}
		n.hinted = true
	}
	if keys, ok := literals(n.w.q.Match); ok {
		return n.byName(ctx, keys)
	}
	if n.cursor == "" {
		n.cursor = "0"
	}
	walk := n.politely
	if n.pace.full {
		walk = n.fast
	}
	if err := walk(ctx); err != nil {
		return err
	}
	n.cursor = ""
	return nil
}

// politely asks for a page, looks at it, and rests.
func (n *nodeWalk) politely(ctx context.Context) error {
	var r scanReader
	for {
		p := n.ask(ctx, &r, n.cursor, nil)
		began := time.Now()
		last, err := n.page(ctx, p)
		if err != nil || last {
			return err
		}
		if err := n.pace.rest(ctx, p.took+time.Since(began), len(p.keys)); err != nil {
			return err
		}
	}
}

// gatherFor is for how long candidates are gathered at full speed before they are
// read: where few keys are, a reading for every page would wait for the next page
// again and again, which the server is busy with.
const gatherFor = 250 * time.Millisecond

// page counts the keys of one answer and looks at those that may be locks.
func (n *nodeWalk) page(ctx context.Context, p page) (last bool, err error) {
	if p.err != nil {
		_ = n.readGathered(ctx) // they were counted; what fails here too is read when the walk goes on
		return false, p.err
	}
	last = p.last()
	walked := int64(len(p.keys))
	if n.pattern != "" {
		walked = int64(p.count) // so many were walked, few came back
		if last || n.scanned+walked > n.keys {
			walked = max(0, n.keys-n.scanned)
		}
	}
	n.scanned += walked
	n.w.cov.Scanned += walked
	n.gathered = append(n.gathered, n.candidates(p.keys)...)
	select {
	case n.lists <- p.keys:
	default:
	}
	if !last { // the last page is asked for again if what follows fails
		n.cursor = p.next
	}
	if n.pace.full && !last && len(n.gathered) < scanBatch && time.Since(n.readAt) < gatherFor {
		return false, n.give(nil)
	}
	return last, n.readGathered(ctx)
}

// readAtMost is how many candidates are read before what they are is handed over:
// a page may be full of locks.
const readAtMost = 8 * scanBatch

// readGathered reads the candidates and hands over what locks they are. After an
// error those that are not read yet are kept.
func (n *nodeWalk) readGathered(ctx context.Context) error {
	for first := true; first || len(n.gathered) > 0; first = false {
		some := min(len(n.gathered), readAtMost)
		found, err := n.read(ctx, n.gathered[:some])
		if err != nil {
			return err
		}
		n.gathered, n.readAt = slices.Delete(n.gathered, 0, some), time.Now()
		if err := n.give(found); err != nil {
			return err
		}
	}
	return nil
}

// give hands locks to the caller.
func (n *nodeWalk) give(found []Lock) error {
	if !n.w.each(Progress{Found: found, Coverage: n.w.Coverage()}) {
		return errStopped
	}
	return nil
}
