package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// stackExchange: a string with whatever the application gave to LockTake, often
// a GUID. Source: StackExchange.Redis RedisDatabase.cs (LockTake, LockRelease).
func stackExchange() *Family {
	const why = "a random UUID, or the name of a Windows machine under a name that says lock"
	f := shapeFamily("stackexchange-redis", "StackExchange.Redis LockTake", "a string with "+why, isUUID4, "")
	uuid := f.Match
	f.Match = func(s *Sample) []Claim {
		if s.PTTL > 0 && machineName(s.Value) && s.Len <= 128 && SmellsLikeLock(s.Key) {
			return shapeOnly(s, f.ID, "the name of a Windows machine")
		}
		return uuid(s)
	}
	return f
}

// machineName reports whether a text begins with a machine's name as Windows
// gives it, alone or before a separator: WEB01, WEB01:4312. A word in capitals
// is none.
func machineName(v string) bool {
	n, letters, more := 0, false, false
	for n < len(v) && (v[n] >= 'A' && v[n] <= 'Z' || v[n] >= '0' && v[n] <= '9' || v[n] == '-') {
		letters = letters || v[n] >= 'A'
		more = more || v[n] < 'A'
		n++
	}
	return letters && more && upper(v[0]) && n >= 3 && n <= 15 && (n == len(v) || strings.IndexByte(":/_|.@", v[n]) >= 0) && isPrintable(v)
}

// hangfire: a string with a UUID that is the same for all locks of a process,
// at {hangfire}:<resource>. Source: Hangfire.Redis.StackExchange RedisLock.cs,
// RedisStorageOptions.cs.
func hangfire() *Family {
	const prefix = "{hangfire}:"
	return oneString(Family{
		ID: "hangfire", Label: "Hangfire.Redis.StackExchange",
		Looks: "a string with a UUID at {hangfire}:<resource>",
		Marks: []string{prefix},
		Named: func(key string) bool { return strings.Contains(key, prefix) && strings.HasSuffix(key, ":lock") },
		Match: func(s *Sample) []Claim {
			switch {
			case !isUUID(s.Value) || !strings.Contains(s.Key, "hangfire"):
				return nil
			case strings.HasPrefix(s.Key, prefix):
				return sure("a process's UUID at {hangfire}:")
			}
			return likely("a process's UUID at a key that says hangfire")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Weak = true
			r.Resource = strings.TrimSuffix(rest(f.Main.Key, prefix), ":lock")
			r.Note = "its renewal does not give up: it asks again without a pause until the job ends"
			return r
		},
	})
}

// serviceStack: a string of 13 digits without a TTL, the moment at which the
// lock ends; by default a year from now. Source: ServiceStack.Redis RedisLock.cs.
func serviceStack() *Family {
	const why = "milliseconds in the future, and no TTL"
	return oneString(Family{
		ID: "servicestack", Label: "ServiceStack.Redis",
		Looks: "a string of 13 digits without a TTL: a deadline",
		Match: func(s *Sample) []Claim {
			ms, ok := epochMS(s.Value)
			if !ok || len(s.Value) != 13 || s.PTTL != NoTTL {
				return nil
			}
			if SmellsLikeLock(s.Key) {
				return shapeOnly(s, "servicestack", "milliseconds, and no TTL")
			}
			if s.NowMS > 0 && ms > s.NowMS && ms < s.NowMS+2*year && nameHint(s.Key) == neutral {
				return []Claim{{Confidence: Possible, Candidates: []string{"servicestack"}, Why: why}}
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Mutex)
			r.ByDesign = true
			if ms, ok := epochMS(f.Main.Value); ok {
				r.endsAt(f, ms)
			}
			r.Note = "its release deletes the key whoever has it then"
			return r
		},
	})
}

// freeRedis: a string with a random UUID at RedisClientLock:<name>. Source:
// FreeRedis RedisClient/Modules/Lock.cs.
func freeRedis() *Family {
	const mark = "RedisClientLock:"
	return oneString(Family{
		ID: "freeredis", Label: "FreeRedis",
		Looks: "a string with a UUID at RedisClientLock:<name>",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || !isUUID(s.Value) {
				return nil
			}
			return sure("a UUID at RedisClientLock:")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, mark)
			return r
		},
	})
}

// foundatio: a string of 16 random letters and digits at lock:<resource>; its
// waiters listen on a message bus that the application names. Source: Foundatio
// CacheLockProvider.cs (20 min, GenerateNewLockId), ScopedCacheClient.cs.
func foundatio() *Family {
	const why = "16 letters and digits at lock:<resource>"
	return oneString(Family{
		ID: "foundatio", Label: "Foundatio",
		Looks: why,
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, "lock:"); !ok || !isAlnum(s.Value, 16) || !looksRandom(s.Value) {
				return nil
			}
			return shapeOnly(s, "foundatio", why)
		},
		Decode: func(f *Facts) Reading {
			r := single(Mutex, Holder{ID: wire.Raw(f.Main.Value)})
			r.Resource = rest(f.Main.Key, "lock:")
			r.Note = "waiters are told by the application's message bus only; without it they look again within 3 seconds"
			return r
		},
	})
}
