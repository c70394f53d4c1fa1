package family

import "fencepost/lockcore/wire"

const pythonRedisLockID = "python-redis-lock"

// pythonRedisLock is ionelmc's python-redis-lock: lock:NAME holds the base64 of
// 18 random bytes; who waits blocks on the list lock-signal:NAME, for ever if
// the lock has no expiry, its default (src/redis_lock/__init__.py). With an id that
// the application chose, only its shape speaks for it.
func pythonRedisLock() *Family {
	return &Family{
		ID: pythonRedisLockID, Label: "python-redis-lock", Types: []Type{String, List},
		Looks: "the base64 of 18 random bytes under lock:, or the list lock-signal: beside it",
		Part:  beside("lock-signal:"),
		Match: func(s *Sample) []Claim {
			if s.Type == List {
				if prefix, name, ok := after(s.Key, "lock-signal:"); ok {
					return partOf(prefix+"lock:"+name, Certain, "the list that wakes who waits")
				}
				return nil
			}
			_, _, ok := after(s.Key, "lock:")
			switch {
			case !ok:
			case isBase64(s.Value, 18) && !isHex(s.Value, 24) && looksRandom(s.Value):
				return sure("lock: and the base64 of 18 bytes")
			case s.PTTL < 0 && short(s) && !isNumber(s.Value) && SmellsLikeLock(s.Key):
				return []Claim{{Confidence: Likely, Candidates: []string{pythonRedisLockID},
					Why: "lock: and an id of the application's own, without a TTL"}}
			}
			return nil
		},
		Reads: func(_ Claim, main *Sample) Reads { return Reads{Keys: []string{signalOf(main.Key)}} },
		Decode: func(f *Facts) Reading {
			if f.Main.Type != String {
				return Reading{NoRow: true} // a signal nobody has taken yet
			}
			r := token(f, Mutex)
			r.ByDesign = true
			r.Resource = rest(f.Main.Key, "lock:")
			r.Note = "the holder gets NotAcquired when it releases or extends"
			r.have(f, signalOf(f.Main.Key))
			return r
		},
		Release: func(t *Target) []Step {
			wake := wire.Wake{Verb: wire.WakeReset, Target: signalOf(t.Facts.Main.Key), Message: "1", LifeMS: second}
			return releaseValueWith(t, wake, "delete the key if it still holds this token, and put one element on the list that the waiters block on")
		},
	}
}

func signalOf(key string) string {
	prefix, name, _ := after(key, "lock:")
	return prefix + "lock-signal:" + name
}
