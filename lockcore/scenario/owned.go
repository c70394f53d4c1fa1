package scenario

import (
	"time"

	"fencepost/lockcore/wire"
)

// deadLife is how long a tombstone forbids a token, in the story's time.
const deadLife = 20 * time.Second

// release gives the lock up, as the switch release says.
func (e *engine) release(a *actor) *request {
	l := e.lockOf(a)
	r := &request{verb: Release, apply: func(o Outcome) { e.releasedAs(a, o) }}
	single := func(do func() Outcome) { r.parts = append(r.parts, func() (Outcome, bool) { return do(), true }) }
	switch e.set[SwRelease].Word {
	case "del":
		single(func() Outcome { return e.releaseDel(a, l) })
	case "get-then-del":
		r.parts = append(r.parts, func() (Outcome, bool) { return e.releaseLook(a, l) })
		single(func() Outcome { return e.releaseDel(a, l) })
	case "cad":
		single(func() Outcome { return e.releaseCAD(a, l) })
	default:
		single(func() Outcome { return e.releaseScript(a, l) })
	}
	switch {
	case e.set[SwAcquire].Is("mutex"):
		r.parts = nil
		single(func() Outcome { return Outcome{Code: Released} })
	case e.set[SwAcquire].Is("quorum"):
		r.parts = nil
		single(func() Outcome { return e.releaseQuorum(a, l) })
	}
	return r
}

func (e *engine) releaseScript(a *actor, l *lockRecord) Outcome {
	if o, cut := e.cutOff(a); cut {
		return o
	}
	reply, ok := e.ask(l.node, func(o on) wire.Call {
		dead := o.short(deadLife).Milliseconds()
		k := o.keys(l.name)
		if f := e.fair(o, a, l); f != nil {
			return wire.UnlockFair(k, a.token, dead, *f)
		}
		return wire.Unlock(k, a.token, dead, k.Channel(0))
	})
	if !ok {
		return Outcome{Code: NoServer}
	}
	got, err := wire.ParseOwned(reply)
	if err != nil {
		return e.refusal(reply)
	}
	switch got.Status {
	case wire.Done:
		told := l.live != nil // a repeated answer tells nobody
		e.removed(l, a.grant)
		if told {
			e.wake(l)
		}
		return Outcome{Code: Released}
	case wire.NotYours:
		return Outcome{Code: NotYours}
	}
	return Outcome{Code: NothingYet}
}

func (e *engine) releaseDel(a *actor, l *lockRecord) Outcome {
	if o, cut := e.cutOff(a); cut {
		return o
	}
	reply, ok := e.ask(l.node, func(o on) wire.Call { return wire.Command("DEL", o.keys(l.name).Lock) })
	return e.deleted(a, l, reply, ok)
}

func (e *engine) releaseCAD(a *actor, l *lockRecord) Outcome {
	reply, ok := e.ask(l.node, func(o on) wire.Call {
		return script("cad").Call([]string{o.keys(l.name).Lock}, a.token)
	})
	return e.deleted(a, l, reply, ok)
}

func (e *engine) deleted(a *actor, l *lockRecord, reply any, ok bool) Outcome {
	switch {
	case !ok:
		return Outcome{Code: NoServer}
	case reply == int64(1):
		e.removed(l, a.grant)
		return Outcome{Code: Released}
	case l.state.Held:
		return Outcome{Code: NotYours}
	}
	return Outcome{Code: NothingYet}
}

// releaseLook is the first half of "if it is mine, delete it".
func (e *engine) releaseLook(a *actor, l *lockRecord) (Outcome, bool) {
	reply, ok := e.ask(l.node, func(o on) wire.Call { return wire.Command("GET", o.keys(l.name).Lock) })
	switch {
	case !ok:
		return Outcome{Code: NoServer}, true
	case reply != a.token:
		return Outcome{Code: NotYours}, true
	}
	return Outcome{Code: Mine, Left: l.state.Left}, false
}

// releasedAs is what the answer to a release does to the actor: it has left,
// whatever the answer was.
func (e *engine) releasedAs(a *actor, o Outcome) {
	if o.Code == NotYours || o.Code == NothingYet {
		e.count("release-owner-mismatch")
	}
	e.overtime(a)
	a.round++
	e.leave(a, ThinksNothing)
}

// renew lengthens the lease, as the switch renew says.
func (e *engine) renew(a *actor) *request {
	l := e.lockOf(a)
	return &request{verb: Renew,
		parts: []func() (Outcome, bool){func() (Outcome, bool) { return e.renewOnce(a, l), true }},
		apply: func(o Outcome) { e.renewed(a, o) }}
}

func (e *engine) renewOnce(a *actor, l *lockRecord) Outcome {
	switch {
	case a.split:
		return Outcome{Code: NoAnswer}
	case e.set[SwRenew].Has("shared-pool") && a.busyConnections(e.now) >= 2:
		e.count("pool-wait")
		return Outcome{Code: NoConn}
	}
	lease := e.lease(a)
	was := l.live
	reply, ok := e.ask(l.node, func(o on) wire.Call {
		k := o.keys(l.name)
		switch e.set[SwRenew].Word {
		case "pexpire":
			return wire.Command("PEXPIRE", k.Lock, o.ms(lease))
		case "set-missing":
			return script("renew_or_set").Call([]string{k.Lock}, a.token, o.ms(lease))
		case "thread":
			return script("thread_renew").Call([]string{k.Lock}, a.token, o.ms(lease))
		}
		return wire.Renew(k, a.token, o.short(lease).Milliseconds())
	})
	if !ok {
		return Outcome{Code: NoServer}
	}
	got, err := wire.ParseOwned(reply)
	switch {
	case err != nil:
		return e.refusal(reply)
	case got.Status == wire.NotYours && e.set[SwRenew].Is("script"):
		o := e.heldBy(l, string(got.Holder), -1)
		return Outcome{Code: Other, Who: o.Who, Number: o.Number}
	case got.Status != wire.Done:
		return Outcome{Code: Gone}
	}
	e.judgeRenewal(a, l, was)
	return Outcome{Code: Renewed}
}

// judgeRenewal looks at a renewal that Redis called a success.
func (e *engine) judgeRenewal(a *actor, l *lockRecord, was *grant) {
	switch {
	case a.grant == nil || was != a.grant:
		e.lengthened(l)
		if was == nil && a.grant != nil { // it put the key back
			a.grant.live, l.live = true, a.grant
		}
	case !e.living():
		e.immortal(a.grant)
	}
	if l.live != nil {
		l.live.until = e.now + e.lease(a)
		e.span(l.live.actor, Leased, l.live.at, l.live.until)
	}
}

// lengthened notes that somebody lengthened a lease that is not its own.
func (e *engine) lengthened(l *lockRecord) {
	e.broke(RenewalAfterLoss)
	if l.live != nil && !e.living() {
		e.immortal(l.live)
	}
}

func (e *engine) immortal(g *grant) {
	if !g.forever {
		g.forever = true
		e.broke(ImmortalLock)
	}
}

// renewed is what the answer does to the actor.
func (e *engine) renewed(a *actor, o Outcome) {
	switch o.Code {
	case Renewed:
		a.deadline = e.now + e.lease(a) - max(2*time.Millisecond, e.lease(a)/100)
		if a.inside {
			e.planDeadline(a)
		}
	case Other, Gone:
		e.count("lease-lost")
		a.round++
		e.leave(a, ThinksLost)
	default:
		e.count("renewal-failed")
	}
}

// overtime counts a grant that is used for longer than it was asked for.
func (e *engine) overtime(a *actor) {
	if g := a.grant; g != nil && !g.long && e.now-g.at > g.lease && !e.renewing() {
		g.long = true
		e.count("held-longer-than-ttl")
	}
}

// renewing reports whether leases are renewed in this world.
func (e *engine) renewing() bool { return !e.set[SwRenew].Is("none") }

// planRenewal sets the timer of the next renewal, where renewals come by themselves.
func (e *engine) planRenewal(a *actor) {
	every := e.set[SwRenew].For("every")
	if every == 0 || a.grant == nil {
		return
	}
	if limit := e.set[SwRenew].For("max-hold"); limit > 0 && e.now+every-a.grant.at >= limit {
		return
	}
	a.renewals++ // a renewal in between moves the one that is planned
	mine := a.renewals
	e.after(a, every, Renew, func() {
		if mine != a.renewals || !e.willing(a, Act{Verb: Renew}) {
			return
		}
		e.finishRequest(e.renew(a))
		e.planRenewal(a)
	})
}

// planDeadline sets the actor's own timer, which ends its work without asking
// anybody.
func (e *engine) planDeadline(a *actor) {
	if !e.set[SwDeadline].Is("timer") {
		return
	}
	due := a.deadline
	e.after(a, due-e.now, Leave, func() {
		if a.inside && a.deadline == due {
			e.sees(Outcome{Code: OverNow})
			e.count("lease-lost")
			e.leave(a, ThinksLost)
		}
	})
}

// askHeld is a thread that asks whether it holds the lock, and skips the unlock
// when it does not.
func (e *engine) askHeld(a *actor) {
	l := e.lockOf(a)
	self := or(e.s.Stage.Process[a.name], "p1") + ":" + or(e.s.Stage.Thread[a.name], "1")
	reply, _ := e.ask(l.node, func(o on) wire.Call { return wire.Command("HEXISTS", o.keys(l.name).Lock, self) })
	if reply == int64(1) {
		e.sees(Outcome{Code: Mine, Left: l.state.Left})
		return
	}
	e.sees(Outcome{Code: NotHere})
	e.count("release-owner-mismatch")
	if a.grant != nil && a.grant.live {
		e.broke(FalseReport) // it reports done, and the lock is still there
	}
	e.leave(a, ThinksNothing)
}
