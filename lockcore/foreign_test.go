package lockcore

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// Keys that lockcore did not write may hold anything. What they say is told as
// it is, and nobody who waits for them asks again and again.

// Redis takes a TTL for which a Duration has no room.
func TestATTLThatNoDurationHolds(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	for _, ms := range []string{"9999999999999", "19999999845000", "9000000000000000"} {
		s.Do("set", "lock:{a}", "x", "px", ms)
		info, err := l.Inspect(t.Context(), "a")
		if err != nil || info.TTL != longestTTL {
			t.Errorf("TTL of %s ms: Inspect says %v, %v", ms, info.TTL, err)
		}
		before := p.Seen("EVALSHA") + p.Seen("EVAL")
		_, err = l.Acquire(soon(t, 300*time.Millisecond), "a")
		var held *HeldError
		if !errors.As(err, &held) || held.TTL != longestTTL {
			t.Errorf("TTL of %s ms: Acquire says %v", ms, err)
		}
		if n := p.Seen("EVALSHA") + p.Seen("EVAL") - before; n > 5 {
			t.Errorf("TTL of %s ms: %d requests in 300 ms of waiting", ms, n)
		}
	}
}

// An empty value is a holder's, too, and not the sign of a free lock that is
// kept for somebody.
func TestAnEmptyValueIsAHolder(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	s.Do("set", "lock:{a}", "", "px", 60000)
	_, err := l.TryAcquire(t.Context(), "a")
	wantErr(t, "an empty value", err, ErrNotAcquired)
	if strings.Contains(err.Error(), "kept") {
		t.Errorf("nobody keeps it: %v", err)
	}
	s.Do("persist", "lock:{a}")
	for _, opts := range [][]Option{nil, {WithFair()}} {
		_, err = l.Acquire(soon(t, 5*time.Second), "a", opts...)
		wantErr(t, "an empty value without a TTL", err, ErrCorrupt)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it was waited for: %v", err)
		}
	}
}

// A number below 1 is no fence: nothing is held, and no guard has seen it.
func TestACounterBelowZero(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	s.Do("set", "{r}:seen", "5:old")
	for _, opts := range [][]Option{nil, {Entering(guardOf(t, l, "r"))}, {WithFair()}} {
		for _, counter := range []string{"-5", "-1"} {
			s.Do("set", "lock:{a}:fence", counter)
			_, err := l.TryAcquire(t.Context(), "a", opts...)
			wantErr(t, "counter at "+counter, err, ErrCorrupt)
			if errors.Is(err, ErrUsage) {
				t.Errorf("counter at %s: the call was not wrong: %v", counter, err)
			}
			if n := s.Do("exists", "lock:{a}"); n != int64(0) {
				t.Errorf("counter at %s: a lock is left: %v", counter, s.Do("get", "lock:{a}"))
			}
		}
	}
	if seen := s.Do("get", "{r}:seen"); seen != "5:old" {
		t.Errorf("the guard has seen %v", seen)
	}
}

// A floor above which Redis cannot count would spoil the counter for good.
func TestAFloorWithoutANumberAboveIt(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	for _, floor := range []uint64{math.MaxInt64, math.MaxUint64} {
		_, err := l.TryAcquire(t.Context(), "a", FenceFloor(Fence{floor}))
		wantErr(t, "the floor", err, ErrUsage)
	}
	lease := take(t, l, "a", FenceFloor(Fence{math.MaxInt64 - 1}))
	if lease.Fence() != (Fence{math.MaxInt64}) {
		t.Errorf("above the highest floor: %v", lease.Fence())
	}
}
