package scenario

import (
	"strconv"
	"time"

	"fencepost/lockcore/wire"
)

// acquire is a request for the lock, as the switch acquire says.
func (e *engine) acquire(a *actor) *request {
	l := e.lockOf(a)
	lease := e.lease(a)
	sent := e.now
	r := &request{verb: Acquire, apply: func(o Outcome) { e.acquired(a, o, sent, lease) }}
	switch e.set[SwAcquire].Word {
	case "script":
		r.parts = append(r.parts, func() (Outcome, bool) { return e.acquireScript(a, l, lease), true })
	case "mutex":
		r.parts = append(r.parts, func() (Outcome, bool) { return Outcome{Code: AtOnce}, true })
	case "hash":
		r.parts = append(r.parts, func() (Outcome, bool) { return e.acquireHash(a, l, lease), true })
	case "quorum":
		r.parts = append(r.parts, func() (Outcome, bool) { return e.acquireQuorum(a, l, lease), true })
	case "multi-setnx":
		r.parts = append(r.parts, func() (Outcome, bool) { return e.acquireMulti(a, l, lease), true })
	default:
		r.parts = e.acquirePlain(a, l, lease)
	}
	return r
}

// acquireScript is lockcore's own acquire.
func (e *engine) acquireScript(a *actor, l *lockRecord, lease time.Duration) Outcome {
	if o, cut := e.cutOff(a); cut {
		return o
	}
	reply, ok := e.ask(l.node, func(o on) wire.Call {
		return wire.Acquire{Keys: o.keys(l.name), Token: a.token, TTLMS: o.short(lease).Milliseconds(),
			Floor: a.floor, Fair: e.fair(o, a, l)}.Call()
	})
	if !ok {
		return Outcome{Code: NoServer}
	}
	got, err := wire.ParseAcquire(reply)
	switch {
	case err != nil:
		return e.refusal(reply)
	case got.Status == wire.Granted:
		if l.live == nil || !l.live.holds(a.token) { // else an earlier try was granted
			e.granted(a, l, a.token, got.Fence, lease)
		}
		return Outcome{Code: Granted, Number: got.Fence}
	case got.Status == wire.Forbidden:
		return Outcome{Code: Dead}
	}
	return e.heldBy(l, string(got.Holder), got.WaitMS)
}

// heldBy is an answer that names the holder. Its PTTL is told in the story's time.
func (e *engine) heldBy(l *lockRecord, value string, pttl int64) Outcome {
	if value == "" { // the time for which it is kept is measured, so no transcript has it
		e.retell("[0, free, kept for another waiter]")
		return Outcome{Code: Kept}
	}
	o := Outcome{Code: HeldBy, Left: -1}
	if pttl >= 0 {
		o.Left = e.left(l.node, e.wire().keys(l.name).Lock, pttl)
		e.retell("[0, " + showReply(value) + ", " + strconv.FormatInt(o.Left.Milliseconds(), 10) + "]")
	}
	for _, g := range e.grants {
		if g.lock == l.name && g.holds(value) {
			o.Who, o.Number = g.actor, g.number
		}
	}
	return o
}

// retell replaces a reply that holds a measured time by one in the story's.
func (e *engine) retell(reply string) { e.did.Sent[len(e.did.Sent)-1].Reply = reply }

// refusal is an error that Redis answered.
func (e *engine) refusal(reply any) Outcome {
	if bad, ok := reply.(error); ok {
		if len(bad.Error()) > 3 && bad.Error()[:3] == "OOM" {
			return Outcome{Code: Full}
		}
		return Outcome{Code: Broke, Value: wire.Clean(bad.Error())}
	}
	return Outcome{Code: Broke, Value: showReply(reply)}
}

// acquirePlain is SET NX with an expiry, SETNX with an EXPIRE behind it, or SET
// NX with a number from an INCR of its own.
func (e *engine) acquirePlain(a *actor, l *lockRecord, lease time.Duration) []func() (Outcome, bool) {
	first := func() (Outcome, bool) {
		if o, cut := e.cutOff(a); cut {
			return o, true
		}
		reply, ok := e.ask(l.node, func(o on) wire.Call { return e.setCall(o, a, l, lease) })
		if !ok {
			return Outcome{Code: NoServer}, true
		}
		if reply != "OK" && reply != int64(1) {
			if _, bad := reply.(error); bad {
				return e.refusal(reply), true
			}
			return Outcome{Code: Denied}, true
		}
		e.granted(a, l, a.token, "", lease)
		if e.set[SwAcquire].Is("setnx-expire") {
			return Outcome{Code: Bare}, false
		}
		return Outcome{Code: Granted}, false
	}
	parts := []func() (Outcome, bool){first}
	if e.set[SwAcquire].Is("setnx-expire") {
		parts = append(parts, func() (Outcome, bool) {
			e.ask(l.node, func(o on) wire.Call {
				return wire.Command("PEXPIRE", o.keys(l.name).Lock, o.ms(lease))
			})
			return Outcome{Code: Granted}, true
		})
	}
	if e.set[SwNumber].Is("separate") {
		parts = append(parts, func() (Outcome, bool) {
			reply, _ := e.ask(l.node, func(o on) wire.Call { return wire.Command("INCR", o.keys(l.name).Counter) })
			n, _ := reply.(int64)
			e.numbered(a.grant, number(n))
			return Outcome{Code: Granted, Number: number(n)}, true
		})
	}
	return parts
}

func (e *engine) setCall(o on, a *actor, l *lockRecord, lease time.Duration) wire.Call {
	key := o.keys(l.name).Lock
	switch {
	case e.set[SwAcquire].Is("setnx-expire"):
		return wire.Command("SETNX", key, a.token)
	case e.set[SwAcquire].Is("set-nx-ex") && !o.warped:
		return wire.Command("SET", key, a.token, "NX", "EX", strconv.FormatInt(int64(lease/time.Second), 10))
	}
	return wire.Command("SET", key, a.token, "NX", "PX", o.ms(lease))
}

// acquireMulti puts SETNX and PEXPIRE into one transaction. The PEXPIRE runs
// for the loser too, and lengthens the holder's lease.
func (e *engine) acquireMulti(a *actor, l *lockRecord, lease time.Duration) Outcome {
	replies, ok := e.send(l.node, func(o on) []wire.Call {
		key := o.keys(l.name).Lock
		return []wire.Call{wire.Command("SETNX", key, a.token), wire.Command("PEXPIRE", key, o.ms(lease))}
	})
	switch {
	case !ok:
		return Outcome{Code: NoServer}
	case replies[0] == int64(1):
		e.granted(a, l, a.token, "", lease)
		return Outcome{Code: Granted}
	case replies[1] == int64(1):
		e.lengthened(l)
	}
	return Outcome{Code: Denied}
}

// acquireHash is a re-entrant lock that counts per owner, as some libraries
// keep it. An owner that comes again is let in, whoever it is.
func (e *engine) acquireHash(a *actor, l *lockRecord, lease time.Duration) Outcome {
	reply, ok := e.ask(l.node, func(o on) wire.Call {
		return script("thread_lock").Call([]string{o.keys(l.name).Lock}, a.token, o.ms(lease))
	})
	parts, _ := reply.([]any)
	if !ok || len(parts) != 2 {
		return Outcome{Code: NoServer}
	}
	n, _ := parts[1].(int64)
	if parts[0] == int64(0) {
		o := Outcome{Code: HeldBy, Left: e.left(l.node, e.wire().keys(l.name).Lock, n)}
		e.retell("[0, " + strconv.FormatInt(o.Left.Milliseconds(), 10) + "]")
		if l.live != nil {
			o.Who = l.live.actor
		}
		return o
	}
	if n == 1 {
		e.granted(a, l, a.token, "", lease)
	}
	return Outcome{Code: Granted, Value: strconv.FormatInt(n, 10)}
}

// acquired is what an answer to an acquire does to the actor.
func (e *engine) acquired(a *actor, o Outcome, sent, lease time.Duration) {
	a.hasRead, a.entered, a.ignored, a.outdated = false, false, false, false
	switch o.Code {
	case Granted, AtOnce:
		a.number, a.thinks = o.Number, ThinksHeld
		if o.Code == Granted && o.Number == "" && a.grant != nil {
			a.number = a.grant.number
		}
		a.deadline = sent + lease - max(2*time.Millisecond, lease/100)
		if o.Code == AtOnce {
			a.grant = nil
		}
		e.entered(a)
		e.planRenewal(a)
		e.planDeadline(a)
		e.waitReplicas(a)
	case NoAnswer, NoServer, Broke:
		a.thinks = ThinksUnknown
		if o.Code != NoAnswer {
			a.thinks = ThinksNothing
		}
		if e.set[SwAcquire].Has("fail-open") {
			a.thinks = ThinksHeld
			e.sees(Outcome{Code: Assumed})
			e.entered(a)
		}
	default:
		a.thinks = ThinksNothing
		if a.waiting != nil {
			a.thinks = ThinksWaiting
		}
		e.notBegun()
	}
}

// notBegun is what a caller makes of "not acquired".
func (e *engine) notBegun() {
	if len(e.s.Switch) == 0 || e.s.Switch[0] != SwReport {
		return
	}
	e.count("acquire-timeout")
	if e.set[SwReport].Is("one-exception") {
		e.count("work-failed")
		e.sees(Outcome{Code: CalledFail})
		e.broke(FalseReport)
		return
	}
	e.sees(Outcome{Code: NotBegun})
}

// cutOff reports whether the network keeps the actor from the lock server.
func (e *engine) cutOff(a *actor) (Outcome, bool) {
	return Outcome{Code: NoAnswer}, a.split
}
