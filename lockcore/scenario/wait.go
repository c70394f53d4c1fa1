package scenario

import (
	"slices"
	"time"

	"fencepost/lockcore/wire"
)

// unbounded is a wait that only a grant or a cancellation ends.
const unbounded = time.Duration(-1)

// waiting is an actor's wait for the lock.
type waiting struct {
	from    time.Duration
	bound   time.Duration // unbounded, or how long the caller wants to wait
	settled bool          // it has come to rest: attempts from here on are counted
	awake   time.Duration // when its code last ran
	asleep  bool          // waits for a message
	ends    time.Duration // when the holder's lease ends, as last told; 0 not told
	next    func() (string, bool)
	cancel  func()
	tries   int
}

// crowd is what is counted about all who wait.
type crowd struct {
	signals  map[Signal]int
	attempts int // by those who were waiting already, since the last grant
	handed   int // attempts before the last grant
}

// attempt counts a try of one who was waiting already.
func (e *engine) attempt(a *actor) {
	if w := a.waiting; w != nil {
		if w.settled {
			e.crowd.attempts++
			e.count("attempts-per-acquire")
		}
		w.awake = e.now
		w.tries++
	}
}

// passedOver judges the crowd when somebody is granted the lock.
func (e *engine) passedOver(winner *actor) {
	waiters, processes := 0, make(map[string]bool)
	for _, a := range e.order {
		if a.waiting != nil {
			waiters++
			processes[e.process(a)] = true
		}
	}
	if e.crowd.attempts > len(processes)+1 {
		e.broke(Herd)
	}
	e.crowd.handed, e.crowd.attempts = e.crowd.attempts, 0
	contenders := waiters + 1
	if winner.waiting != nil {
		contenders--
	}
	for _, a := range e.order {
		if a != winner && a.waiting != nil {
			if a.passed++; a.passed > contenders {
				e.broke(Starvation)
			}
		}
	}
	winner.passed = 0
}

// sleepers looks for those who sleep while the lock is free.
func (e *engine) sleepers() {
	l := e.mainLock()
	if l.live != nil || len(e.grants) == 0 || !l.state.Known || l.state.Held {
		return
	}
	for _, a := range e.order {
		if a.waiting == nil || a.crashed || a.pausedUntil > e.now {
			continue
		}
		if e.now-max(a.waiting.awake, l.free) > time.Second {
			e.broke(MissedWakeup)
		}
	}
}

// actWait is what somebody does who waits.
func (e *engine) actWait(a *actor, act Act) {
	switch act.Verb {
	case Wait:
		e.wait(a, act.For)
	case Subscribe:
		e.subscribe(a)
	case Sleep:
		e.sleep(a)
	case Cancel:
		if a.waiting != nil {
			e.endWait(a, Outcome{Code: Cancelled})
			e.sees(Outcome{Code: Cancelled})
		}
	}
}

// wait tries once, and then waits as the switch says.
func (e *engine) wait(a *actor, bound time.Duration) {
	a.waiting = &waiting{from: e.now, awake: e.now, bound: bound}
	a.passed = 0
	if e.set[SwWait].Is("one-process") && !e.leads(a) {
		a.waiting.settled, a.waiting.asleep = true, true
		a.thinks = ThinksWaiting
		e.sees(Outcome{Code: Waiting, Value: "one-process"})
		return
	}
	if e.tryOnce(a); a.inside || a.waiting == nil {
		return
	}
	limit := bound
	if e.set[SwWait].Has("capped") && (bound < 0 || bound > e.lease(a)) {
		limit = e.lease(a)
	}
	if limit == 0 {
		e.endWait(a, Outcome{Code: NotGot})
		e.sees(Outcome{Code: NotGot})
		return
	}
	if limit > 0 {
		w := a.waiting
		e.after(a, limit, Wait, func() {
			if a.waiting == w {
				e.endWait(a, Outcome{Code: NotGot})
				e.sees(Outcome{Code: NotGot})
			}
		})
	}
	e.settle(a)
}

// leads reports whether the actor is the one of its process that asks.
func (e *engine) leads(a *actor) bool {
	mine := e.process(a)
	for _, b := range e.order {
		if b != a && b.waiting != nil && e.process(b) == mine {
			return false
		}
	}
	return true
}

// process names the process of an actor that waits. Where one asks for all of
// its process, all who wait are of one.
func (e *engine) process(a *actor) string {
	if e.set[SwWait].Is("one-process") {
		return "one"
	}
	return or(e.s.Stage.Process[a.name], a.name)
}

// tryOnce asks for the lock in the course of a wait.
func (e *engine) tryOnce(a *actor) {
	w := a.waiting
	e.attempt(a)
	a.grant = nil
	e.mint(a)
	e.finishRequest(e.acquire(a))
	w.heard(e.did.Sees, e.now)
	if a.inside {
		e.endWait(a, Outcome{Code: Granted})
	}
}

// heard keeps what a refusal says of the holder's lease.
func (w *waiting) heard(o Outcome, now time.Duration) {
	if o.Code == HeldBy && o.Left > 0 {
		w.ends = now + o.Left
	}
}

// settle is what a waiter does after its first try failed.
func (e *engine) settle(a *actor) {
	w := a.waiting
	switch e.set[SwWait].Word {
	case "poll":
		w.settled = true
		e.poll(a, func(int) time.Duration { return e.pollGap() })
	case "backoff":
		w.settled = true
		e.poll(a, e.backoff)
	default: // notify, one-process, fair: listen, then look once more
		e.did.Act = Act{Verb: Try}
		e.do(Act{Verb: Subscribe})
		e.subscribe(a)
		e.do(Act{Verb: Try})
		if e.tryOnce(a); a.waiting == w {
			w.settled = true
			e.sleep(a)
		}
	}
}

func (e *engine) pollGap() time.Duration {
	if d := e.set[SwWait].For("every"); d > 0 {
		return d
	}
	return 100 * time.Millisecond
}

// backoff doubles from 20 ms to 800 ms, and takes a random part of that.
func (e *engine) backoff(tries int) time.Duration {
	full := min(800*time.Millisecond, 20*time.Millisecond<<min(tries, 8))
	ms := full.Milliseconds()
	return time.Duration(ms/2+e.rng.Int64N(ms/2+1)) * time.Millisecond
}

func (e *engine) poll(a *actor, gap func(tries int) time.Duration) {
	w := a.waiting
	e.after(a, gap(w.tries), Try, func() {
		if a.waiting != w {
			return
		}
		e.tryOnce(a)
		if a.waiting == w {
			e.poll(a, gap)
		}
	})
}

// subscribe listens for the release, and returns when that is confirmed.
func (e *engine) subscribe(a *actor) {
	l := e.lockOf(a)
	w := a.waiting
	if w == nil || w.next != nil {
		return
	}
	channel := e.wire().keys(l.name).Channel(0)
	next, cancel, err := e.port.Subscribe(e.ctx, l.node, channel)
	if err != nil {
		e.sees(Outcome{Code: NoServer})
		return
	}
	w.next, w.cancel = next, cancel
	shown := on{quote: true}.keys(l.name).Channel(0)
	e.did.Sent = append(e.did.Sent, Sent{Node: l.node, Line: "SUBSCRIBE " + shown, Reply: "[subscribe, " + shown + ", 1]"})
	e.sees(Outcome{Code: Listening})
	e.count("subscriptions")
	w.awake = e.now
}

// sleep waits for a message. The holder's lease, as last told, is the net: an
// expiry publishes nothing.
func (e *engine) sleep(a *actor) {
	w := a.waiting
	if w == nil {
		return
	}
	w.asleep, w.settled = true, true
	a.thinks = ThinksWaiting
	if e.did.Sees.Code == "" || e.did.Act.Verb == Sleep {
		e.sees(Outcome{Code: Asleep})
	}
	if w.ends <= e.now {
		return
	}
	e.after(a, w.ends+overMargin-e.now, Try, func() {
		if a.waiting == w && w.asleep {
			e.tryOnce(a)
		}
	})
}

// wake brings the message of a release to those who listen.
func (e *engine) wake(l *lockRecord) {
	delay := e.set[SwWait].For("delay")
	for _, a := range e.order {
		w := a.waiting
		if w == nil || w.next == nil || e.lockOf(a) != l {
			continue
		}
		message, ok := w.next()
		if !ok || !w.asleep || !e.meant(a, message) {
			continue
		}
		e.after(a, delay, Try, func() {
			if a.waiting == w {
				e.tryOnce(a)
			}
		})
	}
}

// meant reports whether a message calls this waiter.
func (e *engine) meant(a *actor, message string) bool {
	switch {
	case message == wire.MessageFree:
		return true
	case len(message) > len(wire.MessageNext) && message[:len(wire.MessageNext)] == wire.MessageNext:
		return message[len(wire.MessageNext):] == a.token
	}
	return false
}

// fair is what the fair queue needs, in a world that has one.
func (e *engine) fair(o on, a *actor, l *lockRecord) *wire.Fair {
	if !e.set[SwWait].Is("fair") {
		return nil
	}
	return &wire.Fair{WindowMS: o.short(2 * time.Second).Milliseconds(), Channel: o.keys(l.name).Channel(0),
		Wait: a.waiting != nil}
}

// endWait ends a wait, and judges how long it was.
func (e *engine) endWait(a *actor, o Outcome) {
	w := a.waiting
	a.waiting = nil
	if w.cancel != nil {
		w.cancel()
	}
	took := e.now - w.from
	if o.Code == NotGot {
		e.count("acquire-timeout")
		slack := max(50*time.Millisecond, w.bound/10)
		if w.bound < 0 || took < w.bound-slack || took > w.bound+slack {
			e.broke(WaitContract)
		}
	}
	if o.Code != Granted {
		a.thinks = ThinksNothing
	}
	if took > e.s.Stage.Lease {
		e.count("acquire-latency")
	}
}

// hangUp ends all subscriptions.
func (e *engine) hangUp() {
	for _, a := range e.order {
		if a.waiting != nil && a.waiting.cancel != nil {
			a.waiting.cancel()
		}
	}
	e.items = slices.Delete(e.items, 0, len(e.items))
}
