package lockcore

import (
	"errors"
	"fmt"
	"time"

	"fencepost/lockcore/wire"
)

// The conditions that a caller branches on, with errors.Is.
var (
	// ErrNotAcquired: somebody else has the lock, or had it for as long as the
	// caller was willing to wait. Nothing is held.
	ErrNotAcquired = errors.New("lockcore: not acquired")
	// ErrLost: the lease ended before it was released. Another holder may be at
	// work. Stop, and do not write without a guard.
	ErrLost = errors.New("lockcore: lease lost")
	// ErrMaxHold: the lease reached the time set by WithMaxHold. It comes with
	// ErrLost.
	ErrMaxHold = errors.New("lockcore: held for the longest time allowed")
	// ErrReleased: the lease was released, by its holder.
	ErrReleased = errors.New("lockcore: lease released")
	// ErrStale: a guard has seen a newer holder and refused this one. Nothing
	// was written.
	ErrStale = errors.New("lockcore: stale fence")
	// ErrSplit: another holder brought the same number, so two servers gave it,
	// as happens when a failover loses the last writes. It comes with ErrStale.
	// Acquire again.
	ErrSplit = errors.New("lockcore: the same fence was given twice")
	// ErrCorrupt: a key of the lock holds something that lockcore did not write:
	// another type, a counter that is no number, a lock without an expiry.
	ErrCorrupt = errors.New("lockcore: the key is not a lock of lockcore")
	// ErrUsage: an option, a name or a client that cannot work. It is told
	// before anything is sent.
	ErrUsage = errors.New("lockcore: usage")
)

// HeldError says who has the lock that was asked for. It matches
// ErrNotAcquired and, after a wait, what ended the wait: context.Cause.
type HeldError struct {
	Name   string
	Holder Holder        // the zero Holder when the lock is kept for a waiter of the fair queue
	TTL    time.Duration // of the lock, when it was last asked for; 100 years where it is longer
	Cause  error         // what ended the wait; nil for TryAcquire

	unasked bool // the wait ended before the server had answered once
	blank   bool // there is a lock, and its value is empty
}

func (e *HeldError) Error() string {
	text := fmt.Sprintf("%v: %q", ErrNotAcquired, e.Name)
	switch {
	case e.unasked:
		text += ": no answer yet"
	case e.Holder.none() && !e.blank:
		text += fmt.Sprintf(" is kept for another waiter for %v", e.TTL)
	default:
		text += fmt.Sprintf(" is held by %v, TTL %v", e.Holder, e.TTL)
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap makes errors.Is match ErrNotAcquired and the cause.
func (e *HeldError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrNotAcquired}
	}
	return []error{ErrNotAcquired, e.Cause}
}

// StaleError says what a guard had seen when it refused a write. It matches
// ErrStale, and ErrSplit where Split is set.
type StaleError struct {
	Resource string
	Fence    Fence // that was refused
	Seen     Fence // the highest that the guard has seen; see FenceFloor
	Split    bool  // Seen equals Fence, and another token brought it
}

func (e *StaleError) Error() string {
	if e.Split {
		return fmt.Sprintf("%v: %q saw %v from another holder", ErrSplit, e.Resource, e.Seen)
	}
	return fmt.Sprintf("%v: %q has seen %v, this is %v", ErrStale, e.Resource, e.Seen, e.Fence)
}

// Is matches ErrStale, and ErrSplit.
func (e *StaleError) Is(target error) bool {
	return target == ErrStale || (e.Split && target == ErrSplit)
}

// Outcome says what is known of a command that gave an error.
type Outcome int

// Failed: it did not run, or changed nothing. Unknown: it may have run; its
// answer did not come. lockcore reconciles what it can: an acquisition with an
// unknown outcome is taken back in the background.
const (
	Failed Outcome = iota
	Unknown
)

func (o Outcome) String() string {
	return [...]string{"failed", "outcome unknown"}[o]
}

// OpError is a command that the server refused or never answered.
type OpError struct {
	Op      string // "acquire", "renew", "release", "guard", "force release"
	Name    string // of the lock, or of the guard's resource
	Outcome Outcome
	Err     error // of go-redis, or context.Cause of the caller's context
}

func (e *OpError) Error() string {
	return fmt.Sprintf("lockcore: %s %q: %v: %s", e.Op, e.Name, e.Outcome, wire.Clean(e.Err.Error()))
}

// Unwrap returns what go go-redis or the context said.
func (e *OpError) Unwrap() error { return e.Err }

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUsage}, args...)...)
}
