package inspect

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
)

// witness is under which circumstances a change was found.
type witness struct {
	at     time.Time // when it was learned, or the first of it was told
	last   time.Time // when the last of it was told
	source Source
	told   []string // what keyspace events said of the lock's key since the last look, in order
	whole  bool     // told is all that happened to the key between the two looks
	// touched: the feed said that the key changed, whatever the looks show.
	touched bool
	// seen: renewals of told may have been seen by the look before this one. ahead:
	// this one may have seen renewals that are told of next.
	seen, ahead bool
	flushed     bool          // the server said that a database was emptied
	emptied     bool          // its counts say so
	perhaps     bool          // they say so of about when the hold began
	gap         string        // why changes may have been missed in between; "": they were not
	evicted     bool          // keys were evicted meanwhile, or the server does not say whether
	forced      *act          // an act of ours that left its receipt; nil: none
	hold        bool          // and the note that an operator holds the lock
	key         *Lock         // names the lock where neither look found it
	rescan      bool          // a scan came upon it
	within      time.Duration // when the pass before was over that did not see it; 0: there was none lately
}

// end is when a lock went that is gone: with the last that was told.
func (w *witness) end() time.Time {
	if w.last.After(w.at) {
		return w.last
	}
	return w.at
}

// diff is what happened to one lock between two looks at it. Either look may be
// nil: it was not there. Facts come out as facts and conclusions as inferred: a
// holder that is another is a fact, that it was released before is not, unless
// the server said so.
func diff(prev, cur *Lock, w *witness) []Event {
	was, is := held(prev), held(cur)
	var out []Event
	replayed := false
	if w.whole && len(w.told) > 0 && len(was) <= 1 && len(is) <= 1 && !prev.shared() && !cur.shared() {
		out, replayed = replay(prev, cur, w)
	}
	switch {
	case replayed:
	case len(is) == 0:
		for _, h := range was {
			out = append(out, ended(prev, h, w))
		}
	case len(was) == 0:
		for _, h := range is {
			out = append(out, acquired(prev, cur, h, w))
		}
	case len(was) == 1 && len(is) == 1 && !sameHolder(was[0], is[0]) && w.forced.about(was[0].ID) && !w.hold:
		out = append(out, ended(prev, was[0], w), acquired(prev, cur, is[0], w)) // released by us, and taken at once
	case len(was) == 1 && len(is) == 1 && !sameHolder(was[0], is[0]):
		out = append(out, another(prev, cur, HandedOver, was[0], is[0], w))
		out = append(out, lostExpiry(prev, cur, w)...)
	default:
		out = shifted(prev, cur, was, is, w)
	}
	for i := range out {
		out[i].At, out[i].Source = w.at, w.source
	}
	if n := len(out); n > 0 && len(is) == 0 {
		out[n-1].At = w.end()
	}
	return out
}

// shared reports whether several may hold a lock at once: the names of what
// happened to its key do not say to whose hold.
func (l *Lock) shared() bool {
	return l != nil && (l.Kind == family.RWLock || l.Kind == family.Semaphore)
}

// shifted is a lock that several may hold, or one still holds: who left, who
// came, and whether those who stayed have a new deadline.
func shifted(prev, cur *Lock, was, is []family.Holder, w *witness) []Event {
	var out []Event
	var kept []family.Holder
	for _, h := range was {
		if !slices.ContainsFunc(is, func(x family.Holder) bool { return sameHolder(x, h) }) {
			out = append(out, ended(prev, h, w))
			continue
		}
		kept = append(kept, h)
	}
	for _, h := range is {
		if !slices.ContainsFunc(was, func(x family.Holder) bool { return sameHolder(x, h) }) {
			out = append(out, acquired(prev, cur, h, w))
		}
	}
	out = append(out, lostExpiry(prev, cur, w)...)
	if len(kept) == 0 {
		return out
	}
	return append(out, renewals(prev, cur, is, kept, w)...)
}

// renewals are the new deadlines of those who stayed: each holder's own where
// it has one, else the lock's.
func renewals(prev, cur *Lock, is, kept []family.Holder, w *witness) []Event {
	var out []Event
	own := false
	for _, h := range kept {
		now := is[slices.IndexFunc(is, func(x family.Holder) bool { return sameHolder(x, h) })]
		if !h.HasTTL || !now.HasTTL {
			continue
		}
		own = true
		if !h.Beat.IsZero() && h.Beat.Equal(now.Beat) {
			continue
		}
		before := deadlineAfter(prev.SampledAt, h.TTL)
		if d := deadlineAfter(cur.SampledAt, now.TTL).Sub(before); d > slack(prev, cur) || d < -slack(prev, cur) {
			e := about(cur, WasRenewed)
			e.Holder, e.TTL, e.PrevTTL = who(h.ID), now.TTL, max(0, before.Sub(w.at).Milliseconds())
			out = append(out, e)
		}
	}
	if own {
		return out
	}
	if _, ok := cur.ends(); ok && moved(prev, cur) != 0 {
		e := about(cur, WasRenewed)
		if len(kept) == 1 {
			e.Holder = who(kept[0].ID)
		}
		e.TTL, e.PrevTTL = cur.leftMS(cur.SampledAt), prev.leftMS(w.at)
		if len(kept) > 0 && w.forced.about(kept[0].ID) {
			e.Note = setByOperator
		}
		out = append(out, e)
	}
	return out
}

// lastBeat keeps the end of a holder that has not renewed. It is worked out from
// the key's, which stays as it is when the holder leaves who renewed last: it is no
// later for that.
func lastBeat(prev, cur *Lock) {
	for i := range cur.Holders {
		h := &cur.Holders[i]
		if !h.HasTTL || h.Beat.IsZero() {
			continue
		}
		at := slices.IndexFunc(prev.Holders, func(x family.Holder) bool { return sameHolder(x, *h) && x.HasTTL && x.Beat.Equal(h.Beat) })
		if at < 0 {
			continue
		}
		h.TTL = min(h.TTL, deadlineAfter(prev.SampledAt, prev.Holders[at].TTL).Sub(cur.SampledAt).Milliseconds())
	}
}

const setByOperator = "its time was set by an operator, not by its holder"

// slack is by how much two looks may differ in a deadline that is the same:
// either may be off by half a round trip, clocks drift, and Redis counts whole
// milliseconds.
func slack(a, b *Lock) time.Duration {
	apart := b.SampledAt.Sub(a.SampledAt)
	return a.Uncertainty + b.Uncertainty + 2*time.Millisecond + max(apart, -apart)/10_000
}

// moved is by how much the deadline is another; 0 where the looks agree.
func moved(prev, cur *Lock) time.Duration {
	before, had := prev.ends()
	after, has := cur.ends()
	switch d := after.Sub(before); {
	case !has:
		return 0
	case !had:
		return after.Sub(cur.SampledAt)
	case d > slack(prev, cur) || d < -slack(prev, cur):
		return d
	}
	return 0
}

func lostExpiry(prev, cur *Lock, w *witness) []Event {
	if prev == nil || cur == nil {
		return nil
	}
	_, had := prev.ends()
	_, has := cur.ends()
	if !had || has {
		return nil
	}
	e := about(cur, LostExpiry)
	e.TTL, e.PrevTTL = family.NoTTL, prev.leftMS(w.at)
	if len(cur.Holders) == 1 {
		e.Holder = who(cur.Holders[0].ID)
	}
	return []Event{e}
}

// acquired is that somebody holds the lock who did not.
func acquired(prev, cur *Lock, h family.Holder, w *witness) Event {
	e := about(cur, WasAcquired)
	e.Holder, e.TTL = who(h.ID), cur.leftOf(h, cur.SampledAt)
	if prev != nil {
		e.Note = skipped(prev.Fence, cur.Fence)
	}
	switch {
	case !w.rescan:
	case w.within > 0:
		e.Note = "found by a scan: taken within the last " + moment(w.within)
	default:
		e.Inferred, e.Note = true, "found by a scan: it may have been held for longer"
	}
	if w.gap != "" {
		e.Inferred, e.Note = true, w.gap
	}
	return e
}

// another is one holder after another.
func another(prev, cur *Lock, kind EventKind, was, is family.Holder, w *witness) Event {
	e := about(cur, kind)
	e.Previous, e.Holder = who(was.ID), who(is.ID)
	e.TTL, e.PrevTTL = cur.leftMS(cur.SampledAt), prev.leftMS(w.at)
	e.Note = skipped(prev.Fence, cur.Fence)
	if w.hold {
		e.Kind = OperatorHolds
	}
	return e
}

// skipped says how many acquisitions lie between two fencing numbers.
func skipped(before, after string) string {
	a, ok1 := new(big.Int).SetString(before, 10)
	b, ok2 := new(big.Int).SetString(after, 10)
	if !ok1 || !ok2 {
		return ""
	}
	switch n := new(big.Int).Sub(b, a); {
	case n.Sign() < 0:
		return fmt.Sprintf("its fence went back from %s to %s", before, after)
	case n.Cmp(big.NewInt(1)) > 0:
		return fmt.Sprintf("its fence went from %s to %s: %s acquisitions between were not seen", before, after, n.Sub(n, big.NewInt(1)))
	}
	return ""
}

// ended is the end of one holder's hold, with the best reason there is.
func ended(prev *Lock, h family.Holder, w *witness) Event {
	e := about(prev, WasReleased)
	e.Previous, e.PrevTTL = who(h.ID), prev.leftOf(h, w.end())
	e.Kind, e.Inferred, e.Note = reason(prev, h, w)
	return e
}

// endedOrEmptied is said where both were told, and either may have come first.
const endedOrEmptied = "ended, or its database was emptied: both happened, and the end may be that of a later hold"

// reason is why a hold ended: what the server said, else what the facts allow.
func reason(prev *Lock, h family.Holder, w *witness) (kind EventKind, inferred bool, note string) {
	end, ok := prev.endsFor(h)
	over := ok && !w.end().Before(end.Add(-prev.Uncertainty-2*time.Millisecond))
	switch said, alone := endTold(w.told); {
	case w.forced.about(h.ID):
		return ForceReleased, false, ""
	case said == "renamed":
		return WentAway, false, "its key was renamed or moved"
	case said != "" && (w.flushed || w.emptied):
		return WentAway, false, endedOrEmptied
	case said != "" && !alone:
		return WentAway, false, "more was told than one end: which was this hold's is not known"
	case said == WasReleased && over && !w.whole:
		return WasExpired, true, "" // a deletion was seen, but perhaps not this hold's
	case said != "":
		return said, false, ""
	case w.flushed:
		return WasFlushed, false, ""
	case over:
		return WasExpired, true, ""
	case w.emptied:
		return WasFlushed, true, ""
	case w.gap != "":
		return WentAway, false, w.gap
	case w.perhaps:
		return WentAway, false, "released, or its database was emptied: its hold began about when that happened"
	case w.evicted:
		return WentAway, false, "released, or evicted: the server has evicted keys meanwhile, or does not say whether"
	}
	return WasReleased, true, ""
}
