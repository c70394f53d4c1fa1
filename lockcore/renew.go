package lockcore

import (
	"context"

	"fencepost/lockcore/wire"
)

// renew sets the lock's life to a full TTL, once, for its caller.
func (h *hold) renew(ctx context.Context) error {
	if err := h.errNow(); err != nil {
		return err
	}
	sent := h.l.clock.read()
	call := wire.Renew(h.keys, h.token, ceilMS(h.cfg.ttl))
	raw, err := h.l.send.call(ctx, h.cfg.timeout(), call)
	if err == nil {
		var reply wire.OwnedReply
		if reply, err = wire.ParseOwned(raw); err == nil {
			h.renewed(reply, sent)
			return h.errNow()
		}
	}
	return opError("renew", h.name, err)
}

// renewed takes in what the server said of a renewal that was sent then. An
// answer that comes after the lease's end changes nothing.
func (h *hold) renewed(reply wire.OwnedReply, sent instant) {
	switch reply.Status {
	case wire.NotYours:
		h.lose(&lostError{name: h.name, why: errTaken, holder: parseHolder(reply.Holder)})
		return
	case wire.NoLock:
		h.lose(&lostError{name: h.name, why: errVanished})
		return
	}
	now := h.l.clock.read()
	h.mu.Lock()
	if !h.living() || h.over(now) {
		h.mu.Unlock()
		return
	}
	if d := h.deadlineFrom(sent); d.mono > h.deadline.mono {
		h.deadline = d
	}
	h.state, h.failed = Held, 0
	if h.renewAt != never {
		h.renewAt = sent.mono + int64(h.cfg.renewEvery())
	}
	h.mu.Unlock()
	h.l.sched.add(h)
	h.observe(Event{Kind: EventRenewed, Took: now.since(sent)})
}

// renewalFailed makes the lease suspect, and plans the next try.
func (h *hold) renewalFailed(err error, sent instant) {
	now := h.l.clock.read()
	h.mu.Lock()
	h.renewing = false
	if !h.living() || h.renewAt == never {
		h.mu.Unlock()
		return
	}
	h.state = Suspect
	h.failed++
	e := Event{Kind: EventRenewalFailed, Attempts: h.failed, Took: now.since(sent), Err: opError("renew", h.name, err)}
	h.renewAt = now.mono + int64(backoff(renewRetry, h.failed-1, h.cfg.ttl/10))
	h.mu.Unlock()
	h.l.sched.add(h)
	h.observe(e)
}

// forgotten is called when the Lease can no longer be reached: nobody will
// release it, so nothing may keep its lock alive.
func (h *hold) forgotten() {
	h.mu.Lock()
	h.renewAt = never
	h.mu.Unlock()
}
