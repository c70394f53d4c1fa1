package lockcore

import (
	"context"
	"sync/atomic"
	"time"
)

// shot is a request that is ready to go. Whoever hears that the lock is free
// sends it, so that a hand-off does not wait for the waiter to wake first.
type shot struct {
	flight  *flight
	worker  *worker
	clock   clock
	timeout time.Duration
	direct  bool // the client ends it in time: it may fly on any goroutine
	fired   atomic.Bool
	sent    instant // to be read when the flight has landed
}

// fire sends the request, once.
func (x *shot) fire() {
	if x.claim() {
		x.worker.flights <- x.flight
	}
}

// claim is true for one caller: it is to send the request. From here on its time
// runs.
func (x *shot) claim() bool {
	if !x.fired.CompareAndSwap(false, true) {
		return false
	}
	x.sent = x.clock.read()
	x.worker.ready(x.flight, x.timeout, x.clock.time(x.sent, x.timeout))
	return true
}

// fly sends a claimed request here, in place of its worker.
func (x *shot) fly() {
	x.flight.run()
	x.worker.done <- struct{}{}
}

// aim makes the request for the lock ready to go.
func (h *hold) aim(ctx context.Context, queue bool) *shot {
	f, timeout := h.flight(ctx, queue), h.patience()
	return &shot{
		flight: f, worker: h.l.send.workers.get(), clock: h.l.clock,
		timeout: timeout, direct: h.l.send.ends(f, timeout),
	}
}

// land waits until the shot has been fired, by the mailbox or when the time
// has come, and has its answer; else it returns why nobody waits for it any
// more. What else is heard may change the time.
func (x *shot) land(s *sender, box *mailbox, until time.Time, heard func(news) time.Time) error {
	box.arm(x)
	stop := x.flight.caller.Done()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for {
		select {
		case <-x.worker.done:
			x.worker.timer.Stop()
			s.workers.put(x.worker)
			return nil
		case <-box.bell:
			timer.Reset(time.Until(heard(box.take())))
		case <-timer.C:
			box.disarm()
			x.fire() // unless it was fired at this very moment
		case <-x.worker.timer.C:
			box.disarm() // waits for whoever is just firing it
			x.worker.leave()
			return errTimeout
		case <-stop:
			box.disarm() // from here on nobody else fires it
			cause := context.Cause(x.flight.caller)
			if x.fired.Load() {
				x.worker.leave()
				return cause
			}
			s.workers.put(x.worker)
			return &notSent{cause}
		}
	}
}
