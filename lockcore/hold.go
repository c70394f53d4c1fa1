package lockcore

import (
	"context"
	"sync"
	"time"
)

// State is where a lease stands. It only goes forward, but between Held and
// Suspect.
type State int

// Held: the lock is this lease's. Suspect: it still is, but the last renewal
// failed; the time runs. Releasing: Release was called and has no sure answer
// yet. Released and Lost are ends.
const (
	Held State = iota
	Suspect
	Releasing
	Released
	Lost
)

func (s State) String() string {
	return [...]string{"held", "suspect", "releasing", "released", "lost"}[s]
}

// hold is one acquisition, from the first request to the end: one token, never
// used again. The Lease that the caller has points to it, not the other way
// round, so that a forgotten Lease can be noticed.
type hold struct {
	l   *Locker
	cfg *config
	*names
	entropy                [16]byte
	token, tombstone       string
	tokenArg, tombstoneArg any
	request                [9]any // the plain acquire command
	farewell               [8]any // the plain release command
	asked                  int    // requests sent
	doubt                  bool   // a request's answer is missing
	began                  instant

	fence   Fence
	caller  context.Context // of Acquire, for its values
	ctx     context.Context
	cancel  context.CancelCauseFunc
	granted instant // when the request that was granted was sent
	due     int64   // the scheduler's: when it looks again, monotonic ns
	slot    int     // the scheduler's: place in its heap, -1 outside

	releasing sync.Mutex // one Release at a time
	told      bool       // the server has answered a release

	mu       sync.Mutex
	state    State
	deadline instant // by both clocks
	renewAt  int64   // monotonic ns; never when there is no renewal
	renewing bool
	failed   int   // renewals in a row
	lostBy   error // Lost: why
}

// newHold prepares an acquisition. It sends nothing.
func (l *Locker) newHold(ctx context.Context, name string, opts []Option) (*hold, error) {
	if ctx == nil {
		return nil, usage("no context")
	}
	n, err := l.namesOf(name)
	if err != nil {
		return nil, err
	}
	cfg, err := l.with(opts)
	if err != nil {
		return nil, err
	}
	h := &hold{l: l, cfg: cfg, names: n, began: l.clock.read(), slot: -1}
	if err := h.newToken(); err != nil {
		return nil, err
	}
	return h, nil
}

// observe tells the observer, with the lock's name and fence.
func (h *hold) observe(e Event) {
	if h.cfg.observer == nil {
		return
	}
	e.Name = h.name
	if e.Fence.IsZero() {
		e.Fence = h.fence
	}
	h.cfg.observer(e)
}

// start makes the granted lock a lease. sent is when the request left: the
// server's TTL began no earlier.
func (h *hold) start(ctx context.Context, fence Fence, sent instant) *Lease {
	h.fence, h.granted = fence, sent
	parent := h.cfg.parent
	if parent == nil {
		h.caller = ctx
		parent = values{h}
	}
	h.ctx, h.cancel = context.WithCancelCause(parent)
	h.state = Held
	h.deadline = h.deadlineFrom(sent)
	h.renewAt = never
	if !h.cfg.noRenewal {
		h.renewAt = sent.mono + int64(h.cfg.renewEvery())
	}
	h.l.sched.add(h)
	return newLease(h)
}

// values is the context of the acquisition without its end. It is what
// context.WithoutCancel gives, at no allocation.
type values struct{ of *hold }

// Deadline is none.
func (v values) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done is never closed.
func (v values) Done() <-chan struct{} { return nil }

// Err is nil.
func (v values) Err() error { return nil }

// Value is the caller's.
func (v values) Value(key any) any { return v.of.caller.Value(key) }

// deadlineFrom is until when a lease may be believed in that was set by a
// command sent then: no longer than the server keeps it, less a margin, and
// not beyond the longest hold.
func (h *hold) deadlineFrom(sent instant) instant {
	life := int64(h.cfg.ttl - margin(h.cfg.ttl))
	d := instant{wall: sent.wall + life, mono: sent.mono + life}
	if most := int64(h.cfg.maxHold); most > 0 {
		d.wall, d.mono = min(d.wall, h.granted.wall+most), min(d.mono, h.granted.mono+most)
	}
	return d
}

// over reports whether the deadline has passed, by either clock.
func (h *hold) over(now instant) bool {
	return now.wall >= h.deadline.wall || now.mono >= h.deadline.mono
}

// left is how much time the lease has, by the clock that has less.
func (h *hold) left(now instant) time.Duration {
	return time.Duration(min(h.deadline.wall-now.wall, h.deadline.mono-now.mono))
}

// living reports whether the lease still counts. mu is held.
func (h *hold) living() bool { return h.state == Held || h.state == Suspect }

// lose ends a living lease; the first cause stays.
func (h *hold) lose(cause error) {
	h.mu.Lock()
	if !h.living() {
		h.mu.Unlock()
		return
	}
	h.state, h.lostBy = Lost, cause
	h.mu.Unlock()
	h.cancel(cause)
	h.l.sched.remove(h)
	h.observe(Event{Kind: EventLost, Err: cause, Held: h.l.clock.read().since(h.granted)})
}

// errNow is nil while the lease is held. It looks at the clocks itself: a timer
// may be late, or its process may just have been woken.
func (h *hold) errNow() error {
	now := h.l.clock.read()
	h.mu.Lock()
	if h.living() && h.over(now) {
		cause := h.timeOver(now)
		h.mu.Unlock()
		h.lose(cause)
		h.mu.Lock()
	}
	defer h.mu.Unlock()
	switch h.state {
	case Releasing, Released:
		return ErrReleased
	case Lost:
		return h.lostBy
	}
	return nil
}

// timeOver is the cause when the deadline has passed.
func (h *hold) timeOver(now instant) error {
	if h.cfg.maxHold > 0 && now.since(h.granted) >= h.cfg.maxHold {
		return &lostError{name: h.name, why: ErrMaxHold}
	}
	return &lostError{name: h.name, why: errExpired}
}
