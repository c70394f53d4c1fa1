package lockcore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Lease is a lock that is held, until Release or until its time is over. It is
// safe for concurrent use. A nil Lease is what a failed acquisition returns: it
// is never held, and its methods say so.
//
// While the lease lives it is renewed in the background. A Lease that is
// forgotten (no longer reachable) is not: its lock expires.
type Lease struct {
	h       *hold
	cleanup runtime.Cleanup
}

// lostError is why a lease was lost. It matches ErrLost and its reason.
type lostError struct {
	name   string
	why    error
	holder Holder // who has the lock instead, where the server said so
}

func (e *lostError) Error() string {
	text := fmt.Sprintf("%v: %q: %v", ErrLost, e.name, e.why)
	switch {
	case !e.holder.none():
		text += " " + e.holder.String()
	case errors.Is(e.why, errTaken): // the first answer, which said it, was lost
		text += " somebody else"
	}
	return text
}

func (e *lostError) Unwrap() []error { return []error{ErrLost, e.why} }

// Why a lease was lost.
var (
	errExpired  = errors.New("its time was over before it could be renewed")
	errTaken    = errors.New("the lock is now held by")
	errVanished = errors.New("the lock is gone from the server")
)

func newLease(h *hold) *Lease {
	x := &Lease{h: h}
	x.cleanup = runtime.AddCleanup(x, (*hold).forgotten, h)
	return x
}

// Name is the lock's name.
func (x *Lease) Name() string {
	if x == nil {
		return ""
	}
	return x.h.name
}

// Fence is the number of this acquisition. It never changes, and it is never
// read back from the server, where it may be somebody else's by now.
func (x *Lease) Fence() Fence { return x.Pass().Fence }

// Pass is what to show to a guard.
func (x *Lease) Pass() Pass {
	if x == nil {
		return Pass{}
	}
	return Pass{Fence: x.h.fence, Token: x.h.token}
}

// Context ends when the lease does. context.Cause then matches ErrLost,
// ErrReleased, or the cause of the context that the lease is bound to.
func (x *Lease) Context() context.Context {
	if x == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(ErrNotAcquired)
		return ctx
	}
	return x.h.ctx
}

// Deadline is until when the lease may be relied on if nothing renews it:
// counted from the moment the last successful request was sent, less a margin.
func (x *Lease) Deadline() time.Time {
	if x == nil {
		return time.Time{}
	}
	x.h.mu.Lock()
	defer x.h.mu.Unlock()
	now := x.h.l.clock.read()
	return x.h.l.clock.time(now, x.h.left(now))
}

// Err is nil while the lease is held. Otherwise it matches ErrLost or
// ErrReleased. It asks this computer's clocks, not the server.
func (x *Lease) Err() error {
	if x == nil {
		return ErrNotAcquired
	}
	return x.h.errNow()
}

// State is where the lease stands, by this computer's clocks.
func (x *Lease) State() State {
	if x == nil {
		return Lost
	}
	_ = x.h.errNow() // a lease whose time is over becomes Lost
	x.h.mu.Lock()
	defer x.h.mu.Unlock()
	return x.h.state
}

// Renew sets the lock's life to a full TTL from now. It is needed only under
// WithoutRenewal, or before a step that wants all of it. The error matches
// ErrLost when the lock is not this lease's any more, ErrReleased after a
// Release; an OpError leaves the lease as it was.
func (x *Lease) Renew(ctx context.Context) error {
	if x == nil {
		return ErrNotAcquired
	}
	err := x.h.renew(ctx)
	runtime.KeepAlive(x)
	return err
}

// Release gives the lock up and wakes the next waiter. The lease's context ends
// at once. Release does not heed ctx's own end, so that it may be deferred after
// the work was cancelled; it takes at most one operation's timeout.
//
// Called again it does no harm, and after an OpError it tries again. The error
// matches ErrLost when the lease had ended before: the work was not under the
// lock to its end.
func (x *Lease) Release(ctx context.Context) error {
	if x == nil {
		return ErrNotAcquired
	}
	x.cleanup.Stop()
	return x.h.release(ctx)
}
