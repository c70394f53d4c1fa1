package scenario

import "slices"

// act does one act of a line, or notes that it does not happen.
func (e *engine) act(a *actor, act Act) {
	if a != nil && !e.willing(a, act) {
		if len(e.step.Dids) == 0 && e.step.Skipped == "" {
			e.step.Skipped = act.Verb
		}
		return
	}
	e.step.Skipped = ""
	e.do(act)
	if a == nil {
		e.actNobody(act)
		return
	}
	switch act.Verb {
	case Acquire, Try, LastTry, Release, Renew, Resume, Resend, Told, GiveUp, Again, AskHeld:
		e.actLock(a, act)
	case Wait, Subscribe, Sleep, Cancel:
		e.actWait(a, act)
	case Look, Delete, Evict:
		e.actOperator(a, act)
	case Read, Write, Take, Put, Enter, Check, Pay, Mark, Report, Floor:
		e.actStore(a, act)
	default:
		e.actWork(a, act)
	}
}

// willing reports whether the actor's code does this at all. One that is not
// inside, as far as it knows, does not go on; one that was told that it lost
// only gives up the lock.
func (e *engine) willing(a *actor, act Act) bool {
	switch {
	case a.crashed:
		return false
	case act.Verb == Resume:
		return a.pending != nil
	case act.Verb == Renew:
		return a.inside || a.grant != nil && (e.set[SwRenew].Has("own-task") || e.set[SwRenew].Is("thread"))
	case act.Verb == Subscribe || act.Verb == Sleep || act.Verb == Cancel:
		return a.waiting != nil
	case act.Verb == Told:
		return a.answer != nil
	case act.Verb == Release && a.thinks == ThinksLost && a.grant != nil:
		return true // try … finally unlock: also after a loss
	case act.Verb == Resend:
		return a.unanswered != nil
	case act.Verb == Wake:
		return true
	case !verbs()[act.Verb].inside:
		return true
	case !a.inside:
		return false
	}
	if a.outdated && (act.Verb == Take || act.Verb == Write) {
		return false // it has to read again first
	}
	afterLoss := []Verb{Release, Leave, Fail, Again, Report}
	return !a.lost || slices.Contains(afterLoss, act.Verb)
}

// actWork is what happens to a worker and to its process.
func (e *engine) actWork(a *actor, act Act) {
	e.sees(Outcome{Code: Done})
	switch act.Verb {
	case Stall, Work:
		a.stalledUntil = e.now + act.For
	case Pause:
		a.pausedUntil = e.now + act.For
		e.span(a.name, Halted, e.now, a.pausedUntil)
		if 3*act.For > e.lease(a) {
			e.count("pause-over-third-of-ttl")
		}
	case Crash:
		e.leave(a, IsCrashed)
		a.crashed = true
	case Fail:
		e.fail(a)
	case Leave:
		e.leave(a, ThinksNothing)
	case Hand:
		e.hand(a, e.actors[act.Who])
	case Block:
		a.blocked = append(a.blocked, e.now+act.For)
		e.step.Emulated = true
	}
}

// fail is work that ends with an error before the unlock. Whether the way out
// unlocks is a matter of how renewal is tied to the work.
func (e *engine) fail(a *actor) {
	e.count("work-failed")
	if e.set[SwRenew].Has("own-task") {
		e.leave(a, ThinksNothing)
		return
	}
	a.round++ // no renewal after this
	e.finishRequest(e.release(a))
}

// hand gives the work and the lease's token to another.
func (e *engine) hand(from, to *actor) {
	to.token, to.number, to.grant, to.deadline = from.token, from.number, from.grant, from.deadline
	e.leave(from, ThinksNothing)
	to.thinks = ThinksHeld
	to.inside, to.since = true, e.now
	e.span(to.name, Within, e.now, open)
}

// actNobody is what the network and the server do.
func (e *engine) actNobody(act Act) {
	e.sees(Outcome{Code: Done})
	other := e.actors[act.Who]
	switch act.Verb {
	case Split, Heal:
		e.cut(other, act)
	case Deliver:
		e.deliver(other)
	case Settle:
	case Over:
		e.over()
	default:
		e.actServer(act)
	}
}

// cut keeps an actor away from the lock server, or from some masters of a
// quorum, or lets it through again.
func (e *engine) cut(a *actor, act Act) {
	switch {
	case len(act.Nodes) == 0:
		a.split = act.Verb == Split
	case act.Verb == Split:
		a.cutFrom = slices.Concat(a.cutFrom, act.Nodes)
	default:
		a.cutFrom = slices.DeleteFunc(slices.Clone(a.cutFrom), func(n string) bool { return slices.Contains(act.Nodes, n) })
	}
}
