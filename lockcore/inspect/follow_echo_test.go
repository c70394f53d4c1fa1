package inspect

import (
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// What belongs to a lock may end a moment after it, and be told of long after:
// a server comes late to what nobody asks for. That is no lock that nobody saw.
func TestCompanionToldOfLongAfterItsEndIsNoGap(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--enable-debug-command", "yes")
	over := s.Client().Time(t.Context()).Val().Add(2 * time.Second).Truncate(time.Second)
	s.Do("ZADD", "{pdf}:time", over.Unix(), "ctWF8Jxkm+Pl23wstQKvJ/z392vH+Ol0ca8leI1X/Rs=")
	s.Do("ZADD", "{pdf}:weight", 1, "ctWF8Jxkm+Pl23wstQKvJ/z392vH+Ol0ca8leI1X/Rs=")
	s.Do("PEXPIREAT", "{pdf}:time", over.UnixMilli())
	s.Do("PEXPIREAT", "{pdf}:weight", over.UnixMilli()+50)
	w := follow(t, nodeOf(s), Query{Depth: Deep}, FollowOptions{Without: []Source{ByNotification}})
	w.settled(ByTracking)
	s.Do("DEBUG", "SET-ACTIVE-EXPIRE", 0)
	w.until("it is gone", func(v *View) bool { return len(v.Rows) == 0 })
	time.Sleep(tellTolerance + 300*time.Millisecond)
	s.Do("DEBUG", "SET-ACTIVE-EXPIRE", 1)
	time.Sleep(500 * time.Millisecond)
	w.none(FeedGap)
}

// A key that is there when its lock is gone ends too, sooner or later, and that
// is not a lock that nobody saw either. One that was taken and given up before
// its end is, and so is one after it: an end is explained once.
func TestKeyThatOutlivesItsLockIsNoGap(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	const quiet, busy = "mail:semaphore", "print:semaphore"
	for _, key := range []string{quiet, busy} {
		s.Do("SET", key, 1, "PX", 4000)
	}
	began := time.Now()
	w := follow(t, nodeOf(s), Query{Depth: Deep, Possible: true}, FollowOptions{Without: []Source{ByNotification}})
	w.settled(ByTracking)
	for _, key := range []string{quiet, busy} {
		s.Do("DECR", key)
		w.event(WasReleased, key)
	}
	time.Sleep(tellTolerance + 200*time.Millisecond)
	take := func(key string) {
		s.Do("EVAL", "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], 1, 'PX', 5000) redis.call('DEL', KEYS[1])", 1, key)
	}
	take(busy)
	w.event(FeedGap, busy)
	time.Sleep(time.Until(began.Add(4500 * time.Millisecond)))
	w.none(FeedGap)
	time.Sleep(tellTolerance)
	take(quiet)
	w.event(FeedGap, quiet)
}

// A look may find a change before that is told, and what is told is then not
// waited for for ever. When it comes it is not told again.
func TestWhatALookHasSeenIsNotToldAgainWhenItComesLate(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--notify-keyspace-events", "KA")
	n, late := toldLate(t, s)
	w := follow(t, n, Query{}, FollowOptions{})
	w.settled(ByTracking)
	s.Do("SET", "lock:a", tokenA, "PX", 1500)
	taken := time.Now()
	w.event(WasAcquired, "lock:a")
	late.DelayReplies(barrierWait * 3 / 2)
	time.Sleep(time.Until(taken.Add(1300 * time.Millisecond)))
	s.Do("EVAL", "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], ARGV[1], 'PX', 60000)", 1, "lock:a", tokenB)
	w.event(HandedOver, "lock:a") // found when the time of the first was over
	late.DelayReplies(0)          // for what comes after what is on its way
	time.Sleep(2 * barrierWait)
	w.until("all is told", func(*View) bool { return w.idle() })
	if len(w.events) > 0 {
		t.Errorf("and again:\n%s", eventLines(w.events))
	}
}

// none fails where an event of this kind is told that was not waited for.
func (w *watching) none(kind EventKind) {
	w.t.Helper()
	w.until("all is told", func(*View) bool { return w.idle() })
	for _, e := range w.events {
		if e.Kind == kind {
			w.t.Errorf("told: %s", eventLines([]Event{e}))
		}
	}
}
