// Package inspect reads other people's locks, and ends one when told to.
//
// One direction is Scan, Look and Refresh: key names, bounded samples of what
// stands there, recognition by lockcore/inspect/family, and out comes a Lock.
// The other is Plan and Run: a Plan is made once from what an operator saw, can
// be shown, printed or written down, and Run sends exactly that.
//
// All sending happens here; what a library's data means is known to family.
package inspect

import (
	"strconv"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Lock is one live lock and when that was true. It is a fact with an age, not
// a promise: only the server says that a lock is gone.
type Lock struct {
	DB       int
	Node     string   // host:port of the server that was asked
	Key      wire.Raw // the lock's main key
	Field    wire.Raw // the hash field, where the lock is a field of a hash
	HasField bool
	Resource wire.Raw // what is locked, without the library's prefix

	Family     string // id, as in --family; "unknown" where only the shape says lock
	Label      string // the library's own name of this lock type
	Kind       family.Kind
	Confidence family.Confidence
	Candidates []string
	Type       family.Type

	Holders []family.Holder
	Waiters *family.Waiters // nil: the family leaves no trace of them
	Fence   string          // decimal, or ""
	State   family.State

	// Persistent says that no expiry bears on the lock. Otherwise TTL was left
	// to its key when the server answered. Deadline is when the lock ends on this
	// machine's clock, give or take Uncertainty: with its key, or at the moment
	// that stands in the value where that is earlier or there is no expiry.
	Persistent  bool
	TTL         int64 // milliseconds, as the server said; an integer because 634 years overflow a Duration
	Deadline    time.Time
	SampledAt   time.Time     // half way between sending and receiving
	Uncertainty time.Duration // half the round trip

	Companions []wire.Raw
	Warnings   []family.Warning
	Note       string // what follows a force-release

	// Peers are the rows that name the same holder, set by Relate.
	Peers    []string
	Relation Relation

	*source // nil: it was not read from a server, or is kept without what a plan needs
}

// source is what a lock was made from: who claimed it, what was read, and what
// its family made of that. Plans are made from it.
type source struct {
	found   family.Found
	facts   *family.Facts
	reading family.Reading
}

// RowID identifies a lock between two looks: database, key and field, escaped.
func (l *Lock) RowID() string {
	id := strconv.Itoa(l.DB) + "/" + l.Key.String()
	if l.HasField {
		id += "#" + l.Field.String()
	}
	return id
}

// maxDeadline bounds a Deadline: far above any lease, far below what overflows.
const maxDeadline = 290 * 365 * 24 * time.Hour

// deadlineAfter is the moment ms milliseconds after at; what would overflow is
// put as far away as a time.Duration can say.
func deadlineAfter(at time.Time, ms int64) time.Time {
	if ms > maxDeadline.Milliseconds() {
		return at.Add(maxDeadline)
	}
	return at.Add(time.Duration(ms) * time.Millisecond)
}

// Dated reports whether the lock ends at its Deadline, and not later than any
// Deadline can say.
func (l *Lock) Dated() bool {
	return !l.Deadline.IsZero() && (l.Persistent || !l.Deadline.Equal(l.SampledAt.Add(maxDeadline)))
}

// Left is what remains of the lock at now, by the last answer; false where no
// expiry bears on it. Below zero the answer is older than the lease: the lock
// may be gone, and only the server knows.
func (l *Lock) Left(now time.Time) (time.Duration, bool) {
	if l.Persistent {
		return 0, false
	}
	return l.Deadline.Sub(now), true
}

// Endless reports whether nothing but a release ends the lock: no expiry bears on
// it, nor a deadline in its value, or only one that nobody will live to see.
func (l *Lock) Endless() bool {
	return l.Persistent && l.Deadline.IsZero() || l.TTL >= practicallyForever
}

// UncertaintyMS is the uncertainty in whole milliseconds, rounded up: no answer
// over a network is exact.
func (l *Lock) UncertaintyMS() int64 { return (l.Uncertainty + time.Millisecond - 1).Milliseconds() }
