package lockcore

import (
	"context"
	"errors"
	"time"

	"fencepost/lockcore/wire"
)

// release ends the lease. See Lease.Release.
func (h *hold) release(ctx context.Context) error {
	began := h.l.clock.read() // to wait for another Release is part of its time
	h.releasing.Lock()
	defer h.releasing.Unlock()
	h.mu.Lock()
	before := h.state
	if h.living() {
		h.state = Releasing
	}
	now := h.state
	h.mu.Unlock()
	switch now {
	case Released:
		return nil
	case Releasing:
		h.cancel(ErrReleased)
		h.l.sched.remove(h)
	case Lost:
		if h.told {
			return h.errNow()
		}
	}
	reply, err := h.unlock(ctx, began)
	if err != nil {
		err = opError("release", h.name, err)
		h.observe(Event{Kind: EventReleaseFailed, Context: ctx, Err: err})
		if before == Lost {
			return errors.Join(h.errNow(), err)
		}
		return err
	}
	h.told = true
	return h.released(ctx, reply, began)
}

// released notes what the server said.
func (h *hold) released(ctx context.Context, reply wire.OwnedReply, began instant) error {
	var lost *lostError
	switch reply.Status {
	case wire.NotYours:
		lost = &lostError{name: h.name, why: errTaken, holder: parseHolder(reply.Holder)}
	case wire.NoLock:
		lost = &lostError{name: h.name, why: errVanished}
	}
	h.mu.Lock()
	if h.state == Releasing {
		h.state = Released
		if lost != nil {
			h.state, h.lostBy = Lost, lost
		}
	}
	err := h.lostBy
	h.mu.Unlock()
	if h.cfg.observer != nil {
		now := h.l.clock.read()
		e := Event{Kind: EventReleased, Context: ctx, Held: now.since(h.granted), Took: now.since(began)}
		if lost != nil {
			e.Kind, e.Holder, e.Err = EventNotOwner, lost.holder, lost
		}
		h.observe(e)
	}
	return err
}

// unlock asks the server to release until it answers, for at most one
// operation's timeout, whether or not ctx ends. The script answers the second
// request as the first.
func (h *hold) unlock(ctx context.Context, began instant) (wire.OwnedReply, error) {
	for try, now := 0, h.l.clock.read(); ; try++ {
		left := h.cfg.timeout() - now.since(began)
		reply, err := h.unlockOnce(ctx, now, max(left, time.Millisecond))
		if err == nil || !passing(err) || try == 4 {
			return reply, err
		}
		pause := backoff(5*time.Millisecond, try, h.cfg.timeout()/4)
		if h.l.clock.read().since(began)+pause >= h.cfg.timeout() {
			return reply, err
		}
		time.Sleep(pause)
		now = h.l.clock.read()
	}
}

// unlockOnce does not heed ctx's end; it carries a trace.
func (h *hold) unlockOnce(ctx context.Context, now instant, timeout time.Duration) (wire.OwnedReply, error) {
	var raw any
	var err error
	if h.cfg.fair {
		dead := ceilMS(h.cfg.tombstoneLife())
		call := wire.UnlockFair(h.keys, h.token, dead, wire.Fair{WindowMS: window.Milliseconds(), Channel: h.channel})
		raw, err = h.l.send.scriptAt(ctx, now, nil, timeout, scriptOf(call), argsOf(call))
	} else {
		raw, err = h.l.send.scriptAt(ctx, now, nil, timeout, unlockScript, h.plainUnlock())
	}
	if err != nil {
		return wire.OwnedReply{}, err
	}
	return wire.ParseOwned(raw)
}

// plainUnlock is what wire.Unlock gives, made once; a test keeps the two alike.
func (h *hold) plainUnlock() []any {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.farewell[0] == nil {
		h.farewell = [...]any{
			verbSHA, unlockScript.sha, "2", h.lockArg, h.tombstoneArg,
			h.tokenArg, h.cfg.deadArg, h.channelArg,
		}
	}
	return h.farewell[:]
}

// abandon takes back, in the background, a request whose outcome nobody knows.
// The token is forbidden from then on, so that the request cannot take the lock
// when it arrives later still. It ends when the server has answered, or when a
// lock that was granted is over by itself.
func (h *hold) abandon() {
	go func() {
		ctx := context.Background()
		began := h.l.clock.read()
		for try := 0; ; try++ {
			_, err := h.unlockOnce(ctx, h.l.clock.read(), h.cfg.timeout())
			if err == nil || !passing(err) || h.l.clock.read().since(began) > h.cfg.ttl {
				h.observe(Event{Kind: EventAbandoned, Attempts: try + 1, Err: err})
				return
			}
			time.Sleep(backoff(20*time.Millisecond, try, time.Second))
		}
	}()
}
