package libraries

import (
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// redisSemaphorePace is redis-semaphore's own retryInterval.
const redisSemaphorePace = 10 * time.Millisecond

// semaphoreStory is one kind of redis-semaphore: a first holder that refreshes
// soon, another that shares the semaphore with it, and a waiter.
type semaphoreStory struct {
	kind, key, prefix string
	limit, permits    int
	shared            bool // a second holder fits in
	ownHandler        bool
}

func TestRedisSemaphoreMutex(t *testing.T) {
	semaphoreStory{kind: "Mutex", key: "invoice", prefix: "mutex:"}.run(t)
}

func TestRedisSemaphoreMutexOwnHandler(t *testing.T) {
	semaphoreStory{kind: "Mutex", key: "invoice", prefix: "mutex:", ownHandler: true}.run(t)
}

func TestRedisSemaphoreSemaphore(t *testing.T) {
	semaphoreStory{kind: "Semaphore", key: "gpu", prefix: "semaphore:", limit: 2, permits: 1, shared: true}.run(t)
}

func TestRedisSemaphoreMultiSemaphore(t *testing.T) {
	semaphoreStory{kind: "MultiSemaphore", key: "gpu", prefix: "semaphore:", limit: 4, permits: 2, shared: true}.run(t)
}

func (st semaphoreStory) run(t *testing.T) {
	const ttl = 60 * time.Second
	s := redistest.Start(t)
	take := func(refresh time.Duration) *driver {
		return drive(t, s, "redis-semaphore.js", map[string]any{
			"kind": st.kind, "key": st.key, "limit": st.limit, "permits": st.permits, "ownHandler": st.ownHandler,
			"lockTimeout": ttl.Milliseconds(), "refreshInterval": refresh.Milliseconds(),
		})
	}
	key := st.prefix + st.key
	w := want{key: key, resource: st.key, family: "redis-semaphore-npm", kind: "mutex", typ: "string", ttl: ttl}
	if st.limit > 0 {
		w.kind, w.typ = "semaphore", "zset"
	}
	var others []*driver
	if st.shared {
		d := take(ttl / 2)
		w.holders = append(w.holders, d.next("held").ID)
		others = append(others, d)
	}
	const refresh = 3 * time.Second
	first := take(refresh)
	firstID := first.next("held").ID
	staying := w.holders
	w.holders = append(w.holders[:len(w.holders):len(w.holders)], firstID)
	st.counts(t, w.sees(t, s))

	heard := hearRemovals(t, s, key)
	var second *driver
	whileTrying(s, func() { second = take(ttl / 2) })
	release(t, s, key, firstID).ends(t, "RELEASED", 0)
	next := second.next("held")
	heard.woken(t, next.at, redisSemaphorePace)
	w.holders = append(staying[:len(staying):len(staying)], next.ID)
	st.counts(t, w.sees(t, s))
	st.loses(t, first)
	changedHands(t, s, key, firstID)
	for _, d := range append(others, second) {
		d.says("release")
		d.next("released")
	}
	gone(t, s, key, next.ID)
}

// counts checks that a holder of several permits is one holder, with a time of
// its own.
func (st semaphoreStory) counts(t *testing.T, r row) {
	t.Helper()
	for _, h := range r.Holders {
		if h.Count != max(st.permits, 1) || (h.TTL != nil) != (st.limit > 0) {
			t.Errorf("holder %s: count %d, ttl_ms %s", h.ID, h.Count, number(h.TTL))
		}
	}
	mustContain(t, "the row's note", r.Note, "LostLockError")
}

// loses checks the holder's end at its next refresh: the library throws in a
// timer and the process ends, unless it was given its own handler.
func (st semaphoreStory) loses(t *testing.T, d *driver) {
	t.Helper()
	if st.ownHandler {
		mustContain(t, "onLockLost", d.next("lost").Error, "LostLockError")
		d.says("release") // it has no effect, and is no fault
		d.next("released")
		return
	}
	if code := within(t, 10*time.Second, "the end of the old holder's process", d.exited); code != 1 {
		t.Errorf("the old holder's process ended with %d, want 1", code)
	}
	mustContain(t, "the old holder's standard error", d.errs.String(), "LostLockError")
}
