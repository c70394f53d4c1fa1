package libraries

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"fencepost/lockcore/redistest"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
)

// hold takes a lock into the operator's custody.
func hold(t testing.TB, s *redistest.Server, key, id string) {
	t.Helper()
	fencepost(t, s, "hold", key, "30s", "--if-holder-b64", base64.StdEncoding.EncodeToString([]byte(id)),
		"--reason", "test", "--yes").ends(t, "HELD", 0)
}

// outwaits checks that a waiter stays without the lock while an operator holds
// it, and gets it when the hold is lifted, as after a release.
func outwaits[T any](t testing.TB, s *redistest.Server, key string, waiter <-chan got[T], promised time.Duration) T {
	t.Helper()
	select {
	case g := <-waiter:
		t.Fatalf("a waiter got past the operator's hold: %v", g.err)
	case <-time.After(promised + time.Second):
	}
	heard := hearRemovals(t, s, key)
	fencepost(t, s, "unhold", key, "--reason", "test", "--yes").ends(t, "RELEASED", 0)
	g := theLock(t, waiter)
	heard.woken(t, g.at, promised)
	return g.lock
}

// An operator's hold keeps the waiters of each library out, and the evicted
// holder's own release does not undo it.
func TestHoldRedislock(t *testing.T) {
	const key, ttl, pace = "billing:lock", 60 * time.Second, 50 * time.Millisecond
	s := redistest.Start(t)
	first, err := redislock.New(s.Client()).Obtain(t.Context(), key, ttl, nil)
	if err != nil {
		t.Fatal(err)
	}
	var second <-chan got[*redislock.Lock]
	whileTrying(s, func() {
		second = waiting(func() (*redislock.Lock, error) {
			return redislock.New(s.Client()).Obtain(t.Context(), key, ttl, &redislock.Options{RetryStrategy: redislock.LinearBackoff(pace)})
		})
	})
	hold(t, s, key, first.Token())
	if err := first.Release(t.Context()); !errors.Is(err, redislock.ErrLockNotHeld) {
		t.Errorf("the evicted holder's Release: %v, want %v", err, redislock.ErrLockNotHeld)
	}
	outwaits(t, s, key, second, pace)
}

func TestHoldRedsync(t *testing.T) {
	const key, ttl = "nightly-report", 60 * time.Second
	s := redistest.Start(t)
	first := redsyncOn(s).NewMutex(key, redsync.WithExpiry(ttl), redsync.WithSetNXOnExtend())
	if err := first.Lock(); err != nil {
		t.Fatal(err)
	}
	var second <-chan got[string]
	whileTrying(s, func() {
		second = redsyncWaiter(t.Context(), redsyncOn(s).NewMutex(key, redsync.WithExpiry(ttl), redsync.WithTries(100)))
	})
	hold(t, s, key, first.Value())
	// What puts a released lock back finds the operator in its place.
	if ok, _ := first.Extend(); ok {
		t.Error("the evicted holder's Extend succeeds")
	}
	if ok, _ := first.Unlock(); ok {
		t.Error("the evicted holder's Unlock succeeds")
	}
	outwaits(t, s, key, second, redsyncPace)
}

func TestHoldRueidislock(t *testing.T) {
	const name, key = "thumbnails", "rueidislock:0:thumbnails"
	s := redistest.Start(t)
	ctx, cancel, err := rueidisOn(t, s).WithContext(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	id := rueidisID(s, name)
	locker := rueidisOn(t, s)
	var second <-chan got[rueidisHeld]
	whileTrying(s, func() {
		second = waiting(func() (rueidisHeld, error) {
			ctx, cancel, err := locker.WithContext(t.Context(), name)
			return rueidisHeld{ctx, cancel}, err
		})
	})
	hold(t, s, key, id)
	within(t, slack, "the end of the evicted holder's context", ctx.Done())
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("the evicted holder's context ended with %v", ctx.Err())
	}
	outwaits(t, s, key, second, 0).cancel()
}
