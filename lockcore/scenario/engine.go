package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"fencepost/lockcore/wire"
)

// Options say how a world is played.
type Options struct {
	Seed   int64
	Where  Where
	Prefix string  // stands before every key on the wire; "" in the sandbox
	Ends   *Ending // how the file says it ends; see Scenario.With
}

// Play plays one world of a story over a port. It returns what was played even
// when it fails halfway: a server that cannot be reached ends it with an error.
func Play(ctx context.Context, s *Scenario, w *World, port Port, opt Options) (*Run, error) {
	e := newEngine(ctx, s, w, port, opt)
	if v, needs := w.needsServers(); needs && e.servers == nil {
		return nil, fmt.Errorf("%w (%s: %s)", ErrNeedsServers, s.Name, v)
	}
	err := e.setStage()
	for n := 0; err == nil; n++ {
		if n == mostEvents {
			err = ErrEndless
			break
		}
		it, ok := e.next()
		if !ok {
			break
		}
		if err = e.advance(it.at); err == nil {
			err = e.play(it)
		}
	}
	if err == nil && s.Stage.Until > e.now {
		err = e.advance(s.Stage.Until)
	}
	return e.finish(), err
}

// mostEvents is how many things may happen in one world.
const mostEvents = 20_000

// ErrEndless says that too much happens in a world.
var ErrEndless = errors.New("scenario: more than 20000 things happen in this world; are its renewals or polls too close together?")

// engine plays one world. It is single-threaded: one thing happens at a time.
type engine struct {
	ctx     context.Context
	s       *Scenario
	w       *World
	set     Settings
	port    Port
	warp    Warped  // nil in true virtual time
	servers Servers // nil on a chosen Redis
	opt     Options
	rng     *rand.Rand

	now   time.Duration
	items []item // the schedule and the timers, unordered
	seq   int
	lastN int

	actors map[string]*actor
	order  []*actor
	locks  map[string]*lockRecord
	grants []*grant
	store  storeRecord
	crowd  crowd

	run  *Run
	down map[string]bool // servers that the story has stopped
	// keptOut are masters of a quorum that nobody asks until then.
	keptOut map[string]time.Duration
	step    *Step // being played
	did     *Did  // being done
	err     error // the port gave up
}

// item is something that is due: a line of the story, or a timer.
type item struct {
	at    time.Duration
	seq   int
	line  *Line
	timer *timer
}

// timer is something that an actor's process does by itself.
type timer struct {
	who  *actor
	verb Verb
	n    int // the wait or the renewal that it belongs to; see actor.round
	fire func()
}

func newEngine(ctx context.Context, s *Scenario, w *World, port Port, opt Options) *engine {
	e := &engine{ctx: ctx, s: s, w: w, set: w.Set, port: port, opt: opt,
		rng:    rand.New(rand.NewPCG(uint64(opt.Seed), 7)),
		actors: make(map[string]*actor), down: make(map[string]bool), keptOut: make(map[string]time.Duration), locks: make(map[string]*lockRecord),
		run: &Run{Name: s.Name, World: w.Name, Seed: opt.Seed, Where: opt.Where, Guarded: w.Guarded(),
			Switch: s.switched(w), Ends: opt.Ends, Actors: w.Actors(),
			Lease: s.Stage.Lease, Schedule: w.Schedule},
	}
	if d := e.set[SwAcquire].For("lease"); d > 0 {
		e.run.Lease = d
	}
	e.warp, _ = port.(Warped)
	e.servers, _ = port.(Servers)
	for i, name := range e.run.Actors {
		a := &actor{name: name, index: i, thinks: ThinksNothing}
		e.actors[name] = a
		e.order = append(e.order, a)
	}
	for i := range w.Lines {
		for _, at := range w.Lines[i].At {
			e.add(item{at: at, line: &w.Lines[i]})
		}
	}
	return e
}

func (e *engine) add(it item) {
	e.seq++
	it.seq = e.seq
	e.items = append(e.items, it)
}

// next takes out what is due first. At the same moment the story's own lines
// come before timers. Timers alone do not go on past the end of the story.
func (e *engine) next() (item, bool) {
	best, lines := -1, 0
	for i, it := range e.items {
		if it.line != nil {
			lines++
		}
		if best < 0 || it.before(e.items[best]) {
			best = i
		}
	}
	if best < 0 || lines == 0 && e.items[best].at > e.s.Stage.Until {
		return item{}, false
	}
	it := e.items[best]
	e.items = slices.Delete(e.items, best, best+1)
	return it, true
}

func (a item) before(b item) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if (a.line != nil) != (b.line != nil) {
		return a.line != nil
	}
	return a.seq < b.seq
}

// after sets a timer of an actor's process.
func (e *engine) after(a *actor, d time.Duration, verb Verb, fire func()) {
	e.add(item{at: e.now + d, timer: &timer{who: a, verb: verb, n: a.round, fire: fire}})
}

// advance lets time pass, and looks at the rules that time alone can break.
func (e *engine) advance(to time.Duration) error {
	if to > e.now {
		if err := e.port.Sleep(e.ctx, to); err != nil {
			return err
		}
		e.now = to
		e.observe()
		e.sleepers()
	}
	return e.err
}

// play does what is due.
func (e *engine) play(it item) error {
	if it.timer != nil {
		e.playTimer(it)
		return e.err
	}
	a := e.actors[it.line.Actor]
	if a != nil && !a.crashed {
		if until := a.busyUntil(it.line.Acts[0].Verb); until > e.now {
			it.at = until // its code does not run now: this comes when it does
			e.add(it)
			return nil
		}
	}
	e.lastN = it.line.N
	e.begin(it.line.N, it.line.Actor)
	e.step.Forked = it.line.Forked
	for _, act := range it.line.Acts {
		if e.err == nil {
			e.act(a, act)
		}
	}
	e.end(a)
	if a != nil && a.pending == nil {
		a.runOverdue(e)
	}
	return e.err
}

func (e *engine) playTimer(it item) {
	a, t := it.timer.who, it.timer
	switch {
	case a.crashed || t.n != a.round:
		return
	case a.pausedUntil > e.now:
		// A stopped process has no timers. When it wakes, the statement that
		// was interrupted goes on before any of them fires.
		if a.pending != nil {
			a.overdue = append(a.overdue, t)
			return
		}
		it.at = a.pausedUntil
		e.add(it)
		return
	}
	e.fire(t)
}

func (e *engine) fire(t *timer) {
	e.begin(e.lastN, t.who.name)
	e.step.Auto = true
	e.do(Act{Verb: t.verb})
	t.fire()
	e.end(t.who)
}

// begin opens the record of a step.
func (e *engine) begin(n int, actor string) {
	e.step = &Step{N: n, At: e.now, Last: e.now, Times: 1, Actor: actor}
}

// do opens the record of one act within the step.
func (e *engine) do(act Act) {
	does := act.Verb
	if does == Take || does == Put || does == Mark {
		does = Write
	}
	e.step.Dids = append(e.step.Dids, Did{Act: act, Does: does})
	e.did = &e.step.Dids[len(e.step.Dids)-1]
}

// sees notes what the act came to.
func (e *engine) sees(o Outcome) { e.did.Sees = o }

// end closes the step: asks Redis how things are, looks at the rules, and keeps
// the picture of the stage.
func (e *engine) end(a *actor) {
	s := e.step
	if s.Auto && len(s.Dids) == 1 && s.Dids[0].Sees.Code == "" && len(s.Dids[0].Sent) == 0 {
		return // the timer had nothing to do
	}
	e.observe()
	e.stuck()
	if a != nil {
		s.Thinks, s.Number = a.belief()
		s.Is = e.lockOf(a).state
	} else {
		s.Is = e.mainLock().state
	}
	s.View = e.view()
	if !e.merge(s) {
		e.run.Steps = append(e.run.Steps, *s)
	}
}

// merge counts a step that only repeats an earlier one of the same number.
func (e *engine) merge(s *Step) bool {
	if len(s.Broken) > 0 || len(s.Dids) != 1 {
		return false
	}
	for i := len(e.run.Steps) - 1; i >= 0; i-- {
		old := &e.run.Steps[i]
		if old.N != s.N || len(old.Broken) > 0 && old.Actor != s.Actor {
			return false
		}
		if old.Actor != s.Actor {
			continue
		}
		if old.Auto != s.Auto || old.Skipped != s.Skipped || len(old.Dids) != 1 ||
			old.Dids[0].Act.String() != s.Dids[0].Act.String() || old.Dids[0].Sees.plain() != s.Dids[0].Sees.plain() {
			return false
		}
		old.Times += s.Times
		old.Last, old.Is, old.View = s.Last, s.Is, s.View
		return true
	}
	return false
}

// broke notes a broken rule, once a step.
func (e *engine) broke(r Rule) {
	v := Violation{Rule: r, Step: e.lastN, Aside: slices.Contains(e.s.Aside, r)}
	if e.step != nil {
		v.Step = e.step.N
	}
	if slices.Contains(e.run.Broken, v) {
		return
	}
	e.run.Broken = append(e.run.Broken, v)
	if e.step != nil {
		e.step.Broken = append(e.step.Broken, v)
	}
}

// send sends calls to a node, as one transaction where there are several, and
// notes what a reader would have typed. ok is false when nothing came back.
func (e *engine) send(node string, build func(on) []wire.Call) (replies []any, ok bool) {
	shown := show(build(on{short: func(d time.Duration) time.Duration { return d }, quote: true}))
	replies, err := e.port.Do(e.ctx, node, build(e.wire())...)
	sent := Sent{Node: node, Line: prompt(node) + shown}
	switch {
	case e.ctx.Err() != nil:
		e.err = e.ctx.Err()
	case err != nil && node != NodeClosed && !e.down[node]:
		e.broken(err)
	case err != nil:
		sent.Reply = "(no answer: " + err.Error() + ")"
	default:
		sent.Reply = showReplies(replies)
	}
	e.did.Sent = append(e.did.Sent, sent)
	return replies, err == nil
}

// broken breaks the story off: a server that goes away is not part of it.
func (e *engine) broken(err error) {
	if e.err == nil && err != nil {
		e.err = fmt.Errorf("scenario: the server did not answer, so the story was broken off: %w", err)
	}
}

// ask is send for one call.
func (e *engine) ask(node string, build func(on) wire.Call) (reply any, ok bool) {
	replies, ok := e.send(node, func(o on) []wire.Call { return []wire.Call{build(o)} })
	if !ok || len(replies) == 0 {
		return nil, false
	}
	return replies[0], true
}

func (e *engine) wire() on {
	o := on{prefix: e.opt.Prefix, short: func(d time.Duration) time.Duration { return d }}
	if e.warp != nil {
		o.short = e.warp.Short
		o.warped = true
	}
	return o
}
