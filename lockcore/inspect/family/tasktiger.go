package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// taskTiger locks a task by the SHA-256 of its function and arguments
// (t:lockv2:…, redis-py's lock; t:lock:… before, a time without TTL) and a
// queue by a sorted set of its workers, t:qlocks:queue, whose scores are
// deadlines in seconds (tasktiger/redis_semaphore.py).
func taskTiger() *Family {
	return &Family{
		ID: "tasktiger", Label: "TaskTiger lock", Types: []Type{String, ZSet},
		Looks: "a redis-py token or a time under t:lockv2: or t:lock: and 64 hexadecimal digits, or deadlines under t:qlocks:",
		Marks: []string{":lockv2:", ":qlocks:", ":qlock:"},
		Match: func(s *Sample) []Claim {
			if s.Type == ZSet {
				return taskTigerQueue(s)
			}
			switch {
			case !taskTigerKey(s.Key):
			case redisPyToken(s):
				return sure("lockv2 and a redis-py token")
			case !strings.Contains(s.Key, "lockv2") && s.PTTL < 0:
				if _, ok := epochS(s.Value); ok {
					return sure("lock, a SHA-256 and a time, without a TTL")
				}
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			switch f.Main.Type {
			case ZSet:
				return taskTigerRead(f)
			case String:
			default:
				return Reading{NoRow: true}
			}
			r := redisPyRead(f, Lease, "TaskTiger task lock")
			if ms, ok := epochS(f.Main.Value); ok && f.Main.PTTL < 0 {
				r = nameless(Lease)
				r.ByDesign = true
				r.endsAt(f, ms)
			}
			r.Note = "the task goes on; another with the same arguments may run beside it"
			return r
		},
		Release: func(t *Target) []Step {
			if t.Facts.Main.Type == String {
				return releaseValue(t)
			}
			return releaseMembers(t, false, "take the worker out of the queue's lock")
		},
	}
}

// taskTigerKey reports whether the key is that of a task's lock.
func taskTigerKey(key string) bool {
	if i := strings.LastIndex(key, ":lockv2:"); i > 0 {
		return true
	}
	i := strings.LastIndex(key, ":lock:")
	return i > 0 && isHex(key[i+6:], 64)
}

func taskTigerQueue(s *Sample) []Claim {
	if !strings.Contains(s.Key, ":qlocks:") && !strings.Contains(s.Key, ":qlock:") || len(s.Pairs) == 0 {
		return nil
	}
	for _, p := range s.Pairs {
		if _, ok := epochS(p.B); !ok {
			return nil
		}
	}
	return sure("qlocks, and deadlines in seconds")
}

func taskTigerRead(f *Facts) Reading {
	r := Reading{Label: "TaskTiger queue lock", Kind: Semaphore, State: Held,
		Note: "the worker drops the queue at its next heartbeat; its tasks are queued again once they time out"}
	for _, p := range f.Main.Pairs {
		h := Holder{ID: wire.Raw(p.A)}
		if ms, ok := epochS(p.B); ok {
			h.until(f, ms)
		}
		if p.A == "SYSTEM_LOCK" {
			h.Label = "the system's: until it ends no worker may take the queue"
		}
		r.Holders = append(r.Holders, h)
	}
	r.expireTogether(f)
	return r
}

// releaseMembers is the release of a lock whose holders are the members of a
// sorted set.
func releaseMembers(t *Target, deadlines bool, says string) []Step {
	m := wire.Members{Deadlines: deadlines}
	for _, h := range t.Holders {
		m.Seen = append(m.Seen, string(h.ID))
	}
	if len(m.Seen) == 0 {
		return nil
	}
	return []Step{{wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}.Members(m), says}}
}
