package inspect

import (
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

// lastEnd is the last end that keyspace events told of; "" where none did.
func lastEnd(told []string) EventKind {
	for i := len(told) - 1; i >= 0; i-- {
		if k := endOf(told[i]); k != "" {
			return k
		}
	}
	return ""
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
	out       []Event

	alive bool
	gen   int
	fresh bool // the last event began this generation: an expire now is part of it
	timed bool // this generation has an expiry
	had   bool // the value that this one replaced had an expiry
}

// replay makes events out of the complete list of what happened to a lock of
// one holder. ok is false where the list and the looks contradict each other.
func replay(prev, cur *Lock, w *witness) (out []Event, ok bool) {
	s := &story{prev: prev, cur: cur, w: w}
	was, is := held(prev), held(cur)
	if len(was) == 1 {
		s.first, s.alive = who(was[0].ID), true
		_, s.timed = prev.ends()
	}
	if len(is) == 1 {
		s.last = who(is[0].ID)
	}
	s.gens = s.count()
	for _, event := range w.told {
		s.step(event)
	}
	if s.alive != (len(is) == 1) || s.alive && s.gens == 0 && s.first.ID != s.last.ID {
		return nil, false // one field of a hash for another: how, the events do not say
	}
	if s.alive && s.had && !s.timed {
		s.lost()
	}
	s.finish()
	return s.out, true
}

// count is how many generations come after the first.
func (s *story) count() int {
	n, alive := 0, s.alive
	for _, event := range s.w.told {
		switch {
		case endOf(event) != "":
			alive = false
		case event == toldExpire || event == toldPersist || removes(event):
		case !alive || replaces(event):
			n++
			alive = true
		}
	}
	return n
}

// name is who held the lock in a generation.
func (s *story) name(gen int) Who {
	switch gen {
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
	fresh := s.fresh
	s.fresh = false
	end := endOf(event)
	switch {
	case end != "":
		if s.alive {
			s.end(end)
		}
		s.alive, s.timed = false, false
	case event == toldExpire:
		if s.alive && !fresh {
			s.renew()
		}
		s.timed = true
	case event == toldPersist:
		if s.alive && s.timed {
			s.lost()
		}
		s.timed = false
	case removes(event):
	case !s.alive:
		s.gen++
		s.alive, s.fresh, s.timed, s.had = true, true, false, false
		s.add(WasAcquired)
	case replaces(event):
		s.replace()
	case event == "hincrby" || event == "hset":
		s.fresh = true // taken again, or given back once: the expire that follows is no heartbeat
	}
}

// replace is a value over a value: another holder without a release.
func (s *story) replace() {
	before := s.name(s.gen)
	s.gen++
	s.fresh = true
	after := s.name(s.gen)
	s.had, s.timed = s.timed, false
	if before.Known && after.Known && before.ID == after.ID {
		s.fresh = false // written anew by the same: the expire that follows is a renewal
		return
	}
	e := about(s.lock(), Overwritten)
	if s.w.hold && s.gen == s.gens {
		e.Kind = OperatorHolds
	}
	e.Previous, e.Holder = before, after
	e.PrevTTL = s.ttl(s.gen - 1)
	e.TTL = s.ttl(s.gen)
	s.out = append(s.out, e)
}

func (s *story) add(kind EventKind) {
	e := about(s.lock(), kind)
	e.Holder, e.TTL = s.name(s.gen), s.ttl(s.gen)
	s.out = append(s.out, e)
}

func (s *story) end(kind EventKind) {
	e := about(s.lock(), kind)
	e.Previous, e.PrevTTL = s.name(s.gen), s.ttl(s.gen)
	switch {
	case kind == "renamed":
		e.Kind, e.Note = WentAway, "its key was renamed or moved"
	case kind == WasReleased && s.forced():
		e.Kind = ForceReleased
	}
	s.out = append(s.out, e)
}

// forced reports whether an act of ours was about who holds it now.
func (s *story) forced() bool {
	if now := s.name(s.gen); now.Known {
		return s.w.forced.about(now.ID)
	}
	return s.w.forced != nil && s.w.forced.of == nil
}

func (s *story) renew() {
	s.add(WasRenewed)
	if s.gen == 0 {
		s.out[len(s.out)-1].PrevTTL = s.ttl(0)
	}
}

func (s *story) lost() {
	e := about(s.lock(), LostExpiry)
	e.Holder, e.TTL, e.PrevTTL = s.name(s.gen), family.NoTTL, s.ttl(s.gen)
	if s.gen > 0 {
		e.PrevTTL = s.ttl(s.gen - 1)
	}
	s.out = append(s.out, e)
}

// ttl is what is known of the TTL in a generation.
func (s *story) ttl(gen int) int64 {
	switch {
	case gen == 0 && s.prev != nil:
		return s.prev.leftMS(s.w.at)
	case gen == s.gens && s.cur != nil:
		return s.cur.leftMS(s.cur.SampledAt)
	}
	return family.Gone
}

// finish gives the last renewal the TTL that the last look saw.
func (s *story) finish() {
	for i := len(s.out) - 1; i >= 0 && s.cur != nil && s.alive; i-- {
		if s.out[i].Kind == WasRenewed && s.gen == s.gens {
			s.out[i].TTL = s.cur.leftMS(s.cur.SampledAt)
			if s.forced() {
				s.out[i].Note = setByOperator
			}
			return
		}
	}
}
