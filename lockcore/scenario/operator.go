package scenario

import "fencepost/lockcore/wire"

// actOperator is what somebody does who holds no lock and looks after those of
// others.
func (e *engine) actOperator(a *actor, act Act) {
	l := e.mainLock()
	switch act.Verb {
	case Look:
		e.look(a, l)
	case Delete:
		e.operatorDelete(a, l)
	case Evict:
		e.operatorEvict(a, l)
	}
}

func (e *engine) look(a *actor, l *lockRecord) {
	key := func(o on) string { return o.keys(l.name).Lock }
	value, ok := e.ask(l.node, func(o on) wire.Call { return wire.Command("GET", key(o)) })
	if !ok {
		e.sees(Outcome{Code: NoServer})
		return
	}
	text, _ := value.(string)
	a.saw = sighting{value: text, grant: l.live}
	if !l.state.Held {
		e.sees(Outcome{Code: Gone})
		return
	}
	e.sees(Outcome{Code: Seen, Who: l.state.Holder, Number: l.state.Number, Left: l.state.Left})
}

// operatorDelete deletes by name, or compares with what was seen.
func (e *engine) operatorDelete(a *actor, l *lockRecord) {
	compare := e.set[SwRelease].Is("seen")
	reply, ok := e.ask(l.node, func(o on) wire.Call {
		if compare {
			return script("cad").Call([]string{o.keys(l.name).Lock}, o.seen(a.saw.value))
		}
		return wire.Command("DEL", o.keys(l.name).Lock)
	})
	switch {
	case !ok:
		e.sees(Outcome{Code: NoServer})
	case reply == int64(1):
		e.removed(l, a.saw.grant)
		e.sees(Outcome{Code: Evicted})
	default:
		e.sees(Outcome{Code: Changed, Who: l.state.Holder, Number: l.state.Number})
	}
}

// operatorEvict releases what was seen. Where the number is raised, the guard
// learns it at once, so that the evicted holder is too old from then on.
func (e *engine) operatorEvict(a *actor, l *lockRecord) {
	raise := e.set[SwNumber].Is("raised")
	reply, ok := e.ask(l.node, func(o on) wire.Call {
		k := o.keys(l.name)
		if raise {
			return script("evict_raise").Call([]string{k.Lock, k.Counter}, o.seen(a.saw.value))
		}
		return script("cad").Call([]string{k.Lock}, o.seen(a.saw.value))
	})
	parts, _ := reply.([]any)
	switch {
	case !ok:
		e.sees(Outcome{Code: NoServer})
	case !raise && reply == int64(1):
		e.removed(l, a.saw.grant)
		e.sees(Outcome{Code: Evicted})
	case len(parts) == 2:
		e.removed(l, a.saw.grant)
		number, _ := parts[1].(string)
		e.ask(NodeStore, func(o on) wire.Call {
			return wire.Pass{Seen: o.key(e.s.Stage.seen()), Fence: number, Token: "raised"}.Enter()
		})
		e.highest(number)
		e.sees(Outcome{Code: Evicted, Number: number})
	default:
		e.sees(Outcome{Code: Changed, Who: l.state.Holder, Number: l.state.Number})
	}
}

// seen is a lock's value as it was read; a screen leaves its time out.
func (o on) seen(value string) string {
	if o.quote {
		return showReply(value)
	}
	return value
}
