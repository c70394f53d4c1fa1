package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// redlockRb: a bare random UUID under any key (lib/redlock/client.rb). Its
// extend can put a lock back that is gone.
func redlockRb() *Family {
	return shapeFamily("redlock-rb", "redlock-rb", uuidLooks, isUUID4,
		"release it on all servers of the group; a holder that extends may put the lock back")
}

// activeJobUniqueness is built on redlock-rb: activejob_uniqueness:job_class:
// and the MD5 of the arguments, or no_arguments (lib/active_job/uniqueness/lock_key.rb).
func activeJobUniqueness() *Family {
	const mark = "activejob_uniqueness:"
	return oneString(Family{
		ID: "activejob-uniqueness", Label: "activejob-uniqueness",
		Looks: "a UUID under activejob_uniqueness:",
		Named: marked(mark),
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || !isUUID(s.Value) {
				return nil
			}
			return sure("activejob_uniqueness: and a UUID")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Lease)
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "the job stays queued or goes on; the same job can be queued beside it"
			return r
		},
	})
}

// redisMutexRb is kenn's redis-mutex: RedisMutex:NAME holds the second, with
// fraction, at which it ends, and never expires (lib/redis_mutex.rb).
func redisMutexRb() *Family {
	const mark = "RedisMutex:"
	return oneString(Family{
		ID: "redis-mutex", Label: "redis-mutex (Ruby)",
		Looks: "a time in seconds, and no TTL, under RedisMutex:",
		Named: marked(mark),
		Match: func(s *Sample) []Claim {
			_, isTime := epochS(s.Value)
			if _, _, ok := after(s.Key, mark); !ok || !isTime {
				return nil
			}
			return sure("RedisMutex: and a time")
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Mutex)
			r.ByDesign = true
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "the holder works on; its unlock compares the time and does nothing"
			if ms, ok := epochS(f.Main.Value); ok {
				r.endsAt(f, ms)
			}
			return r
		},
	})
}

// redisObjects is the Lock of redis-objects: an empty string under a key that
// ends in _lock; before version 2 the second at which it ends, without a TTL
// (lib/redis/lock.rb).
func redisObjects() *Family {
	return oneString(Family{
		ID: "redis-objects", Label: "redis-objects Lock",
		Looks: "an empty string, or a time without TTL, under a key that ends in _lock",
		Match: func(s *Sample) []Claim {
			if len(s.Key) <= len("_lock") || !strings.HasSuffix(s.Key, "_lock") {
				return nil
			}
			if s.Value == "" && s.Len == 0 {
				return likely("_lock at the end, and an empty value")
			}
			if _, ok := epochS(s.Value); ok && s.PTTL < 0 && strings.Contains(s.Value, ".") {
				return likely("_lock at the end, and a time with a fraction, without TTL")
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := flagged(Mutex)
			r.Resource = strings.TrimSuffix(f.Main.Key, "_lock")
			r.Note = "the holder works on, and may delete the key at its end without looking whose it is by then"
			if ms, ok := epochS(f.Main.Value); ok {
				r.Weak, r.ByDesign = false, true
				r.endsAt(f, ms)
			}
			return r
		},
	})
}

// gitlab is GitLab's ExclusiveLease: gitlab:exclusive_lease: and a UUID. Many
// are never cancelled: they keep work from being repeated too soon, those of
// el:throttle: always (lib/gitlab/exclusive_lease.rb).
func gitlab() *Family {
	const mark = "gitlab:exclusive_lease:"
	return oneString(Family{
		ID: "gitlab", Label: "GitLab ExclusiveLease",
		Looks: "a UUID under gitlab:exclusive_lease:",
		Named: marked(mark),
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || !isUUID(s.Value) {
				return nil
			}
			return sure("gitlab:exclusive_lease: and a UUID")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "work that this lease keeps apart, or keeps from being repeated, may be done twice"
			if strings.Contains(r.Resource, "el:throttle:") {
				r.Kind, r.State = Lease, Cooling
			}
			return r
		},
	})
}

// discourse is Discourse's DistributedMutex: the second at which it ends, under
// a key that begins with the site's database; the key expires one second later
// (lib/distributed_mutex.rb).
func discourse() *Family {
	return oneString(Family{
		ID: "discourse", Label: "Discourse DistributedMutex",
		Looks: "a second, one to two seconds before the key expires, under database:name",
		Match: func(s *Sample) []Claim {
			ms, ok := epochS(s.Value)
			if !ok || len(s.Value) != 10 || s.PTTL <= 0 || s.NowMS == 0 {
				return nil
			}
			db, name, ok := strings.Cut(s.Key, ":")
			over := s.PTTL - (ms - s.NowMS)
			switch {
			case !ok || db == "" || name == "":
				return nil
			case db == "default" && over > -second && over < 3*second:
				return likely("default: and the second before the key expires")
			case over < 800 || over > 2200:
				return nil
			}
			return nearUnique(s, "the second before the key expires")
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Mutex)
			_, r.Resource, _ = strings.Cut(f.Main.Key, ":")
			r.Note = "the holder works on, and reports at its end that the mutex was taken over"
			if ms, ok := epochS(f.Main.Value); ok {
				r.endsAt(f, ms)
			}
			return r
		},
	})
}

// mastodon is Mastodon's with_redis_lock, by way of mario-redis-lock: lock: and
// what is done to what (app/models/concerns/lockable.rb). Its names tell.
func mastodon() *Family {
	return oneString(Family{
		ID: "mastodon", Label: "Mastodon with_redis_lock",
		Looks: "a random UUID under lock: and one of Mastodon's own names",
		Match: func(s *Sample) []Claim {
			_, name, ok := after(s.Key, "lock:")
			if !ok || !isUUID4(s.Value) {
				return nil
			}
			what, _, ok := strings.Cut(name, ":")
			if ok && mastodonName(what) {
				return likely("a random UUID under one of Mastodon's lock names")
			}
			return shapeOnly(s, "mastodon", "a random UUID under lock:")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, "lock:")
			r.Note = "the holder works on; its release does nothing"
			return r
		},
	})
}

func mastodonName(what string) bool {
	switch what {
	case "announce", "create", "delete_upon_arrival", "relationship", "vote", "resolve", "process_account", "process_status_refs",
		"push_subscription", "account_migration", "reblog", "favourite", "distribute", "collection", "process_status_ids":
		return true
	}
	return false
}

// mlanett is mlanett's redis-lock: lock:owner:NAME holds host:pid and
// lock:expire:NAME the second at which the lock ends; neither expires
// (lib/redis-lock.rb).
func mlanett() *Family {
	const owner, expire = "lock:owner:", "lock:expire:"
	expiry := func(key string) string {
		prefix, name, _ := after(key, owner)
		return prefix + expire + name
	}
	f := oneString(Family{
		ID: "mlanett", Label: "redis-lock (mlanett)",
		Looks: "an owner under lock:owner: and a second under lock:expire:",
		Match: func(s *Sample) []Claim {
			if prefix, name, ok := after(s.Key, expire); ok && isInt(s.Value) {
				return partOf(prefix+owner+name, Certain, "the moment at which the lock ends")
			}
			if _, _, ok := after(s.Key, owner); !ok || !short(s) {
				return nil
			}
			if namesHostPID(s.Value, ':') {
				return sure("lock:owner: and host:pid")
			}
			return likely("lock:owner: and a name")
		},
		Reads: func(_ Claim, main *Sample) Reads { return Reads{Keys: []string{expiry(main.Key)}} },
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.ByDesign = true
			r.Resource = rest(f.Main.Key, owner)
			r.Note = "the holder works on; its unlock compares the owner and does nothing"
			if host, pid, ok := hostPID(f.Main.Value, ':'); ok {
				r.Holders[0].Host, r.Holders[0].PID = host, pid
			}
			r.have(f, expiry(f.Main.Key))
			ms, ok := epochS(f.Key(expiry(f.Main.Key)).Value)
			r.Weak = !ok // the same process may hold it again: the moment tells
			if ok {
				r.endsAt(f, ms)
			}
			return r
		},
	})
	f.Release = func(t *Target) []Step {
		m := t.Facts.Main
		r := wire.Release{Lock: m.Key, Guard: t.Guard}
		e := t.Facts.Key(expiry(m.Key))
		if e.Type != String {
			return releaseValue(t)
		}
		return []Step{{r.Slots(wire.Pair{Name: m.Key, Value: m.Value}, wire.Pair{Name: e.Key, Value: e.Value}),
			"delete the owner and the expiry if both are still these"}}
	}
	return f
}
