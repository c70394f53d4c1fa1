package lockcore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"fencepost/lockcore/wire"
)

// waitFor is Acquire: it asks, and waits, until it has an end.
func (h *hold) waitFor(ctx context.Context) (*Lease, error) {
	w := &waiting{hold: h}
	var lease *Lease
	var err error
	if h.cfg.fair {
		lease, err = w.inQueue(ctx)
	} else {
		lease, err = w.inLine(ctx)
	}
	if lease == nil && (h.doubt || w.queued) {
		h.abandon()
	}
	return lease, err
}

// waiting is one Acquire that waits.
type waiting struct {
	*hold
	queued bool               // it may have a place in the server's queue
	place  int64              // how many are before it there
	kept   bool               // the lock was free, and kept for another that was called
	last   *wire.AcquireReply // who had the lock when it was last asked for
	trying instant            // since when the server gives no answer; zero: it did
}

// inLine waits behind the other waiters of this process, then for a release.
func (w *waiting) inLine(ctx context.Context) (*Lease, error) {
	var next time.Time
	if !w.l.lines.busy(w.names) && !w.l.ears.live(w.names) {
		lease, pause, err := w.try(ctx, false)
		if lease != nil || err != nil {
			return lease, err
		}
		next = time.Now().Add(pause)
	}
	ln, turn := w.l.lines.join(w.names, next)
	defer w.l.lines.leave(ln, turn)
	select {
	case <-turn:
	case <-ctx.Done():
		return nil, w.ended(ctx)
	}
	for {
		until, asked := time.Now().Add(w.sleep(ln)), w.asked
		lease, pause, err := w.askWhenFree(ctx, ln.box, false, until, func(news) time.Time { return until })
		if err != nil {
			if w.asked > asked { // what was heard went with this request: the next in line asks anew
				ln.next = time.Time{}
			}
			return nil, err
		}
		ln.next = time.Now().Add(pause)
		if lease != nil {
			return lease, nil
		}
	}
}

// sleep is how long to wait, unless something is heard.
func (w *waiting) sleep(ln *line) time.Duration {
	pause := time.Until(ln.next)
	if w.l.ears.live(w.names) {
		ln.polled = 0
		return pause
	}
	ln.polled++
	return min(pause, backoff(pollFirst, ln.polled-1, pollMost))
}

// askWhenFree asks when the lock may be free, or when the time has come; heard
// is told what else is heard, and says until when to wait then.
func (w *waiting) askWhenFree(ctx context.Context, box *mailbox, queue bool, until time.Time, heard func(news) time.Time) (*Lease, time.Duration, error) {
	x := w.aim(ctx, queue)
	var sent instant
	left := x.land(&w.l.send, box, until, heard)
	if left == nil {
		sent = x.sent
	}
	reply, err := w.answer(ctx, x.flight, left)
	reply, sent, err = w.insist(ctx, queue, reply, sent, err)
	return w.judge(ctx, reply, sent, err)
}

// Without a subscription a waiter asks again and again: soon at first, because
// the subscription is on its way.
const (
	pollFirst = 50 * time.Millisecond
	pollMost  = time.Second
)

// try asks once. Without a lease and without an error, the lock is to be asked
// for again after pause, unless something is heard before.
func (w *waiting) try(ctx context.Context, queue bool) (lease *Lease, pause time.Duration, err error) {
	reply, sent, err := w.ask(ctx, queue, w.l.clock.read())
	return w.judge(ctx, reply, sent, err)
}

// judge makes an answer into what to do next; see try.
func (w *waiting) judge(ctx context.Context, reply wire.AcquireReply, sent instant, err error) (*Lease, time.Duration, error) {
	w.kept = false
	if err != nil && ctx.Err() != nil {
		return nil, 0, w.ended(ctx)
	}
	if err != nil {
		return nil, 50 * time.Millisecond, w.unanswered(err)
	}
	w.trying, w.place = instant{}, reply.Place
	if reply.Status == wire.Occupied && !noTTL(reply) {
		if w.last == nil {
			w.observe(Event{Kind: EventWaiting, Holder: parseHolder(reply.Holder)})
		}
		w.last, w.kept = &reply, reply.Holder == ""
		return nil, fromMS(reply.WaitMS) + jitter(), nil
	}
	lease, err := w.settle(ctx, reply, sent, nil)
	return lease, w.cfg.ttl, err
}

// jitter keeps the waiters of many processes from asking at one moment when a
// lock expires.
func jitter() time.Duration { return rand.N(10 * time.Millisecond) }

// unanswered is nil as long as a server that gives no answer is to be asked
// again: for one TTL.
func (w *waiting) unanswered(err error) error {
	now := w.l.clock.read()
	if w.trying == (instant{}) {
		w.trying = now
	}
	if passing(err) && now.since(w.trying) < w.cfg.ttl {
		return nil
	}
	return opError("acquire", w.name, err)
}

// ended is the error of a wait that its context ended.
func (w *waiting) ended(ctx context.Context) error {
	if w.last == nil { // the server never answered
		return &HeldError{Name: w.name, Cause: context.Cause(ctx), unasked: true}
	}
	e := w.heldBy(*w.last)
	e.Cause = context.Cause(ctx)
	return e
}

// tellAcquired tells the observer how an acquisition ended.
func (h *hold) tellAcquired(ctx context.Context, lease *Lease, err error) {
	if h.cfg.observer == nil {
		return
	}
	e := Event{Context: ctx, Attempts: h.asked, Took: h.l.clock.read().since(h.began), Err: err}
	var held *HeldError
	switch {
	case lease != nil:
		e.Kind = EventAcquired
	case errors.As(err, &held) && held.Cause != nil:
		e.Kind, e.Holder = EventAcquireEnded, held.Holder
	case errors.As(err, &held):
		e.Kind, e.Holder = EventNotAcquired, held.Holder
	default:
		e.Kind = EventAcquireFailed
	}
	h.observe(e)
}
