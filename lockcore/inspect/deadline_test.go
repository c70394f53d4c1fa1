package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/redistest"
)

// A key that outlives the deadline its library goes by must not lend the lock
// its own, longer time: the countdown would run on after the lock has ended.
func TestEndsWithTheDeadlineOrTheKeyWhicheverIsEarlier(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	now := s.Client().Time(t.Context()).Val()
	ms := func(after time.Duration) string { return fmt.Sprint(now.Add(after).UnixMilli()) }
	const one, two = "WEB01_4312_6cf44ab3b43c47a9b1c9c5981ff16a0f", "WEB02_77_806f21772d7246e7a32ab633f2eb3a3c"
	for key, want := range map[string]struct {
		first, second, key time.Duration
		ends               time.Duration
		state              family.State
	}{
		"the last permit before the key": {10 * time.Second, 20 * time.Second, time.Minute, 20 * time.Second, family.Held},
		"the key before its last permit": {10 * time.Second, time.Minute, 30 * time.Second, 30 * time.Second, family.Held},
		"every permit over":              {-8 * time.Second, -5 * time.Second, time.Minute, -5 * time.Second, family.Lapsed},
	} {
		s.Do("ZADD", key, ms(want.first), one, ms(want.second), two)
		s.Do("PEXPIRE", key, want.key.Milliseconds())
		l := oneLock(t, New(nodeOf(s)), key)
		left, expires := l.Left(time.Now())
		if off := left - want.ends; !expires || l.State != want.state || off > 50*time.Millisecond || off < -5*time.Second {
			t.Errorf("%s: %s, %v left (%v), want %s and %v", key, l.State, left, expires, want.state, want.ends)
		}
		if l.TTL > want.key.Milliseconds() || l.TTL < (want.key-5*time.Second).Milliseconds() {
			t.Errorf("%s: TTL %d ms is not the key's", key, l.TTL)
		}
	}
}

// Where there is room for one holder, it is one that holds: not one whose own
// lease is over, and who is only still there.
func TestHolderWhoseLeaseIsOverIsNotTheOneNamed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	now := s.Client().Time(t.Context()).Val()
	const over, holds = "WEB01_4312_6cf44ab3b43c47a9b1c9c5981ff16a0f", "WEB02_77_806f21772d7246e7a32ab633f2eb3a3c"
	s.Do("ZADD", "permits", now.Add(-2*time.Second).UnixMilli(), over, now.Add(time.Minute).UnixMilli(), holds)
	s.Do("PEXPIRE", "permits", 180_000)
	l := oneLock(t, New(nodeOf(s)), "permits")
	if got := l.HolderWords(); got != holds+" and 1 more" {
		t.Errorf("got %q", got)
	}
	if got := HolderText(l.Holders[1], now); !strings.HasPrefix(got, over) || !strings.HasSuffix(got, ", its own lease is over") {
		t.Errorf("got %q", got)
	}
}

// What belonged to a lock goes with it: its expiry, told a moment later, is not
// taken for a lock that nobody saw.
func TestCompanionThatGoesWithItsLockIsNoGap(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	over := s.Client().Time(t.Context()).Val().Add(3 * time.Second).Truncate(time.Second)
	const permit = "ctWF8Jxkm+Pl23wstQKvJ/z392vH+Ol0ca8leI1X/Rs="
	for i := range 6 {
		times, weight := fmt.Sprintf("{pdf%d}:time", i), fmt.Sprintf("{pdf%d}:weight", i)
		s.Do("ZADD", times, over.Unix(), permit)
		s.Do("ZADD", weight, 1, permit)
		s.Do("PEXPIREAT", times, over.UnixMilli())
		s.Do("PEXPIREAT", weight, over.UnixMilli()+int64(i)*50) // the server comes to it when it does
	}
	w := follow(t, nodeOf(s), Query{Depth: Deep}, FollowOptions{})
	w.settled(ByTracking)
	w.until("all are gone", func(v *View) bool { return len(v.Rows) == 0 })
	time.Sleep(tellTolerance)
	w.until("all is told", func(*View) bool { return w.idle() })
	for _, e := range w.events {
		if e.Kind == FeedGap {
			t.Errorf("%s", eventLines([]Event{e}))
		}
	}
}
