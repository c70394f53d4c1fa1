package scenario

import (
	"maps"
	"slices"
	"time"

	"fencepost/lockcore/wire"
)

// setStage writes what is there before the story begins.
func (e *engine) setStage() error {
	st := e.s.Stage
	e.store = storeRecord{value: st.Value}
	e.mainLock()
	lockNode := e.mainLock().node
	if st.Node != NodeClosed && st.Last != "" && !e.set[SwAcquire].Is("quorum", "mutex", "hash") {
		if err := e.lay(lockNode, wire.Command("SET", e.wire().keys(st.Lock).Counter, st.Last)); err != nil {
			return err
		}
	}
	if st.Other != "" && st.Last2 != "" {
		if err := e.lay(lockNode, wire.Command("SET", e.wire().keys(st.Other).Counter, st.Last2)); err != nil {
			return err
		}
	}
	if st.Value != "" {
		if err := e.lay(NodeStore, wire.Command("SET", e.wire().key(st.Store), st.Value)); err != nil {
			return err
		}
	}
	if st.Ver > 0 {
		if err := e.lay(NodeStore, wire.Command("SET", e.wire().key(st.Store+":version"), number(st.Ver))); err != nil {
			return err
		}
	}
	if st.Seen != "" && !e.set[SwGuard].Is("none", "holder") {
		e.store.highest = st.Seen
		return e.lay(NodeStore, wire.Command("SET", e.wire().key(st.seen()), e.seenValue(st.Seen, "t0")))
	}
	return nil
}

// lay writes one key of the stage.
func (e *engine) lay(node string, c wire.Call) error {
	replies, err := e.port.Do(e.ctx, node, c)
	if err != nil {
		return err
	}
	if bad, ok := replies[0].(error); ok {
		return bad
	}
	return nil
}

// seenValue is how this world's guard keeps the highest number: lockcore's own
// with the token that brought it, the home-made ones without.
func (e *engine) seenValue(number, token string) string {
	if e.guarded() {
		return number + ":" + token
	}
	return number
}

// guarded reports whether the store's own guard is lockcore's.
func (e *engine) guarded() bool { return e.set[SwGuard].Is("compare", "database", "idempotency") }

// view is the whole stage, as it is now.
func (e *engine) view() View {
	v := View{Now: e.now, Lock: e.mainLock().state, Value: e.store.value, By: e.store.by, Taken: e.store.taken,
		Refused: e.store.refused, Highest: e.store.highest, Broken: slices.Clone(e.run.Broken),
		Signals: maps.Clone(e.crowd.signals), Handed: e.crowd.handed}
	if len(e.grants) > 0 {
		v.LastHolder = e.grants[len(e.grants)-1].actor
	}
	for _, a := range e.order {
		thinks, num := a.belief()
		av := ActorView{Name: a.name, Came: a.number, Thinks: thinks, Number: num, Inside: a.inside, Crashed: a.crashed,
			Paused: a.pausedUntil > e.now, Stalled: a.stalledUntil > e.now}
		if g := a.grant; g != nil {
			av.Granted, av.Left = true, g.until-e.now
			if !g.live && g.until > e.now {
				av.Left = e.lockNamed(g.lock).free - e.now
			}
		}
		v.Actors = append(v.Actors, av)
	}
	return v
}

// finish judges the world.
func (e *engine) finish() *Run {
	r := e.run
	sortViolations(r.Broken)
	r.Verdict = Judge(r.Broken)
	r.Until = e.now
	for _, s := range e.s.Signals {
		if e.crowd.signals[s] > 0 {
			r.Signals = append(r.Signals, s)
		}
	}
	e.hangUp()
	return r
}

// lease is how long a lock is asked for.
func (e *engine) lease(a *actor) time.Duration {
	if d := e.set[SwAcquire].For("lease"); d > 0 {
		return d
	}
	if a.waiting != nil && e.s.Stage.WaiterLease > 0 {
		return e.s.Stage.WaiterLease
	}
	return e.s.Stage.Lease
}
