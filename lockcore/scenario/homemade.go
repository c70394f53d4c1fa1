package scenario

import (
	"strconv"
	"time"

	"fencepost/lockcore/wire"
)

// writeHomemade is a guard that somebody wrote without reading up: it refuses
// numbers up to the one seen, or all others, or compares no token.
func (e *engine) writeHomemade(a *actor, value string) Outcome {
	name := map[string]string{"le": "guard_le", "ne": "guard_ne", "number-only": "guard_ge"}[e.set[SwGuard].Word]
	reply, ok := e.ask(NodeStore, func(o on) wire.Call {
		return script(name).Call([]string{o.key(e.s.Stage.seen()), o.key(e.s.Stage.Store)}, a.number, o.value(value))
	})
	if !ok {
		return Outcome{Code: NoServer}
	}
	if parts, refused := reply.([]any); refused && len(parts) == 2 {
		seen, _ := parts[1].(string)
		e.refused(a)
		e.store.refused++
		return Outcome{Code: Refused, Number: seen, Value: value}
	}
	e.highest(a.number)
	return e.took(a, value, Taken)
}

// writeLook is the first half of a guard that looks, then writes.
func (e *engine) writeLook(a *actor, value string) (Outcome, bool) {
	reply, ok := e.ask(NodeStore, func(o on) wire.Call { return wire.Command("GET", o.key(e.s.Stage.seen())) })
	if !ok {
		return Outcome{Code: NoServer}, true
	}
	if seen, _ := reply.(string); wire.LessFence(a.number, seen) {
		e.refused(a)
		e.store.refused++
		return Outcome{Code: Refused, Number: seen, Value: value}, true
	}
	return Outcome{Code: Mine}, false
}

// writeBlind is the second half: it writes number and value, whatever is there.
func (e *engine) writeBlind(a *actor, value string) Outcome {
	_, ok := e.ask(NodeStore, func(o on) wire.Call {
		return wire.Command("MSET", o.key(e.s.Stage.seen()), a.number, o.key(e.s.Stage.Store), o.value(value))
	})
	if !ok {
		return Outcome{Code: NoServer}
	}
	e.highest(a.number)
	return e.took(a, value, Taken)
}

// writeVersion writes only over the version that was read.
func (e *engine) writeVersion(a *actor, value string) Outcome {
	reply, ok := e.ask(NodeStore, func(o on) wire.Call {
		store := o.key(e.s.Stage.Store)
		return script("write_version").Call([]string{store, store + ":version"}, strconv.FormatInt(a.version, 10), o.value(value))
	})
	switch {
	case !ok:
		return Outcome{Code: NoServer}
	case reply != int64(1):
		e.store.refused++
		return Outcome{Code: NoRows, Value: value}
	}
	a.version++
	return e.took(a, value, Taken)
}

// put is a write by somebody who asked for no lock.
func (e *engine) put(a *actor, value string) {
	e.sees(e.writePlain(a, value))
}

// check looks whether the lock is still the actor's.
func (e *engine) check(a *actor) {
	l := e.lockOf(a)
	key := func(o on) string { return o.keys(l.name).Lock }
	value, ok1 := e.ask(l.node, func(o on) wire.Call { return wire.Command("GET", key(o)) })
	reply, ok2 := e.ask(l.node, func(o on) wire.Call { return wire.Command("PTTL", key(o)) })
	text, _ := value.(string)
	pttl, _ := reply.(int64)
	switch {
	case !ok1 || !ok2:
		e.sees(Outcome{Code: NoServer})
	case a.grant != nil && a.grant.holds(text) && pttl >= 0:
		left := e.left(l.node, key(e.wire()), pttl)
		e.retell(strconv.FormatInt(left.Milliseconds(), 10))
		e.sees(Outcome{Code: Mine, Left: left})
	default:
		e.sees(Outcome{Code: NotYours})
		e.leave(a, ThinksLost)
	}
}

// pay asks a service that knows nothing of numbers.
func (e *engine) pay(a *actor, amount int64) {
	once := e.set[SwGuard].Is("idempotency")
	ledger := "payments:{order-9}"
	sum := strconv.FormatInt(amount, 10)
	reply, ok := e.ask(NodeStore, func(o on) wire.Call {
		if once {
			return script("pay_once").Call([]string{o.key(ledger), o.key(ledger + ":charge-order-9")}, sum)
		}
		return wire.Command("RPUSH", o.key(ledger), sum)
	})
	n, _ := reply.(int64)
	switch {
	case !ok:
		e.sees(Outcome{Code: NoServer})
	case n == 0:
		e.sees(Outcome{Code: Already})
	default:
		e.applied(a, false)
		e.sees(Outcome{Code: Charged, Value: strconv.FormatInt(n, 10)})
	}
}

// readFloor reads what the guard has seen, so that the next acquire gets a
// larger number.
func (e *engine) readFloor(a *actor) {
	reply, _ := e.ask(NodeStore, func(o on) wire.Call { return wire.Command("GET", o.key(e.s.Stage.seen())) })
	text, _ := reply.(string)
	for i, r := range text {
		if r == ':' {
			text = text[:i]
			break
		}
	}
	a.floor = text
	e.sees(Outcome{Code: FloorAt, Number: text})
}

// overMargin is how long after the end of a lease it is looked at: at the
// deadline itself one server has the key still and another has not.
const overMargin = 100 * time.Millisecond

// over looks whether the lease has ended.
func (e *engine) over() {
	if err := e.port.Sleep(e.ctx, e.now+overMargin); err != nil {
		e.err = err
		return
	}
	e.now += overMargin
	e.observe()
	l := e.mainLock()
	reply, ok := e.ask(l.node, func(o on) wire.Call { return wire.Command("PTTL", o.keys(l.name).Lock) })
	pttl, _ := reply.(int64)
	switch {
	case !ok:
		e.sees(Outcome{Code: NoServer})
	case pttl == -2:
		e.sees(Outcome{Code: OverNow})
	default:
		e.sees(Outcome{Code: StillHeld, Who: l.state.Holder, Number: l.state.Number, Left: l.state.Left})
		if !l.state.Forever {
			e.retell(strconv.FormatInt(l.state.Left.Milliseconds(), 10))
		}
	}
}
