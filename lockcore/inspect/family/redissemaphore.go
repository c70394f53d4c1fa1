package family

import (
	"cmp"
	"slices"
	"strings"

	"fencepost/lockcore/wire"
)

// redisSemaphore is npm's redis-semaphore: mutex:NAME is a string with the
// holder's UUID, semaphore:NAME a sorted set of holders with the moment in
// milliseconds at which each was taken or last refreshed; a MultiSemaphore has
// one member for each permit, UUID_0, UUID_1 (src/RedisMutex.ts, src/semaphore,
// src/multiSemaphore). The limit is not stored. The lock timeout is not either,
// but each of them sets the key's TTL to it.
func redisSemaphore() *Family {
	return &Family{
		ID: "redis-semaphore-npm", Label: "redis-semaphore (npm)", Types: []Type{String, ZSet},
		Looks: "a random UUID under mutex:, or such UUIDs with times in milliseconds under semaphore:",
		Match: func(s *Sample) []Claim {
			if s.Type == ZSet {
				return redisSemaphoreSet(s)
			}
			if _, _, ok := after(s.Key, "mutex:"); !ok || !redisSemaphoreID(s.Value) {
				return nil
			}
			return likely("mutex: and a random UUID")
		},
		Decode: func(f *Facts) Reading {
			switch f.Main.Type {
			case String:
				r := token(f, Mutex)
				r.Label, r.Resource, r.Note = "redis-semaphore Mutex", rest(f.Main.Key, "mutex:"), redisSemaphoreNote
				return r
			case ZSet:
				return redisSemaphoreRead(f)
			}
			return Reading{NoRow: true}
		},
		Release: redisSemaphoreRelease,
	}
}

const redisSemaphoreNote = "unless it was given its own onLockLost, the holder's process ends with an uncaught LostLockError at its next refresh"

// redisSemaphoreID reports whether s is a holder: a UUID, with a suffix of the
// application's own after a hyphen.
func redisSemaphoreID(s string) bool {
	return len(s) >= 36 && isUUID4(s[:36]) && (len(s) == 36 || s[36] == '-' && isPrintable(s))
}

func redisSemaphoreSet(s *Sample) []Claim {
	if _, _, ok := after(s.Key, "semaphore:"); !ok || len(s.Pairs) == 0 {
		return nil
	}
	for _, p := range s.Pairs {
		id, _ := redisSemaphorePermit(p.A)
		if _, ok := epochMS(p.B); !ok || !redisSemaphoreID(id) {
			return nil
		}
	}
	return sure("semaphore:, and UUIDs with times in milliseconds")
}

// redisSemaphorePermit takes the number of the permit off a member.
func redisSemaphorePermit(member string) (id string, multi bool) {
	if i := strings.LastIndexByte(member, '_'); i >= 36 && isDigits(member[i+1:]) {
		return member[:i], true
	}
	return member, false
}

// redisSemaphoreRead gives each holder what is left of its own time: whoever was
// refreshed last set the key's TTL to the lock timeout, and the others are as
// much nearer to their end as they were refreshed earlier.
func redisSemaphoreRead(f *Facts) Reading {
	r := Reading{Label: "redis-semaphore Semaphore", Kind: Semaphore, State: Held,
		Resource: rest(f.Main.Key, "semaphore:"), Note: redisSemaphoreNote}
	var last int64
	for _, p := range f.Main.Pairs {
		ms, _ := epochMS(p.B)
		last = max(last, ms)
	}
	for _, p := range f.Main.Pairs {
		id, multi := redisSemaphorePermit(p.A)
		if multi {
			r.Label = "redis-semaphore MultiSemaphore"
		}
		i := slices.IndexFunc(r.Holders, func(h Holder) bool { return string(h.ID) == id })
		if i < 0 {
			i = len(r.Holders)
			r.Holders = append(r.Holders, Holder{ID: wire.Raw(id)})
		}
		h := &r.Holders[i]
		h.Count++
		if ms, ok := epochMS(p.B); ok && f.Main.PTTL >= 0 {
			h.TTL, h.HasTTL = f.Main.PTTL-(last-ms), true
			h.Beat = at(ms)
		}
	}
	if len(r.Holders) > 0 && f.Main.PTTL >= 0 {
		fresh := slices.MaxFunc(r.Holders, func(a, b Holder) int { return cmp.Compare(a.TTL, b.TTL) })
		if fresh.TTL <= 0 {
			r.State = Lapsed
		}
	}
	return r
}

func redisSemaphoreRelease(t *Target) []Step {
	m := t.Facts.Main
	if m.Type == String {
		return releaseValue(t)
	}
	var seen []string
	for _, p := range m.Pairs {
		id, _ := redisSemaphorePermit(p.A)
		if slices.ContainsFunc(t.Holders, func(h Holder) bool { return string(h.ID) == id }) {
			seen = append(seen, p.A)
		}
	}
	if len(seen) == 0 {
		return nil
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	return []Step{{r.Members(wire.Members{Seen: seen}), "take the holder's permits out of the semaphore"}}
}
