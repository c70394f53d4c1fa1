package libraries

import (
	"errors"
	"testing"
	"time"

	"fencepost/lockcore/redistest"

	"github.com/bsm/redislock"
)

// bsm/redislock: the waiter polls at the pace of its retry strategy; the old
// holder's Release says ErrLockNotHeld, its Refresh ErrNotObtained.
func TestRedislock(t *testing.T) {
	const key, ttl, pace = "billing:lock", 60 * time.Second, 50 * time.Millisecond
	s := redistest.Start(t)
	ctx := t.Context()
	first, err := redislock.New(s.Client()).Obtain(ctx, key, ttl, &redislock.Options{Metadata: "host=web-1"})
	if err != nil {
		t.Fatal(err)
	}
	firstID := first.Token() // what stands behind it is the application's
	w := want{key: key, resource: key, family: "redislock", kind: "mutex", typ: "string", holders: []string{firstID}, ttl: ttl}
	if label := w.sees(t, s).Holders[0].Label; label == nil || *label == "" {
		t.Error("the holder's metadata is not shown")
	} else {
		mustContain(t, "the holder's label", *label, "host=web-1")
	}

	heard := hearRemovals(t, s, key)
	var second <-chan got[*redislock.Lock]
	whileTrying(s, func() {
		second = waiting(func() (*redislock.Lock, error) {
			return redislock.New(s.Client()).Obtain(ctx, key, ttl, &redislock.Options{RetryStrategy: redislock.LinearBackoff(pace)})
		})
	})
	w.sees(t, s) // a waiter changes nothing in the row
	release(t, s, key, firstID).ends(t, "RELEASED", 0)
	next := theLock(t, second)
	heard.woken(t, next.at, pace)

	if err := first.Refresh(ctx, ttl, nil); !errors.Is(err, redislock.ErrNotObtained) {
		t.Errorf("the old holder's Refresh: %v, want %v", err, redislock.ErrNotObtained)
	}
	if err := first.Release(ctx); !errors.Is(err, redislock.ErrLockNotHeld) {
		t.Errorf("the old holder's Release: %v, want %v", err, redislock.ErrLockNotHeld)
	}
	w.holders = []string{next.lock.Token()}
	w.sees(t, s)
	changedHands(t, s, key, firstID)
	if err := next.lock.Release(ctx); err != nil {
		t.Errorf("the new holder's Release after a refused one: %v", err)
	}
	gone(t, s, key, next.lock.Token())
}

// Metadata is part of what has to be released: the value is compared whole.
// Under a key that does not say lock it is no more than a possible lock.
func TestRedislockMetadata(t *testing.T) {
	const key, ttl = "billing:run", 60 * time.Second
	s := redistest.Start(t)
	lock, err := redislock.New(s.Client()).Obtain(t.Context(), key, ttl, &redislock.Options{Metadata: "host=web-1 pid=4242"})
	if err != nil {
		t.Fatal(err)
	}
	if rows := list(t, s); len(rows) != 0 {
		t.Errorf("listed without --possible: %+v", rows)
	}
	rows := list(t, s, "--possible")
	if len(rows) != 1 || rows[0].Family != "redislock" || rows[0].Confidence != "possible" || rows[0].Holders[0].ID != lock.Token() {
		t.Fatalf("list --possible: %+v", rows)
	}
	release(t, s, key, lock.Token()).ends(t, "RELEASED", 0)
	if err := lock.Release(t.Context()); !errors.Is(err, redislock.ErrLockNotHeld) {
		t.Errorf("the old holder's Release: %v, want %v", err, redislock.ErrLockNotHeld)
	}
}

// The operator is told who took the lock after him, and how fast.
func TestRedislockAfterwards(t *testing.T) {
	const key, ttl = "billing:run", 60 * time.Second
	s := redistest.Start(t)
	first, err := redislock.New(s.Client()).Obtain(t.Context(), key, ttl, nil)
	if err != nil {
		t.Fatal(err)
	}
	var second <-chan got[*redislock.Lock]
	whileTrying(s, func() {
		second = waiting(func() (*redislock.Lock, error) {
			return redislock.New(s.Client()).Obtain(t.Context(), key, ttl,
				&redislock.Options{RetryStrategy: redislock.LinearBackoff(50 * time.Millisecond)})
		})
	})
	said := release(t, s, key, first.Token(), "--watch-after", "2s")
	said.ends(t, "RELEASED", 0)
	mustContain(t, "release --watch-after", said.out+said.err, theLock(t, second).lock.Token())
}
