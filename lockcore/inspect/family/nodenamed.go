package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// n8n elects one main instance, n8n:main_instance_leader, whose value is that
// host's id, and takes leases n8n:lock:NAMESPACE:SHA-256 (packages/cli/src/
// scaling). The prefix can be another.
func n8n() *Family {
	const leader = ":main_instance_leader"
	return oneString(Family{
		ID: "n8n", Label: "n8n lock",
		Looks: "a host's id under n8n:main_instance_leader, or a random UUID under n8n:lock:",
		Named: marked(leader, "n8n:lock:"),
		Match: func(s *Sample) []Claim {
			if strings.HasSuffix(s.Key, leader) && short(s) {
				return sure("the name main_instance_leader")
			}
			i := strings.Index(s.Key, ":lock:")
			if i < 0 || !isUUID4(s.Value) {
				return nil
			}
			switch at := strings.LastIndexByte(s.Key, ':'); {
			case !isHex(s.Key[at+1:], 64):
				return nil
			case strings.HasSuffix(s.Key[:i], "n8n"):
				return sure("n8n:lock:, a SHA-256 and a random UUID")
			}
			return likely(":lock:, a SHA-256 and a random UUID")
		},
		Decode: func(f *Facts) Reading {
			if !strings.HasSuffix(f.Main.Key, leader) {
				r := token(f, Mutex)
				r.Label, r.Note = "n8n lease", "the holder's work is aborted at its next renewal"
				_, r.Resource, _ = strings.Cut(f.Main.Key, ":lock:")
				return r
			}
			r := token(f, Lease)
			r.Label, r.Note = "n8n leader", "another main instance takes over within seconds; this one steps down at its next check"
			if host, ok := strings.CutPrefix(f.Main.Value, "main-"); ok {
				r.Holders[0].Host = host
			}
			return r
		},
	})
}

// medusa is Medusa's locking-redis: medusa_lock: and a name; the value is the
// owner's id, or * for nobody in particular, since 2026 also execute: and a UUID.
// Without a timeout there is no expiry (services/redis-lock).
func medusa() *Family {
	const mark = "medusa_lock:"
	return oneString(Family{
		ID: "medusa", Label: "Medusa lock",
		Looks: "an owner, or *, under medusa_lock:",
		Named: marked(mark),
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || !short(s) {
				return nil
			}
			return sure("the name medusa_lock:")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.ByDesign, r.Resource = true, rest(f.Main.Key, mark)
			r.Weak = !strings.HasPrefix(f.Main.Value, "execute:")
			if f.Main.Value == "*" {
				r.Holders[0].Label = "anonymous: any caller without an owner may release it"
			}
			r.Note = "the holder works on; its release does nothing"
			return r
		},
	})
}

// redisLockNPM is errorception's redis-lock: lock.NAME holds the moment in
// milliseconds at which it ends (index.js).
func redisLockNPM() *Family {
	const mark = "lock."
	return oneString(Family{
		ID: "redis-lock-npm", Label: "redis-lock (npm)",
		Looks: "a moment in milliseconds, that of the key's end, under lock.",
		Match: func(s *Sample) []Claim {
			ms, ok := epochMS(s.Value)
			if _, _, named := after(s.Key, mark); !named || !ok || len(s.Value) != 13 {
				return nil
			}
			switch {
			case s.NowMS == 0, s.PTTL >= 0 && abs(ms-s.NowMS-s.PTTL) <= 2*second, s.PTTL < 0 && near(s, ms, hour):
				return sure("lock. and the moment of the end")
			}
			return possibly("lock. and a moment, which is not that of the end")
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Mutex)
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "the holder works on, and deletes the key at its end if its own time is not over, whoever has it by then"
			if ms, ok := epochMS(f.Main.Value); ok {
				r.endsAt(f, ms)
			}
			return r
		},
	})
}

// murlock is MurLock for NestJS. Its keys are the class, the method and the
// parameters; the value is a random UUID (murlock.service, decorators).
func murlock() *Family {
	return oneString(Family{
		ID: "murlock", Label: "MurLock",
		Looks: "a client's id under murlock:, or a random UUID",
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, "murlock:"); ok && short(s) {
				return sure("the name murlock:")
			}
			if !isUUID4(s.Value) {
				return nil
			}
			return shapeOnly(s, "murlock", uuidLooks)
		},
		Named: marked("murlock:"),
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, "murlock:")
			r.Note = "the holder works on and throws MurLockException at its end"
			return r
		},
	})
}

// simpleRedisMutex: @simple-redis-mutex:lock-NAME holds a random fraction; all
// locks share one counter of fencing tokens and one channel (dist/index.js).
func simpleRedisMutex() *Family {
	const mark, fence, channel = "@simple-redis-mutex:lock-", "@simple-redis-mutex:fencing-tokens", "@simple-redis-mutex:locks-releases"
	counter := func(key string) string { return key[:max(strings.Index(key, mark), 0)] + fence }
	f := oneString(Family{
		ID: "simple-redis-mutex", Label: "simple-redis-mutex",
		Looks: "a random fraction under @simple-redis-mutex:lock-",
		Named: marked("@simple-redis-mutex:"),
		Match: func(s *Sample) []Claim {
			if prefix, ok := strings.CutSuffix(s.Key, fence); ok {
				return partOf(prefix+mark, Certain, "the counter of fencing tokens")
			}
			if !strings.Contains(s.Key, mark) || !short(s) {
				return nil
			}
			return sure("the name @simple-redis-mutex:lock-")
		},
		Reads: func(_ Claim, main *Sample) Reads { return Reads{Keys: []string{counter(main.Key)}} },
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			_, r.Resource, _ = strings.Cut(f.Main.Key, mark)
			r.Note = "the holder works on; its release does nothing"
			r.have(f, counter(f.Main.Key))
			if c := f.Key(counter(f.Main.Key)); isDigits(c.Value) {
				r.Fence, r.FenceKey = c.Value, c.Key
				r.warn("fence-shared", "one counter serves all locks of this library: this holder's fencing token is "+c.Value+" or, if another lock was taken since, less")
			}
			return r
		},
	})
	f.Release = func(t *Target) []Step {
		m := t.Facts.Main
		wake := wire.Wake{Verb: wire.WakePublish, Target: channel,
			Message: `{ "key": "` + m.Key + `", "value": "` + m.Value + `" }`}
		return releaseValueWith(t, wake, "delete the key if it still holds this value, and tell those that wait")
	}
	return f
}
