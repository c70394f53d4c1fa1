package libraries

import (
	"context"
	"errors"
	"testing"
	"time"

	"fencepost/lockcore/redistest"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
)

// redsyncPace is the longest that a redsync waiter sleeps between two tries
// unless told otherwise (redsync.go, NewMutex: 50 to 250 ms).
const redsyncPace = 250 * time.Millisecond

func redsyncOn(servers ...*redistest.Server) *redsync.Redsync {
	var pools []redis.Pool
	for _, s := range servers {
		pools = append(pools, goredis.NewPool(s.Client()))
	}
	return redsync.New(pools...)
}

func redsyncWaiter(ctx context.Context, m *redsync.Mutex) <-chan got[string] {
	return waiting(func() (string, error) { return m.Value(), m.LockContext(ctx) })
}

// redsync on one server: the waiter polls; the old holder's Extend and Unlock
// fail and say that the node is taken.
func TestRedsync(t *testing.T) {
	const key, ttl = "nightly-report", 60 * time.Second
	s := redistest.Start(t)
	first := redsyncOn(s).NewMutex(key, redsync.WithExpiry(ttl))
	if err := first.Lock(); err != nil {
		t.Fatal(err)
	}
	firstID := first.Value()
	w := want{key: key, resource: key, family: "redsync", kind: "mutex", typ: "string", holders: []string{firstID}, ttl: ttl}
	w.sees(t, s)

	heard := hearRemovals(t, s, key)
	next := redsyncOn(s).NewMutex(key, redsync.WithExpiry(ttl), redsync.WithTries(100))
	var second <-chan got[string]
	whileTrying(s, func() { second = redsyncWaiter(t.Context(), next) })
	w.sees(t, s)
	release(t, s, key, firstID).ends(t, "RELEASED", 0)
	heard.woken(t, theLock(t, second).at, redsyncPace)

	var taken *redsync.ErrTaken
	if ok, err := first.Extend(); ok || !errors.As(err, &taken) {
		t.Errorf("the old holder's Extend: %v, %v, want false and ErrTaken", ok, err)
	}
	if ok, err := first.Unlock(); ok || !errors.As(err, &taken) {
		t.Errorf("the old holder's Unlock: %v, %v, want false and ErrTaken", ok, err)
	}
	w.holders = []string{next.Value()}
	w.sees(t, s)
	changedHands(t, s, key, firstID)
	if ok, err := next.Unlock(); !ok || err != nil {
		t.Errorf("the new holder's Unlock after a refused release: %v, %v", ok, err)
	}
	gone(t, s, key, next.Value())
}

// A holder that was given WithSetNXOnExtend puts the lock back. The row says so
// beforehand, and what is there afterwards is the same holder again.
func TestRedsyncPutsBack(t *testing.T) {
	const key, ttl = "nightly-report", 60 * time.Second
	s := redistest.Start(t)
	m := redsyncOn(s).NewMutex(key, redsync.WithExpiry(ttl), redsync.WithSetNXOnExtend())
	if err := m.Lock(); err != nil {
		t.Fatal(err)
	}
	w := want{key: key, resource: key, family: "redsync", kind: "mutex", typ: "string", holders: []string{m.Value()}, ttl: ttl}
	mustContain(t, "the row's note", w.sees(t, s).Note, "puts the lock back")
	release(t, s, key, m.Value()).ends(t, "RELEASED", 0)
	if ok, err := m.Extend(); !ok || err != nil {
		t.Fatalf("Extend with SetNXOnExtend: %v, %v", ok, err)
	}
	w.sees(t, s)
}

// redsync on three masters: the lock is free for the waiter when a majority of
// them is released, as the row's note says, and not before.
func TestRedsyncMasters(t *testing.T) {
	const key, ttl = "nightly-report", 60 * time.Second
	masters := []*redistest.Server{redistest.Start(t), redistest.Start(t), redistest.Start(t)}
	first := redsyncOn(masters...).NewMutex(key, redsync.WithExpiry(ttl))
	if err := first.Lock(); err != nil {
		t.Fatal(err)
	}
	w := want{key: key, resource: key, family: "redsync", kind: "mutex", typ: "string", holders: []string{first.Value()}, ttl: ttl}
	for _, s := range masters {
		mustContain(t, "the row's note", w.sees(t, s).Note, "every master")
	}
	next := redsyncOn(masters...).NewMutex(key, redsync.WithExpiry(ttl), redsync.WithTries(100))
	var second <-chan got[string]
	whileTrying(masters[0], func() { second = redsyncWaiter(t.Context(), next) })

	release(t, masters[0], key, first.Value()).ends(t, "RELEASED", 0)
	select {
	case g := <-second:
		t.Fatalf("the waiter returned after the release of one master of three: %v", g.err)
	case <-time.After(2 * redsyncPace):
	}
	heard := hearRemovals(t, masters[1], key)
	release(t, masters[1], key, first.Value()).ends(t, "RELEASED", 0)
	heard.woken(t, theLock(t, second).at, redsyncPace)
	if ok, _ := first.Unlock(); ok {
		t.Error("the old holder's Unlock succeeds with one master of three")
	}
}
