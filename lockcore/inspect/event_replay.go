package inspect

import (
	"cmp"

	"fencepost/lockcore/inspect/family"
)

// What a keyspace event means for the lock whose key it names. Events of other
// names (hset, zadd, hincrby) change what stands in the key.
const (
	toldSet     = "set" // the whole value is new, and any expiry is gone
	toldExpire  = "expire"
	toldPersist = "persist"
)

// endOf maps the events after which a key is not there.
func endOf(event string) EventKind {
	switch event {
	case "del":
		return WasReleased
	case "expired":
		return WasExpired
	case "evicted":
		return WasEvicted
	case "rename_from", "move_from":
		return "renamed"
	}
	return ""
}

// replaces reports whether after this event the key holds another value, and
// no expiry that it had before.
func replaces(event string) bool {
	switch event {
	case toldSet, "rename_to", "move_to", "restore", "copy_to":
		return true
	}
	return false
}

// removes reports whether an event takes something out of a collection; where
// that was the last of it, a "del" follows.
func removes(event string) bool {
	switch event {
	case "hdel", "hexpired", "zrem", "zremrangebyscore", "zremrangebyrank", "zremrangebylex", "srem", "spop", "lrem",
		"lpop", "rpop", "ltrim", "zpopmin", "zpopmax":
		return true
	}
	return false
}

// endTold is the end that keyspace events told of; "" where none did. It is not
// alone where another way to end was told too, or that the value was replaced.
func endTold(told []string) (kind EventKind, alone bool) {
	alone = true
	for _, event := range told {
		k := endOf(event)
		alone = alone && !replaces(event) && (k == "" || kind == "" || k == kind)
		kind = cmp.Or(k, kind)
	}
	return kind, alone
}

// story is a replay of all that happened to a lock's key between two looks.
// Each value that stood there is a generation; only the first and the last are
// known by a look.
type story struct {
	prev, cur *Lock
	w         *witness
	first     Who
	last      Who
	gens      int // how many there are
	ends      int // how often its end was set after the first look
	out       []Event

	alive bool
	gen   int
	end   int  // how often its end was set so far
	fresh bool // the last event began this generation: an expire now is part of it
	again bool // the last event was of the same holder: an expire now is no heartbeat
	timed bool // this generation has an expiry
	had   bool // the value that this one replaced had an expiry, and this one has none yet
	left  int64
}

// replay makes events out of the complete list of what happened to a lock of
// one holder. ok is false where the list and the looks contradict each other.
func replay(prev, cur *Lock, w *witness) (out []Event, ok bool) {
	s := newStory(prev, cur, w)
	s.play()
	for range 2 { // how many values there were says whose the last was, and that which ends were set
		again := newStory(prev, cur, w)
		again.gens, again.ends = s.gen, s.end
		s = again
		s.play()
	}
	if s.alive != (len(held(cur)) == 1) || s.alive && s.gens == 0 && s.first.ID != s.last.ID {
		return nil, false // one field of a hash for another: how, the events do not say
	}
	if s.alive && s.had && !s.timed {
		s.lost(s.left)
	}
	s.operators()
	return s.out, true
}

// newStory stands at its beginning, and knows of nothing that comes.
func newStory(prev, cur *Lock, w *witness) *story {
	s := &story{prev: prev, cur: cur, w: w, gens: -1, ends: -1}
	if was := held(prev); len(was) == 1 {
		s.first, s.alive = who(was[0].ID), true
		_, s.timed = prev.ends()
	}
	if is := held(cur); len(is) == 1 {
		s.last = who(is[0].ID)
	}
	return s
}

func (s *story) play() {
	for _, event := range s.w.told {
		s.step(event)
	}
}

// name is who holds the lock in the present generation.
func (s *story) name() Who {
	switch s.gen {
	case 0:
		return s.first
	case s.gens:
		return s.last
	}
	return Who{}
}

// lock is the look that stands for the present generation.
func (s *story) lock() *Lock {
	switch {
	case s.cur != nil && (s.gen == s.gens || s.prev == nil):
		return s.cur
	case s.prev != nil:
		return s.prev
	}
	return s.w.key
}

func (s *story) step(event string) {
	fresh, again := s.fresh, s.again
	s.fresh, s.again = false, false
	end := endOf(event)
	switch {
	case end != "":
		if s.alive {
			s.over(end)
		}
		s.alive, s.timed = false, false
	case event == toldExpire:
		s.expire(fresh, again)
	case event == toldPersist:
		if s.alive && s.timed {
			before := s.ttl()
			s.end++
			s.lost(before)
		}
		s.timed, s.had = false, false
	case removes(event):
	case !s.alive:
		s.gen, s.end = s.gen+1, s.end+1
		s.alive, s.fresh, s.timed, s.had = true, true, false, false
		s.add(WasAcquired)
	case replaces(event):
		s.replace()
	default: // taken again, or given back once; with a new value it is a part of that
		s.fresh, s.again = fresh, !fresh
	}
}

// expire is a new end. One that comes with a new value is a part of that.
func (s *story) expire(fresh, again bool) {
	if s.alive && !fresh {
		before := s.ttl()
		if s.had {
			before = s.left
		}
		s.end++
		if !again {
			s.add(WasRenewed)
			s.out[len(s.out)-1].PrevTTL = before
		}
	}
	s.timed, s.had = true, false
}

// replace is a value over a value: another holder without a release. Where one of
// the two was not seen they may be the same, and it is only concluded.
func (s *story) replace() {
	before, left := s.name(), s.ttl()
	s.gen, s.end = s.gen+1, s.end+1
	after := s.name()
	s.had, s.left, s.timed = s.timed, left, false
	if before.Known && after.Known && before.ID == after.ID {
		return // written anew by the same: the expire that follows is a renewal
	}
	s.fresh = true
	e := about(s.lock(), Overwritten)
	if s.w.hold && s.gen == s.gens {
		e.Kind = OperatorHolds
	}
	e.Previous, e.Holder = before, after
	e.PrevTTL, e.TTL = left, s.ttl()
	e.Inferred = !before.Known || !after.Known
	if s.w.emptied {
		e.Inferred, e.Note = true, "or its database was emptied before: the server does not tell of that"
	}
	s.out = append(s.out, e)
}

func (s *story) add(kind EventKind) {
	e := about(s.lock(), kind)
	e.Holder, e.TTL = s.name(), s.ttl()
	s.out = append(s.out, e)
}

func (s *story) over(kind EventKind) {
	e := about(s.lock(), kind)
	e.Previous, e.PrevTTL = s.name(), s.ttl()
	switch {
	case kind == "renamed":
		e.Kind, e.Note = WentAway, "its key was renamed or moved"
	case kind == WasReleased && s.forced():
		e.Kind = ForceReleased
	case s.gen == 0 && s.w.emptied:
		e.Kind, e.Note = WentAway, endedOrEmptied
	}
	s.out = append(s.out, e)
}

// forced reports whether an act of ours was about who holds it now.
func (s *story) forced() bool {
	if now := s.name(); now.Known {
		return s.w.forced.about(now.ID)
	}
	return s.w.forced != nil && s.w.forced.of == nil
}

// lost is that it has no expiry any more; before is what was left.
func (s *story) lost(before int64) {
	e := about(s.lock(), LostExpiry)
	e.Holder, e.TTL, e.PrevTTL = s.name(), family.NoTTL, before
	s.out = append(s.out, e)
}

// ttl is what is known of the TTL now: as the first look saw it until its end is
// set, and as the last look saw it after its end was set for the last time.
func (s *story) ttl() int64 {
	switch {
	case s.end == 0 && s.prev != nil && !s.w.seen:
		return s.prev.leftMS(s.w.at)
	case s.end > 0 && s.end == s.ends && s.cur != nil && len(held(s.cur)) > 0 && !s.w.ahead:
		return s.cur.leftMS(s.cur.SampledAt)
	}
	return family.Gone
}

// operators says of the last renewal that it was none, where we set that time.
func (s *story) operators() {
	for i := len(s.out) - 1; i >= 0 && s.cur != nil && s.alive; i-- {
		if s.out[i].Kind == WasRenewed && s.gen == s.gens {
			if s.forced() {
				s.out[i].Note = setByOperator
			}
			return
		}
	}
}
