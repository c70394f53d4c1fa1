package scenario

import (
	"strconv"

	"fencepost/lockcore/wire"
)

// actStore is what an actor does at the protected resource.
func (e *engine) actStore(a *actor, act Act) {
	switch act.Verb {
	case Read:
		e.read(a)
	case Write, Take:
		value := func() string { return a.toWrite(act) }
		if e.start(a, e.write(a, value), act); act.Begin && e.did.Sees.Code == Begun {
			e.did.Sees.Value = value()
		}
	case Put:
		e.put(a, strconv.FormatInt(act.Amount, 10))
	case Mark:
		e.start(a, e.write(a, func() string { return "paid" }), act)
	case Enter:
		e.sees(e.enter(a))
	case Check:
		e.check(a)
	case Pay:
		e.pay(a, act.Amount)
	case Report:
		e.sees(Outcome{Code: Done})
		if a.ignored {
			e.broke(FalseReport)
		}
	case Floor:
		e.readFloor(a)
	}
}

// toWrite is the value that the actor works out.
func (a *actor) toWrite(act Act) string {
	if act.Verb == Write {
		return strconv.FormatInt(act.Amount, 10)
	}
	n, _ := strconv.ParseInt(a.readVal, 10, 64) // a file's value that is no number counts as 0
	return strconv.FormatInt(n-act.Amount, 10)
}

// read reads the resource. Where the guard is entered before the first read,
// that comes first.
func (e *engine) read(a *actor) {
	if e.guarded() && e.set[SwEnter].Is("yes") && !a.entered && a.number != "" {
		act := e.did.Act
		e.did.Act, e.did.Does = Act{Verb: Enter}, Enter
		o := e.enter(a)
		e.sees(o)
		if o.Code != Entered {
			return
		}
		e.do(act)
	}
	key := func(o on) string { return o.key(e.s.Stage.Store) }
	reply, ok := e.ask(NodeStore, func(o on) wire.Call { return wire.Command("GET", key(o)) })
	if !ok {
		e.sees(Outcome{Code: NoServer})
		return
	}
	a.readVal, _ = reply.(string)
	a.hasRead, a.outdated, a.readSeq = true, false, len(e.store.writes)
	if e.s.Stage.Ver > 0 {
		v, _ := e.ask(NodeStore, func(o on) wire.Call { return wire.Command("GET", key(o)+":version") })
		text, _ := v.(string)
		a.version, _ = strconv.ParseInt(text, 10, 64)
	}
	e.met(a)
	e.sees(Outcome{Code: Value, Value: a.readVal})
}

// write is a write to the resource, as the switches guard and version say.
func (e *engine) write(a *actor, value func() string) *request {
	r := &request{verb: Write, apply: func(o Outcome) { e.wrote(a, o) }}
	single := func(do func() Outcome) { r.parts = append(r.parts, func() (Outcome, bool) { return do(), true }) }
	guard := e.set[SwGuard].Word
	switch {
	case e.set[SwVersion].Is("check"):
		single(func() Outcome { return e.writeVersion(a, value()) })
	case guard == "two-steps":
		r.parts = append(r.parts, func() (Outcome, bool) { return e.writeLook(a, value()) })
		single(func() Outcome { return e.writeBlind(a, value()) })
	case e.guarded() && a.number != "":
		single(func() Outcome { return e.writeGuarded(a, value()) })
	case guard == "le" || guard == "ne" || guard == "number-only":
		single(func() Outcome { return e.writeHomemade(a, value()) })
	default:
		single(func() Outcome { return e.writePlain(a, value()) })
	}
	return r
}

// took notes that the store holds the value now.
func (e *engine) took(a *actor, value string, code Code) Outcome {
	e.applied(a, true)
	e.store.value, e.store.by = value, a.name
	return Outcome{Code: code, Value: value}
}

func (e *engine) writePlain(a *actor, value string) Outcome {
	_, ok := e.send(NodeStore, func(o on) []wire.Call {
		calls := []wire.Call{wire.Command("SET", o.key(e.s.Stage.Store), o.value(value))}
		if e.s.Stage.Ver > 0 {
			calls = append(calls, wire.Command("INCR", o.key(e.s.Stage.Store+":version")))
		}
		return calls
	})
	switch {
	case !ok:
		return Outcome{Code: NoServer}
	case e.guarded():
		return e.took(a, value, Unnumbered)
	}
	return e.took(a, value, Taken)
}

// pass is what the actor shows to lockcore's guard.
func (e *engine) pass(o on, a *actor) wire.Pass {
	return wire.Pass{Seen: o.key(e.s.Stage.seen()), Fence: a.number, Token: a.token}
}

func (e *engine) writeGuarded(a *actor, value string) Outcome {
	reply, ok := e.ask(NodeStore, func(o on) wire.Call {
		return e.pass(o, a).Write(o.key(e.s.Stage.Store), o.value(value))
	})
	if !ok {
		return Outcome{Code: NoServer}
	}
	if o, refused := e.guardSaid(a, reply, value); refused {
		return o
	}
	e.highest(a.number)
	return e.took(a, value, Taken)
}

// guardSaid reads the answer of lockcore's guard, and reports whether it refused.
func (e *engine) guardSaid(a *actor, reply any, value string) (Outcome, bool) {
	got, err := wire.ParseGuard(reply)
	switch {
	case err != nil:
		return e.refusal(reply), true
	case got.Status == wire.Stale:
		e.refused(a)
		e.store.refused++
		return Outcome{Code: Refused, Number: got.Seen, Value: value}, true
	case got.Status == wire.Split:
		e.store.refused++
		return Outcome{Code: SplitNum, Number: got.Seen, Value: value}, true
	}
	return Outcome{}, false
}

// enter shows the number to the guard before anything is read.
func (e *engine) enter(a *actor) Outcome {
	number := e.set[SwGuard].Is("number-only")
	reply, ok := e.ask(NodeStore, func(o on) wire.Call {
		if number {
			return script("guard_ge").Call([]string{o.key(e.s.Stage.seen())}, a.number)
		}
		return e.pass(o, a).Enter()
	})
	if !ok {
		return Outcome{Code: NoServer}
	}
	if o, refused := e.guardSaid(a, reply, ""); refused {
		if o.Code == Refused {
			a.lost, a.thinks = true, ThinksLost
			e.count("lease-lost")
		}
		return o
	}
	e.highest(a.number)
	a.entered = true
	e.met(a)
	return Outcome{Code: Entered, Number: a.number}
}

// wrote is what the answer to a write does to the actor.
func (e *engine) wrote(a *actor, o Outcome) {
	switch o.Code {
	case NoRows:
		a.outdated = true
	case Refused:
		if e.set[SwGuard].Is("le", "ne") {
			a.ignored = true // its code does not look at the count of rows
			return
		}
		a.lost, a.thinks = true, ThinksLost
		e.count("lease-lost")
	}
}
