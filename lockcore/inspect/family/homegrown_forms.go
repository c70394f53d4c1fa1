package family

import (
	"slices"
	"strings"

	"fencepost/lockcore/wire"
)

// The fields by which hand-made hashes name their holder, the surest first, and
// what else they tell.
var (
	ownerFields    = []string{"owner", "holder", "locked_by", "lockedBy", "owner_id", "ownerId", "client", "client_id", "clientId", "worker", "token", "lock_id", "lockId", "uuid", "value"}
	tokenFields    = []string{"token", "lock_id", "lockId", "uuid"}
	countFields    = []string{"count", "counter", "holds", "hold_count", "holdCount", "reentrancy", "reentrant"}
	deadlineFields = []string{"expires_at", "expiresAt", "expires", "expiry", "deadline", "locked_until", "lockedUntil", "lock_until", "until"}
	thingFields    = []string{"battery", "firmware", "model", "title", "price", "color", "email", "brand", "state", "tenant", "rent"}
	fenceFields    = []string{"fence", "fencing_token", "fencingToken", "fence_token"}
)

// firstField is the first of these fields that a hash has.
func firstField(s *Sample, names []string) (name, value string, ok bool) {
	for _, n := range names {
		if v, ok := s.Get(n); ok && v != "" {
			return n, v, true
		}
	}
	return "", "", false
}

// homegrownMatchHash claims a hash whose name says lock: one with an owner, or
// one of a single field that is counted, as re-entrant locks are made.
func homegrownMatchHash(s *Sample) []Claim {
	if !SmellsLikeLock(s.Key) || len(s.Pairs) == 0 {
		return nil
	}
	if name, _, ok := firstField(s, ownerFields); ok && s.Len <= 32 {
		if !lockHash(s) {
			return possibly("the name says lock, but the fields are those of a thing that is locked or let")
		}
		return likely("the name says lock, the field " + name + " names its holder")
	}
	if n, ok := parseInt(s.Pairs[0].B); ok && n >= 1 && n < 10_000 && s.Len == 1 {
		return likely("the name says lock, its one field is counted")
	}
	return nil
}

// lockHash reports whether a hash with an owner is a lock's: it expires, or it
// is small or tells when it was taken, and is no record of a thing.
func lockHash(s *Sample) bool {
	if _, _, thing := firstField(s, thingFields); thing {
		return false
	}
	if s.PTTL >= 0 {
		return true
	}
	_, _, counted := firstField(s, countFields)
	_, _, ends := firstField(s, deadlineFields)
	_, _, token := firstField(s, tokenFields)
	return nameOf(s.Key).kind == Mutex && (counted || ends || token || s.Len <= 3)
}

func homegrownDecodeHash(f *Facts) Reading {
	m := f.Main
	r := Reading{Kind: nameOf(m.Key).kind, State: Held, Resource: withoutLockWord(m.Key), Weak: true}
	h := Holder{}
	if _, v, ok := firstField(m, ownerFields); ok && m.Len > 1 {
		h.ID = wire.Raw(v)
		describe(&h, v)
		if _, n, ok := firstField(m, countFields); ok {
			h.Count, _ = parseInt(n)
		}
		_, _, token := firstField(m, tokenFields)
		r.Weak = !token
	} else if m.Len == 1 && len(m.Pairs) == 1 {
		h.ID = wire.Raw(m.Pairs[0].A)
		h.Count, _ = parseInt(m.Pairs[0].B)
	} else {
		return Reading{NoRow: true}
	}
	for _, p := range m.Pairs {
		note(&h, p.A, p.B)
	}
	r.Holders = []Holder{h}
	if _, v, ok := firstField(m, deadlineFields); ok {
		if ms, ok := timeIn(v); ok {
			r.endsAt(f, ms)
		}
	}
	if _, v, ok := firstField(m, fenceFields); ok && wire.ValidFence(v) {
		r.Fence = v
	}
	homegrownFence(f, &r)
	return r
}

// homegrownReleaseHash compares the owner, and the token where there is one.
func homegrownReleaseHash(t *Target) []Step {
	m := t.Facts.Main
	var fields []wire.Field
	for _, names := range [][]string{ownerFields, tokenFields} {
		if n, v, ok := firstField(m, names); ok && !slices.ContainsFunc(fields, func(f wire.Field) bool { return f.Name == n }) {
			fields = append(fields, wire.Field{Name: n, Value: v, Exact: true})
		}
	}
	if len(fields) == 0 && len(m.Pairs) == 1 {
		fields = []wire.Field{{Name: m.Pairs[0].A}}
	}
	if len(fields) == 0 {
		return nil
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	return []Step{{r.HashKey(0, fields), "delete the hash if it still names this holder"}}
}

// The companions of a semaphore that keeps its order apart (Redis in Action).
const (
	semaphoreOwner   = ":owner"
	semaphoreCounter = ":counter"
)

// homegrownMatchZSet claims a sorted set whose name says semaphore and whose
// scores are times, and the set of ranks beside one.
func homegrownMatchZSet(s *Sample) []Claim {
	n := nameOf(s.Key)
	if n.hint != lockish || len(s.Pairs) == 0 {
		return nil
	}
	for _, p := range s.Pairs {
		if _, isTime := timeIn(p.B); !isTime {
			base, ok := strings.CutSuffix(s.Key, semaphoreOwner)
			if ok && nameOf(base).kind == Semaphore && isInt(p.B) {
				return partOf(base, Likely, "the order in which a semaphore was asked for")
			}
			return nil
		}
	}
	if n.kind == Semaphore {
		return likely("the name says semaphore, the scores are times")
	}
	return possibly("the name says lock, the scores are times")
}

// homegrownDecodeMembers reads the holders of a semaphore that is a set or a
// sorted set. It reads the scores as deadlines where any lies ahead, else
// as starts: how long a holder may stay is not in the data then.
func homegrownDecodeMembers(f *Facts) Reading {
	r := Reading{Kind: Semaphore, State: Held, Resource: withoutLockWord(f.Main.Key)}
	ahead := false
	for _, p := range f.Main.Pairs {
		ms, _ := timeIn(p.B)
		ahead = ahead || ms > f.NowMS()
	}
	for _, p := range f.Main.Pairs {
		h := Holder{ID: wire.Raw(p.A)}
		if ms, ok := timeIn(p.B); ok && ahead {
			h.until(f, ms)
		} else if ok {
			h.Since = at(ms)
		}
		r.Holders = append(r.Holders, h)
	}
	if len(r.Holders) == 0 {
		return Reading{NoRow: true}
	}
	r.have(f, f.Main.Key+semaphoreOwner, f.Main.Key+semaphoreCounter)
	r.expireTogether(f)
	return r
}

// homegrownMatchCounter claims counters that belong to a lock of another form:
// readers beside a writer, the counter of a semaphore.
func homegrownMatchCounter(s *Sample) []Claim {
	if base, ok := strings.CutSuffix(s.Key, semaphoreCounter); ok && nameOf(base).kind == Semaphore {
		return partOf(base, Likely, "the counter of a semaphore")
	}
	other, readers, ok := rwSibling(s.Key)
	if !ok || !readers {
		return nil
	}
	if s.Value == "0" {
		return partOf(other, rwConfidence(s), "no readers beside a writer")
	}
	if c := rwConfidence(s); c > Unlikely {
		return []Claim{{Confidence: c, Why: "a count of readers"}}
	}
	return nil
}

// homegrownMatchWriter claims the writer's key of such a pair.
func homegrownMatchWriter(s *Sample) []Claim {
	if _, readers, ok := rwSibling(s.Key); !ok || readers || !short(s) {
		return nil
	}
	if c := rwConfidence(s); c > Unlikely {
		return []Claim{{Confidence: c, Why: "a writer beside readers"}}
	}
	return nil
}

// rwConfidence is how sure a key that ends in readers or writer is a lock's:
// articles have them too, but without a TTL.
func rwConfidence(s *Sample) Confidence {
	switch {
	case SmellsLikeLock(s.Key), strings.HasPrefix(s.Key, "rw:"), strings.Contains(s.Key, ":rw:"):
		return Likely
	case s.PTTL > 0 && s.PTTL <= hour:
		return Possible
	}
	return Unlikely
}

// rwSibling is the other key of a pair <base><separator>readers and writer.
func rwSibling(key string) (other string, readers, ok bool) {
	base, readers := strings.CutSuffix(key, "readers")
	if !readers {
		var writer bool
		if base, writer = strings.CutSuffix(key, "writer"); !writer {
			return "", false, false
		}
	}
	if n := len(base); n < 2 || alnum(base[n-1]) {
		return "", false, false
	}
	if readers {
		return base + "writer", true, true
	}
	return base + "readers", false, true
}

// homegrownRW reports whether a string is one of such a pair.
func homegrownRW(s *Sample) bool {
	_, readers, ok := rwSibling(s.Key)
	return ok && (!readers || isInt(s.Value))
}

func homegrownDecodeRW(f *Facts) Reading {
	other, readers, _ := rwSibling(f.Main.Key)
	sibling := f.Key(other)
	r := Reading{Label: "home-grown read/write lock", Kind: RWLock, State: Held, Weak: true}
	r.have(f, other)
	if sibling.Type != None {
		r.Confidence = max(r.Confidence, f.Claim.Confidence, Likely)
	}
	if readers {
		n, _ := parseInt(f.Main.Value)
		if n <= 0 {
			return Reading{NoRow: true}
		}
		r.Holders = []Holder{{Count: n, Mode: "read"}}
		r.NoRelease = "a count of readers names nobody: taking one off would free somebody else's"
		return r
	}
	h := Holder{ID: wire.Raw(f.Main.Value), Mode: "write"}
	if c := classOf(f.Main); c == classToken || c == classBinary || oneOff(f.Main.Value) {
		r.Weak = false
	}
	describe(&h, f.Main.Value)
	r.Holders = []Holder{h}
	return r
}
