package family

import "strings"

// The libraries whose token is a bare random UUID. No key tells them apart, so
// each only says that it may be.

const uuidLooks = "a random UUID"

// aioredlock: any key, 10 s, a watchdog (aioredlock/algorithm.py).
func aioredlock() *Family {
	return shapeFamily("aioredlock", "aioredlock", uuidLooks, isUUID4,
		"the holder's watchdog puts the lock back while its process lives")
}

// sherlock: namespace_name, 60 s (sherlock/lock.py, RedisLock).
func sherlock() *Family {
	return shapeFamily("sherlock", "sherlock RedisLock", uuidLooks, isUUID4,
		"the holder gets LockException when it releases")
}

// redlockPy: 22 random letters and digits (redlock/__init__.py).
func redlockPy() *Family {
	return shapeFamily("redlock-py", "redlock-py", "22 random letters and digits",
		func(v string) bool { return isAlnum(v, 22) && looksRandom(v) },
		"release it on all servers of the group; the holder works on, its release does nothing")
}

// pottery writes redlock:NAME, as RedLock.net does by default (pottery/redlock.py,
// RedLockNet Configuration/RedLockConnectionProvider.cs): such a key is one of
// the two, and nothing in it says which.
func pottery() *Family {
	return oneString(Family{
		ID: "pottery", Label: "pottery Redlock",
		Looks: "a random UUID under redlock:",
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, "redlock:"); !ok || !isUUID4(s.Value) {
				return nil
			}
			return likely("redlock: and a random UUID")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, "redlock:")
			r.Family, r.Candidates = "unknown", []string{"pottery", "redlock.net"}
			r.Label = "Redlock (pottery or RedLock.net)"
			r.Note = "release it on all servers of the group; RedLock.net's timer puts the lock back, pottery's holder gets ReleaseUnlockedLock"
			return r
		},
	})
}

// aiocache locks a cache entry while it is computed: the entry's key and -lock
// (aiocache/lock.py, RedLock).
func aiocache() *Family {
	return oneString(Family{
		ID: "aiocache", Label: "aiocache RedLock",
		Looks: "a random UUID, and a key that ends in -lock",
		Match: func(s *Sample) []Claim {
			if len(s.Key) <= 5 || !strings.HasSuffix(s.Key, "-lock") || !isUUID4(s.Value) {
				return nil
			}
			return shapeOnly(s, "aiocache", "-lock at the end, and a random UUID")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = strings.TrimSuffix(f.Main.Key, "-lock")
			r.Note = "the holder goes on to write the value; somebody else may compute it too"
			return r
		},
	})
}

// limits reports whether a key speaks of a bound on how many may work at once:
// a bare number under any other name is more often something else.
func limits(key string) bool {
	low := strings.ToLower(key)
	return nameHint(key) == lockish || strings.Contains(low, "slot") || strings.Contains(low, "concurren")
}

// dramatiq counts those at work in a string without names (dramatiq,
// rate_limits/concurrent.py). Its default TTL is 15 minutes, set anew by each.
func dramatiq() *Family {
	const ttl = 15 * minute
	return oneString(Family{
		ID: "dramatiq", Label: "dramatiq ConcurrentRateLimiter",
		Looks: "a small number with a TTL of at most 15 minutes, under a name that speaks of locks, slots or concurrency",
		Match: func(s *Sample) []Claim {
			n, ok := parseInt(s.Value)
			if !ok || len(s.Value) > 3 || n < 1 || s.PTTL <= 0 || s.PTTL > ttl || !limits(s.Key) {
				return nil
			}
			return []Claim{{Confidence: Possible, Candidates: []string{"dramatiq"}, Why: "a small number with a TTL"}}
		},
		Decode: func(f *Facts) Reading {
			r := flagged(Semaphore)
			r.Holders[0].Count, _ = parseInt(f.Main.Value)
			return r
		},
		NoRelease: "the key only counts who is at work: without the count more would be let in than the limit allows. It ends with its TTL",
	})
}
