package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// queuedLocks is redis_queued_locks: rql:lock:NAME is a hash of the acquirer
// (rql:acq:pid/thread/fiber/ractor/id) and its times, rql:lock_queue:NAME a
// sorted set of who waits, by the second of arrival (try_to_lock.rb,
// release_lock.rb).
func queuedLocks() *Family {
	return &Family{
		ID: "redis-queued-locks", Label: "redis_queued_locks", Types: []Type{Hash, ZSet},
		Looks: "a hash with acq_id under rql:lock:, or the queue rql:lock_queue: beside it",
		Marks: []string{rqlLock, rqlQueue},
		Part:  beside(rqlQueue),
		Match: func(s *Sample) []Claim {
			if s.Type == ZSet {
				if prefix, name, ok := after(s.Key, rqlQueue); ok {
					return partOf(prefix+rqlLock+name, Certain, "the queue of those that wait")
				}
				return nil
			}
			if _, _, ok := after(s.Key, rqlLock); !ok {
				return nil
			}
			if _, ok := s.Get("acq_id"); !ok {
				return nil
			}
			return sure("rql:lock: and an acquirer")
		},
		Reads:   func(_ Claim, main *Sample) Reads { return Reads{Keys: []string{rqlQueueOf(main.Key)}} },
		Decode:  queuedLocksRead,
		Release: queuedLocksRelease,
	}
}

const rqlLock, rqlQueue = "rql:lock:", "rql:lock_queue:"

func rqlQueueOf(lock string) string {
	prefix, name, _ := after(lock, rqlLock)
	return prefix + rqlQueue + name
}

func queuedLocksRead(f *Facts) Reading {
	r := Reading{Kind: Mutex, State: Held, Resource: rest(f.Main.Key, rqlLock),
		Note: "the holder works on; its release finds another acquirer and does nothing"}
	queue := f.Key(rqlQueueOf(f.Main.Key))
	if queue.Type == ZSet && queue.Len > 0 {
		r.Waiters = &Waiters{Count: queue.Len, How: "queue"}
		for _, p := range queue.Pairs {
			r.Waiters.IDs = append(r.Waiters.IDs, wire.Raw(p.A))
		}
	}
	r.have(f, queue.Key)
	id, held := f.Main.Get("acq_id")
	if f.Main.Type != Hash || !held {
		r.State = Free
		r.NoRow = r.Waiters == nil
		return r
	}
	h := Holder{ID: wire.Raw(id), Count: 1, Label: rqlLabel(id)}
	if more, ok := f.Main.Get("spc_cnt"); ok { // acquisitions beyond the first
		n, _ := parseInt(more)
		h.Count += max(n, 0)
	}
	if _, tail, ok := strings.Cut(id, "rql:acq:"); ok {
		pid, _, _ := strings.Cut(tail, "/")
		h.PID, _ = parseInt(pid)
	}
	if ts, ok := f.Main.Get("ts"); ok {
		if ms, ok := epochS(ts); ok {
			h.Since = sinceMS(f, ms)
		}
	}
	r.Holders = []Holder{h}
	return r
}

// rqlLabel says in words what the acquirer's id is made of.
func rqlLabel(id string) string {
	parts := strings.Split(strings.TrimPrefix(id, "rql:acq:"), "/")
	if len(parts) < 2 || !isDigits(parts[0]) || !isDigits(parts[1]) {
		return ""
	}
	return "process " + parts[0] + ", thread " + parts[1]
}

// queuedLocksRelease leaves the queue, which the library itself would empty:
// those in it go on trying in their order. The time of the acquisition tells it
// from a later one of the same thread.
func queuedLocksRelease(t *Target) []Step {
	m := t.Facts.Main
	var seen []wire.Field
	for _, name := range [...]string{"acq_id", "ts"} {
		if v, ok := m.Get(name); ok {
			seen = append(seen, wire.Field{Name: name, Value: v, Exact: true})
		}
	}
	if len(seen) == 0 || len(t.Holders) == 0 {
		return nil
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	return []Step{{r.HashKey(0, seen), "delete the lock if this acquirer still has it; the queue stays"}}
}
