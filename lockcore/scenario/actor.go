package scenario

import "time"

// actor is somebody in the story. The first part is what it believes; only that
// decides what it does.
type actor struct {
	name  string
	index int

	thinks   Belief
	token    string
	mints    int    // how many tokens it has had
	number   string // its fencing number
	deadline time.Duration
	inside   bool
	lost     bool // it was told that it lost: it writes no more
	ignored  bool // a refusal that its code did not look at
	outdated bool // what it read is not true any more: the version is another one
	gaveUp   bool
	readVal  string
	hasRead  bool
	version  int64
	entered  bool
	floor    string
	since    time.Duration // of its grant, by its own clock
	saw      sighting      // as an operator

	pending    *request // begun, not finished
	unanswered *request // sent; the library has no answer
	answer     *Outcome // the library has one; the code has not
	inflight   *request // held by the network

	pausedUntil  time.Duration
	stalledUntil time.Duration
	blocked      []time.Duration // until when connections of its pool are taken
	crashed      bool
	split        bool
	cutFrom      []string // masters of a quorum that it does not reach
	overdue      []*timer
	renewals     int // a renewal planned earlier is dead
	round        int // timers of an earlier round are dead

	// What the referee knows.
	grant   *grant
	readSeq int // writes that were applied before it read
	waiting *waiting
	passed  int // grants to others while it waited
}

// sighting is what an operator saw.
type sighting struct {
	value string
	grant *grant
}

// request is what an actor asks of a server, in parts: each sends one command,
// and reports whether that was the end of it.
type request struct {
	verb  Verb
	parts []func() (Outcome, bool)
	apply func(Outcome) // what the answer does to the actor's beliefs
}

// busyUntil is when the actor's code runs again. What happens to a process
// happens to a stuck one too.
func (a *actor) busyUntil(v Verb) time.Duration {
	switch v {
	case Pause, Crash, Told:
		return a.pausedUntil
	case Cancel:
		return 0
	}
	return max(a.pausedUntil, a.stalledUntil)
}

// runOverdue fires the timers that came due while the process was stopped.
func (a *actor) runOverdue(e *engine) {
	if a.pausedUntil > e.now {
		return
	}
	late := a.overdue
	a.overdue = nil
	for _, t := range late {
		if !a.crashed && t.n == a.round && e.err == nil {
			e.fire(t)
		}
	}
}

// belief is what the actor would answer, and with which number.
func (a *actor) belief() (Belief, string) {
	if a.crashed {
		return IsCrashed, ""
	}
	if a.thinks == ThinksHeld {
		return ThinksHeld, a.number
	}
	return a.thinks, ""
}

// leave takes the actor out of the critical section.
func (e *engine) leave(a *actor, thinks Belief) {
	if a.inside {
		e.closeSpan(a, Within)
	}
	a.inside = false
	a.thinks = thinks
}

// living reports whether somebody alive is inside, or in the middle of the
// request that will let it in.
func (e *engine) living() bool {
	for _, a := range e.order {
		if !a.crashed && (a.inside || a.pending != nil && a.pending.verb == Acquire) {
			return true
		}
	}
	return false
}

// busyConnections counts the connections of the actor's pool that are taken.
func (a *actor) busyConnections(now time.Duration) int {
	n := 0
	for _, until := range a.blocked {
		if until > now {
			n++
		}
	}
	return n
}
