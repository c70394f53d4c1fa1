package scenario

import "strconv"

// actLock is what an actor asks of the lock.
func (e *engine) actLock(a *actor, act Act) {
	switch act.Verb {
	case Acquire, Try, LastTry:
		e.startAcquire(a, act)
	case Release:
		e.start(a, e.release(a), act)
	case Renew:
		e.finishRequest(e.renew(a))
		e.planRenewal(a)
	case Resume:
		r := a.pending
		a.pending = nil
		e.did.Does = r.verb
		e.finishRequest(r)
	case Resend:
		e.did.Does = a.unanswered.verb
		o := e.carryOut(a.unanswered)
		a.answer = &o
		e.sees(o)
	case Told:
		e.told(a)
	case GiveUp:
		e.giveUp(a)
	case Again:
		e.finishRequest(e.release(a))
		e.do(Act{Verb: Acquire})
		e.startAcquire(a, Act{Verb: Acquire})
	case AskHeld:
		e.askHeld(a)
	}
}

func (e *engine) startAcquire(a *actor, act Act) {
	if act.Verb != Acquire {
		e.attempt(a)
		if a.waiting == nil {
			a.waiting = &waiting{from: e.now, bound: unbounded}
		}
	}
	a.gaveUp = false
	if !a.inside {
		a.grant = nil // what it had before is not what it asks for now
	}
	e.mint(a)
	e.start(a, e.acquire(a), act)
	switch {
	case act.Verb == Acquire:
	case a.inside:
		a.waiting = nil
	case act.Verb == LastTry:
		e.lastTry(a)
	default:
		a.waiting.settled = true
		a.waiting.heard(e.did.Sees, e.now)
	}
}

// lastTry is what follows when the last try failed.
func (e *engine) lastTry(a *actor) {
	a.waiting = nil
	e.count("acquire-timeout")
	if e.set[SwAcquire].Has("work-anyway") {
		e.do(Act{Verb: Work})
		e.sees(Outcome{Code: Anyway})
		a.thinks = ThinksFree
		e.entered(a)
		return
	}
	a.thinks = ThinksNothing
	e.sees(Outcome{Code: NotGot})
}

// start sends a request, or its first half, or hands it to the network.
func (e *engine) start(a *actor, r *request, act Act) {
	switch {
	case act.Held:
		a.inflight, a.thinks = r, ThinksAsking
		e.sees(Outcome{Code: InFlight})
	case act.Lost:
		e.sees(e.carryOut(r))
		e.did.Sees = Outcome{Code: NoAnswer}
		e.did.Sent[len(e.did.Sent)-1].Reply += " (the network cut the reply)"
		a.unanswered, a.thinks = r, ThinksUnknown
	case act.Begin:
		e.beginRequest(a, r)
	default:
		e.finishRequest(r)
	}
}

// beginRequest does all but the last part.
func (e *engine) beginRequest(a *actor, r *request) {
	e.sees(Outcome{Code: Begun})
	for len(r.parts) > 1 {
		o, over := r.parts[0]()
		e.sees(o)
		r.parts = r.parts[1:]
		if over {
			r.apply(o)
			return
		}
	}
	if r.verb == Acquire {
		a.thinks = ThinksAsking
	}
	a.pending = r
}

// finishRequest does what is left of a request, and tells the actor.
func (e *engine) finishRequest(r *request) {
	o := e.carryOut(r)
	e.sees(o)
	if e.err == nil {
		r.apply(o)
	}
}

// carryOut does what is left of a request, and tells nobody.
func (e *engine) carryOut(r *request) Outcome {
	var o Outcome
	for _, part := range r.parts {
		var over bool
		if o, over = part(); over {
			break
		}
	}
	return o
}

// mint gives the actor the token of its next acquisition. It stays the same
// until that was granted or given up.
func (e *engine) mint(a *actor) {
	process := or(e.s.Stage.Process[a.name], "p1")
	switch e.set[SwValue].Word {
	case "owner":
		a.token = "owner" + a.name
		return
	case "fixed":
		a.token = "1"
		return
	case "process":
		a.token = "person:" + process
		return
	case "thread":
		a.token = process + ":" + or(e.s.Stage.Thread[a.name], strconv.Itoa(a.index+1))
		return
	}
	if a.token != "" && !e.spent(a.token) {
		return
	}
	a.mints++
	a.token = "t" + a.name
	if a.mints > 1 {
		a.token += strconv.Itoa(a.mints)
	}
}

// spent reports whether a token was granted before.
func (e *engine) spent(token string) bool {
	for _, g := range e.grants {
		if g.value == token {
			return true
		}
	}
	return false
}

// told lets the library's answer reach the actor's code, and judges it.
func (e *engine) told(a *actor) {
	o := *a.answer
	r := a.unanswered
	a.answer, a.unanswered = nil, nil
	own := a.grant
	e.sees(o)
	switch r.verb {
	case Acquire:
		if o.Code != Granted && own != nil && own.live {
			e.broke(FalseReport)
			e.orphan(own)
		}
	case Release:
		if o.Code != Released && own != nil && own.undone {
			e.broke(FalseReport)
		}
	}
	r.apply(o)
}

// giveUp stops asking, and cleans up as the switch release says.
func (e *engine) giveUp(a *actor) {
	a.gaveUp = true
	a.waiting = nil
	o := e.carryOut(e.release(a))
	e.sees(o)
	a.thinks = ThinksNothing
	e.count("acquire-timeout")
}

// deliver lets a held request through. Nobody listens for the answer.
func (e *engine) deliver(a *actor) {
	if a.inflight == nil {
		return
	}
	r := a.inflight
	a.inflight = nil
	e.sees(e.carryOut(r))
}
