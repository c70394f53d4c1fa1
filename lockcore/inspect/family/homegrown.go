package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// homeGrown are locks written by hand, as articles have them: SET k v NX EX
// with a flag, an owner's name, a time or a token; SETNX without an expiry, or
// with a deadline in the value; INCR; a hash with an owner; a sorted set of
// times; a counter of readers beside a writer; a fence counter beside any of
// these. The key's name is what tells them from ordinary data.
func homeGrown() *Family {
	return &Family{
		ID: homegrownID, Label: "home-grown lock",
		Types:   []Type{String, Hash, ZSet, Set},
		Looks:   "a key whose name says lock, mutex, lease, leader or semaphore, with a value such as people write into locks",
		Match:   homegrownMatch,
		Reads:   homegrownReads,
		Decode:  homegrownDecode,
		Release: homegrownRelease,
	}
}

func homegrownMatch(s *Sample) []Claim {
	switch s.Type {
	case Hash:
		return homegrownMatchHash(s)
	case ZSet:
		return homegrownMatchZSet(s)
	case Set:
		switch n := nameOf(s.Key); {
		case n.hint != lockish || len(s.Pairs) == 0:
			return nil
		case n.kind == Semaphore:
			return likely("the name says semaphore, the members are its holders")
		}
		return possibly("a set whose name says lock")
	}
	if isInt(s.Value) {
		if c := fenceMatch(s); c != nil {
			return c
		}
		if c := homegrownMatchCounter(s); c != nil {
			return c
		}
	}
	n := nameOf(s.Key)
	if n.hint == lockish {
		return homegrownNamed(s, n)
	}
	if c := homegrownMatchWriter(s); c != nil {
		return c
	}
	if n.hint == neutral && s.PTTL > 0 && s.PTTL <= day && busyName(s.Key) {
		return homegrownBusy(s)
	}
	return nil
}

// homegrownNamed judges the value of a string whose name says lock.
func homegrownNamed(s *Sample, n name) []Claim {
	class := classOf(s)
	claim := handMade(Likely, "the name says lock, the value is "+string(class))
	expires := s.PTTL >= 0
	switch class {
	case classToken, classHostPID:
	case classBinary, classCount, classNumber:
		if !expires {
			claim.Confidence = Possible
		}
	case classFlag, classEmpty, classTime, classISO, classJSON, classText:
		if !expires && !homegrownPlain(s, n, class) {
			claim.Confidence = Possible
		}
	case classState:
		claim.Confidence = Possible
	default:
		return nil
	}
	return []Claim{claim}
}

// homegrownPlain reports whether a value without an expiry is a lock's: under a
// name that is a lock's own, no leader of a team and no lease of a car, and no
// document but one that speaks of a holder.
func homegrownPlain(s *Sample, n name, class class) bool {
	switch {
	case !n.edge:
		return false
	case class == classJSON:
		return n.kind == Mutex && lockJSON(s.Value)
	case class == classText:
		return n.kind == Mutex && !strings.ContainsAny(s.Value, " \t")
	}
	return true
}

// handMade is a claim that gives way to any library that knows the value, and
// shares the key with those that know no more than its shape.
func handMade(c Confidence, why string) Claim {
	return Claim{Confidence: c, Candidates: []string{"home-grown"}, Why: why}
}

// homegrownBusy judges a string that expires and whose name says that something
// is under way.
func homegrownBusy(s *Sample) []Claim {
	switch class := classOf(s); class {
	case classFlag, classHostPID, classToken, classText, classCount, classNumber:
		return []Claim{handMade(Possible, "the name says that something is under way, the value is "+string(class))}
	}
	return nil
}

func homegrownReads(c Claim, main *Sample) Reads {
	switch main.Type {
	case ZSet:
		return Reads{Keys: []string{main.Key + semaphoreOwner, main.Key + semaphoreCounter}}
	case String:
		if other, _, ok := rwSibling(main.Key); ok {
			return Reads{Keys: []string{other}}
		}
	case None:
		return Reads{}
	}
	return Reads{Keys: fenceKeys(main.Key)}
}

func homegrownDecode(f *Facts) Reading {
	switch f.Main.Type {
	case Hash:
		return homegrownDecodeHash(f)
	case ZSet, Set:
		return homegrownDecodeMembers(f)
	case String:
	default:
		return Reading{NoRow: true}
	}
	if _, _, ok := rwSibling(f.Main.Key); ok && nameHint(f.Main.Key) != lockish || homegrownRW(f.Main) {
		return homegrownDecodeRW(f)
	}
	if f.Claim.Companion && !f.Main.Whole {
		return Reading{NoRow: true} // a counter beside a document is no fence
	}
	r := Reading{Kind: nameOf(f.Main.Key).kind, State: Held, Resource: withoutLockWord(f.Main.Key)}
	homegrownValue(f, &r)
	homegrownFence(f, &r)
	return r
}

// homegrownValue reads who holds the lock from its value.
func homegrownValue(f *Facts, r *Reading) {
	v := f.Main.Value
	h := Holder{}
	switch classOf(f.Main) {
	case classFlag, classEmpty, classState:
		r.Weak = true
	case classCount:
		r.Weak = true
		n, _ := parseInt(line(v))
		if slotsName(f.Main.Key) {
			r.Kind = Semaphore
		}
		if r.Kind == Semaphore {
			h.Count = n
			r.NoRelease = "a count names nobody: deleting it would free everybody's places"
		}
		if n <= 0 {
			r.NoRow = true
		}
	case classTime, classISO:
		homegrownTime(f, r, &h)
	case classHostPID, classText, classNumber:
		r.Weak = !oneOff(line(v))
		h.ID = wire.Raw(v)
		describe(&h, line(v))
	case classJSON:
		h.ID = wire.Raw(v)
		r.Fence = describe(&h, line(v))
	default:
		h.ID = wire.Raw(v)
	}
	r.Holders = []Holder{h}
}

// homegrownTime reads a time that stands for a holder. Ahead it is a deadline;
// in the past it is when the lock was taken, or a deadline that has passed: the
// data does not say which.
func homegrownTime(f *Facts, r *Reading, h *Holder) {
	ms, ok := timeIn(line(f.Main.Value))
	switch {
	case !ok:
	case ms > f.NowMS():
		r.endsAt(f, ms)
	case f.Main.PTTL >= 0:
		h.Since = at(ms)
	default:
		r.warn(DeadlinePassed, "the time in it was "+ago(f.NowMS()-ms)+" ago: if it is a deadline, the next one may take the lock; if it says when the lock was taken, nothing ends it")
	}
}

func homegrownRelease(t *Target) []Step {
	m := t.Facts.Main
	switch {
	case len(t.Holders) == 0:
		return nil
	case m.Type == Hash:
		return homegrownReleaseHash(t)
	case m.Type == ZSet, m.Type == Set:
		r := wire.Release{Lock: m.Key, Guard: t.Guard}
		members := wire.Members{Seen: holderIDs(t.Holders), Set: m.Type == Set}
		if t.Facts.Key(m.Key+semaphoreOwner).Type == ZSet {
			members.In = []string{m.Key + semaphoreOwner}
		}
		return []Step{{r.Members(members), "take these holders out"}}
	}
	return releaseValueWith(t, wire.Wake{}, "delete the key if it still holds this value; what its own code would do besides is not known")
}
