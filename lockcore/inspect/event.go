package inspect

import (
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// EventKind says what happened to a lock, or to the feed that tells of locks.
type EventKind string

// The kinds of events, as `watch --json` names them.
const (
	WasThere      EventKind = "snapshot"       // found when following began
	WasAcquired   EventKind = "acquired"       // somebody holds it who did not
	WasRenewed    EventKind = "renewed"        // the same holder, another deadline
	WasReleased   EventKind = "released"       // given up before its time was over
	WasExpired    EventKind = "expired"        // its time was over
	HandedOver    EventKind = "handed-over"    // another holder; how is not known
	Overwritten   EventKind = "overwritten"    // another holder without a release, seen
	LostExpiry    EventKind = "lost-expiry"    // it had a deadline, and has none now
	WasEvicted    EventKind = "evicted"        // the server removed it to free memory
	WentAway      EventKind = "gone"           // it is not there any more; why is not known
	WasFlushed    EventKind = "flushed"        // its database was emptied
	ForceReleased EventKind = "force-released" // an operator ended it with this program
	OperatorHolds EventKind = "held-by-operator"
	FeedGap       EventKind = "gap"            // changes may have been missed
	SourceChanged EventKind = "source-changed" // changes are learned in another way now
)

// Source is how changes are learned.
type Source string

// The sources, the best first. By tracking the server says at once that a key
// changed, but not how; by keyspace notifications it says how; by polling it
// says nothing, and is asked again and again.
const (
	ByTracking     Source = "tracking"
	ByNotification Source = "notification"
	ByPolling      Source = "poll"
)

// Event is one thing that happened to one lock, or, with an empty Key, to the
// feed of one node. What was concluded and not seen is marked Inferred.
type Event struct {
	Seq      uint64    // counts up; no two events of a Follower share one
	At       time.Time // when it was learned, by this machine's clock
	Kind     EventKind
	DB       int
	Node     string
	Key      wire.Raw // "" for events of the feed itself
	Field    wire.Raw
	HasField bool
	// Holder is who holds it after the event, Previous who did before. Not known
	// where the moment was seen, but not who.
	Holder   Who
	Previous Who
	// TTL in milliseconds after and before the event, as far as it was known:
	// family.NoTTL without expiry, family.Gone where there is nothing to say.
	TTL, PrevTTL int64
	Fence        string
	Source       Source
	Inferred     bool
	Note         string // in words, safe to print; may be empty
}

// Who is a holder as its library names it; the name may be empty.
type Who struct {
	ID    wire.Raw
	Known bool
}

func who(id wire.Raw) Who { return Who{ID: id, Known: true} }

// RowID is the id of the lock that the event is about, as Lock.RowID gives it;
// "" for events of the feed.
func (e *Event) RowID() string {
	if e.Key == "" {
		return ""
	}
	l := Lock{DB: e.DB, Key: e.Key, Field: e.Field, HasField: e.HasField}
	return l.RowID()
}

// about begins an event about a lock.
func about(l *Lock, kind EventKind) Event {
	return Event{
		Kind: kind, DB: l.DB, Node: l.Node, Key: l.Key, Field: l.Field, HasField: l.HasField,
		TTL: family.Gone, PrevTTL: family.Gone, Fence: l.Fence,
	}
}

// ends is when a lock ends by itself, on this machine's clock; false where
// nothing says that it does. A TTL of centuries is a mistake of units, and its
// deadline is cut to what a time can hold, so it would seem to move.
func (l *Lock) ends() (time.Time, bool) {
	return l.Deadline, !l.Deadline.IsZero() && l.TTL < practicallyForever
}

// leftMS is what remains of a lock at a moment, for an event.
func (l *Lock) leftMS(at time.Time) int64 {
	end, ok := l.ends()
	switch {
	case l.TTL >= practicallyForever:
		return l.TTL
	case !ok:
		return family.NoTTL
	}
	return max(0, end.Sub(at).Milliseconds())
}

// endsFor is when one holder's hold ends by itself: its own time where it has
// one, else the lock's.
func (l *Lock) endsFor(h family.Holder) (time.Time, bool) {
	if h.HasTTL {
		return deadlineAfter(l.SampledAt, h.TTL), true
	}
	return l.ends()
}

// leftOf is what remains of one holder's hold at a moment, for an event.
func (l *Lock) leftOf(h family.Holder, at time.Time) int64 {
	if !h.HasTTL {
		return l.leftMS(at)
	}
	end, _ := l.endsFor(h)
	return max(0, end.Sub(at).Milliseconds())
}

// held are the holders that the lock's own library would respect now.
func held(l *Lock) []family.Holder {
	if l == nil || l.State == family.Lapsed || l.State == family.Free {
		return nil
	}
	return l.Holders
}

// sameHolder reports whether two entries are one hold of one holder.
func sameHolder(a, b family.Holder) bool { return sameName(a, b) && a.Mode == b.Mode }
