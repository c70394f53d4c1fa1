package inspect_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
)

// The permits of a semaphore named {pool} stand where those of one named pool
// would: a permit goes back to the number that is there, and to none where both
// are there, or neither. Given to the wrong one it would be lost for good.
func TestPermitGoesBackToItsOwnSemaphore(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	const permit = "6cf44ab3b43c47a9b1c9c5981ff16a0f"
	for _, c := range []struct {
		there string // keys with one free permit
		looks string
		left  string // of the numbers; "" where the release is refused
	}{
		{"pool", "pool", "pool=2"},
		{"{pool}", "{pool}", "{pool}=2"},
		{"pool {pool}", "pool", ""},
		{"pool {pool}", "{pool}", ""},
		{"", "pool", ""},
	} {
		s.Do("FLUSHALL")
		for _, key := range strings.Fields(c.there) {
			s.Do("SET", key, 1)
		}
		s.Do("ZADD", "{pool}:timeout", time.Now().Add(time.Minute).UnixMilli(), permit)
		in := at(t, s.Addr)
		locks, err := in.LookKey(t.Context(), 0, c.looks)
		if err != nil || len(locks) != 1 {
			t.Fatalf("%q: %d locks, %v", c.there, len(locks), err)
		}
		p, err := in.PlanRelease(locks[0], permit)
		if c.left == "" {
			if !errors.Is(err, inspect.ErrNoRelease) {
				t.Errorf("%q, %s: %v", c.there, c.looks, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		expectOutcome(t, carryOut(t, in, p), p, inspect.Released)
		key, want, _ := strings.Cut(c.left, "=")
		if got := s.Do("GET", key); got != want || s.Do("EXISTS", "pool", "{pool}") != int64(1) {
			t.Errorf("%q: %s is %v, want %s; left %q", c.there, key, got, want, s.Dump())
		}
	}
}

// A semaphore that only its waiters tell of is found by its name too.
func TestNamedSemaphoreIsKnownByWhoWaits(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Do("SET", "sem", 0)
	in := at(t, s.Addr)
	if locks, err := in.LookKey(t.Context(), 0, "sem"); err != nil || len(locks) != 0 {
		t.Fatalf("a number that nobody waits for: %v, %v", locks, err)
	}
	sub := s.Client().Subscribe(t.Context(), "redisson_sc:{sem}")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	locks, err := in.LookKey(t.Context(), 0, "sem")
	if err != nil || len(locks) != 1 || locks[0].Label != "RSemaphore" {
		t.Errorf("%v, %v", locks, err)
	}
}
