package lockcore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"fencepost/lockcore/wire"
)

// errTooLate: the server granted the lock, and its whole time was over when the
// answer came.
var errTooLate = errors.New("granted, but the answer came after its time")

// ask requests the lock once, under its one token; where an answer is lost it
// asks again, because the script answers the same token alike. queue: take a
// place in the fair queue. sent is when the request that was answered left.
// now is the moment, read just before.
func (h *hold) ask(ctx context.Context, queue bool, now instant) (reply wire.AcquireReply, sent instant, err error) {
	reply, err = h.askOnce(ctx, queue, now)
	return h.insist(ctx, queue, reply, now, err)
}

// insist asks again where an answer was lost.
func (h *hold) insist(ctx context.Context, queue bool, reply wire.AcquireReply, sent instant, err error) (wire.AcquireReply, instant, error) {
	for try := 0; try < 2 && (errors.Is(err, errLostAnswer) || isTryAgain(err)); try++ {
		if !sleep(ctx, backoff(5*time.Millisecond, try, h.cfg.timeout()/4)) {
			return reply, sent, context.Cause(ctx)
		}
		sent = h.l.clock.read()
		reply, err = h.askOnce(ctx, queue, sent)
	}
	return reply, sent, err
}

// errLostAnswer marks a connection that broke before the answer came; to ask
// again is worth while, other than after a timeout.
var errLostAnswer = errors.New("connection lost")

func (h *hold) askOnce(ctx context.Context, queue bool, now instant) (wire.AcquireReply, error) {
	f := h.flight(ctx, queue)
	f.at = now
	return h.answer(ctx, f, h.l.send.fly(f, ctx.Done(), h.patience()))
}

// flight is a request for the lock.
func (h *hold) flight(ctx context.Context, queue bool) *flight {
	switch {
	case h.cfg.replicas > 0:
		call, raw := h.call(queue), new(any)
		return &flight{caller: ctx, rdb: h.l.send.rdb, raw: raw, work: func(ctx context.Context) (err error) {
			*raw, err = h.askReplicated(ctx, call)
			return err
		}}
	case h.plain():
		return h.l.send.scriptFlight(ctx, acquireScript, h.plainRequest())
	}
	call := h.call(queue)
	return h.l.send.scriptFlight(ctx, scriptOf(call), argsOf(call))
}

// patience is how long a request may take.
func (h *hold) patience() time.Duration { return h.cfg.timeout() + h.cfg.replicaWait }

// answer reads what a flight brought back; left is why nobody waited for it.
func (h *hold) answer(ctx context.Context, f *flight, left error) (wire.AcquireReply, error) {
	var unsent *notSent
	if errors.As(left, &unsent) {
		return wire.AcquireReply{}, left
	}
	h.asked++
	err := left
	if err == nil {
		err = f.err
	}
	if err == nil {
		return wire.ParseAcquire(f.value())
	}
	var short *replicaError
	if errors.As(err, &short) {
		h.giveBack(ctx)
	}
	if outcome(err) == Unknown {
		h.doubt = true
		if !errors.Is(err, errTimeout) && ctx.Err() == nil {
			err = &lostAnswer{err}
		}
	}
	return wire.AcquireReply{}, err
}

type lostAnswer struct{ error }

func (e *lostAnswer) Unwrap() []error { return []error{errLostAnswer, e.error} }

// plain reports whether the acquisition needs nothing but the lock.
func (h *hold) plain() bool {
	c := h.cfg
	return !c.fair && c.enter == nil && c.floor.IsZero() && c.counterLife == 0
}

// plainRequest is what call gives for a plain acquisition, without an
// allocation; a test keeps the two alike. It is made once: a request that was
// left alone may still be on its way.
func (h *hold) plainRequest() []any {
	if h.request[0] == nil {
		h.request = [...]any{
			verbSHA, acquireScript.sha, "3", h.lockArg, h.counterArg, h.tombstoneArg,
			h.tokenArg, h.cfg.ttlArg, h.cfg.stamp.about(h.began, h.cfg.aboutText),
		}
	}
	return h.request[:]
}

// call is the request for the lock.
func (h *hold) call(queue bool) wire.Call {
	c := h.cfg
	a := wire.Acquire{Keys: h.keys, Token: h.token, TTLMS: ceilMS(c.ttl), About: c.aboutText, Since: h.began.second()}
	if !c.floor.IsZero() {
		a.Floor = c.floor.String()
	}
	if c.counterLife > 0 {
		a.CounterLifeMS, a.Clock = ceilMS(c.counterLife), true
	}
	if c.enter != nil {
		a.Guard = c.enter.seenKey
	}
	if c.fair {
		a.Fair = &wire.Fair{WindowMS: window.Milliseconds(), Channel: h.channel, Wait: queue}
	}
	return a.Call()
}

// settle makes an answer to ask into a lease, a *HeldError, or another error.
// Whatever may still come of the request is taken back first.
func (h *hold) settle(ctx context.Context, reply wire.AcquireReply, sent instant, err error) (*Lease, error) {
	if err != nil {
		return nil, opError("acquire", h.name, err)
	}
	switch reply.Status {
	case wire.Granted:
		fence, err := ParseFence(reply.Fence) // the script has checked that it is a number
		if err == nil && h.l.clock.read().since(sent) >= h.cfg.ttl-margin(h.cfg.ttl) {
			err = errTooLate
		}
		if err != nil {
			h.doubt = true
			return nil, &OpError{Op: "acquire", Name: h.name, Err: err}
		}
		return h.start(ctx, fence, sent), nil
	case wire.Behind:
		seen, _ := ParseFence(reply.Fence) // the script has checked that it is a number
		return nil, &StaleError{Resource: h.cfg.enter.resource, Seen: seen}
	case wire.Forbidden: // cannot be: a hold that was given up asks no more
		return nil, &OpError{Op: "acquire", Name: h.name, Err: errors.New("the token was given up")}
	}
	if noTTL(reply) {
		h.observe(Event{Kind: EventNoTTL, Context: ctx, Holder: parseHolder(reply.Holder)})
		return nil, &OpError{Op: "acquire", Name: h.name, Err: &corruptError{errNoTTL}}
	}
	return nil, h.heldBy(reply)
}

// heldBy is the error that says who has the lock.
func (h *hold) heldBy(reply wire.AcquireReply) *HeldError {
	return &HeldError{
		Name: h.name, Holder: parseHolder(reply.Holder), TTL: fromMS(reply.WaitMS),
		blank: reply.Holder == "" && !h.cfg.fair, // only in fair mode a free lock is kept
	}
}

// noTTL reports whether the lock in the way has none. One that is kept for
// another waiter is kept for some time.
func noTTL(reply wire.AcquireReply) bool { return reply.WaitMS < 0 }

var errNoTTL = errors.New("the lock in the way has no expiry")

// tryOnce is the whole of TryAcquire.
func (h *hold) tryOnce(ctx context.Context) (*Lease, error) {
	reply, sent, err := h.ask(ctx, false, h.began)
	lease, err := h.settle(ctx, reply, sent, err)
	if lease == nil && h.doubt {
		h.abandon()
	}
	return lease, err
}

// backoff is a pause that doubles with each try, up to most, half of it random.
func backoff(first time.Duration, try int, most time.Duration) time.Duration {
	d := min(first<<min(try, 20), most)
	return d/2 + rand.N(d/2+1)
}

// sleep reports whether ctx let it.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
