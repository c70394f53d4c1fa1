package lockcore

import (
	"context"
	"time"
)

// EventKind says what happened. The list only grows.
type EventKind string

// Of an acquisition: its end is one of the first four.
const (
	EventAcquired      EventKind = "acquired"       // Took, Attempts, Fence
	EventNotAcquired   EventKind = "not-acquired"   // by TryAcquire: somebody has it
	EventAcquireEnded  EventKind = "acquire-ended"  // the wait ended first: a timeout, a cancellation; Err
	EventAcquireFailed EventKind = "acquire-failed" // the server could not be asked, or refused; Err
	EventWaiting       EventKind = "waiting"        // Holder
	EventAbandoned     EventKind = "abandoned"      // an acquisition of unknown outcome was taken back, or could not be: Err
	EventNoTTL         EventKind = "no-ttl"         // the lock in the way has no TTL
)

// Of a lease.
const (
	EventRenewed       EventKind = "renewed"        // Took
	EventRenewalLate   EventKind = "renewal-late"   // Late: how long after its time it was sent
	EventRenewalFailed EventKind = "renewal-failed" // Err, Attempts: the lease is suspect
	EventLost          EventKind = "lost"           // Err, Held
	EventPaused        EventKind = "paused"         // this process stood still: Late is more than a third of the TTL
	EventReleased      EventKind = "released"       // Held, Took
	EventNotOwner      EventKind = "not-owner"      // at release another holder was found, or none; Holder
	EventReleaseFailed EventKind = "release-failed" // Err
	EventWorkFailed    EventKind = "work-failed"    // Do's own function; Err
)

// Of guards and subscriptions.
const (
	EventWriteRefused   EventKind = "write-refused"   // by a guard; Err is a *StaleError
	EventSubscribed     EventKind = "subscribed"      // releases of Name are heard, also after a reconnection
	EventUnsubscribed   EventKind = "unsubscribed"    // nobody here waits for Name any more
	EventSubscribeLost  EventKind = "subscribe-lost"  // the connection that hears releases broke; Err
	EventNoSubscription EventKind = "no-subscription" // the server allows none; waiters poll instead; Err
)

// Event is one thing that happened. Fields that its kind does not name are zero.
type Event struct {
	Kind     EventKind
	Context  context.Context // the caller's, where there is one: it may carry a trace
	Name     string          // of the lock, or of the guard's resource
	Fence    Fence
	Attempts int           // commands sent to acquire; failed renewals in a row
	Took     time.Duration // from the call to its end
	Held     time.Duration // from the acquisition on
	Late     time.Duration
	Holder   Holder
	Err      error
}

func (c *config) observe(e Event) {
	if c.observer != nil {
		c.observer(e)
	}
}
