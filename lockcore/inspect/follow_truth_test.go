package inspect

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// kinds are what was told of a key, in order, as soon as nothing more is to come.
func (w *watching) kinds(key string) []EventKind {
	w.t.Helper()
	time.Sleep(200 * time.Millisecond)
	w.until("all is told", func(*View) bool { return w.idle() })
	var out []EventKind
	for _, e := range w.events {
		if string(e.Key) == key {
			out = append(out, e.Kind)
		}
	}
	w.events = nil
	return out
}

// A release that signals, and the signal, are met in one look at two keys, and
// tell of one lock. The signal is no lock, whether it is taken at once or not.
func TestSignalBesideALockIsNotALockAgain(t *testing.T) {
	t.Parallel()
	const key, signal = "lock:mail", "lock-signal:mail"
	const unlock = "redis.call('DEL', KEYS[2]) redis.call('LPUSH', KEYS[2], 1) redis.call('PEXPIRE', KEYS[2], 1000) redis.call('DEL', KEYS[1]) "
	const take = "redis.call('LPOP', KEYS[2]) redis.call('SET', KEYS[1], ARGV[1], 'PX', 60000) "
	for _, c := range sources[:3] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			token := func(n int) string { return "GxwErhZvp2QmLvacHpVgjGj" + string(rune('A'+n)) }
			s.Do("SET", key, token(0), "PX", 60_000)
			w.event(WasAcquired, key)
			for n := range 8 {
				script := unlock
				if n%2 == 0 {
					script += take // at once
				}
				s.Do("EVAL", script, 2, key, signal, token(n+1))
				if n%2 == 1 {
					s.Do("SET", key, token(n+1), "PX", 60_000) // the signal stays
				}
				got := w.kinds(key)
				once := slices.Equal(got, []EventKind{HandedOver}) || slices.Equal(got, []EventKind{WasReleased, WasAcquired})
				if rows := len(w.f.View().Rows); rows != 1 || !once {
					t.Errorf("%d rows; told %v", rows, got)
				}
			}
			s.Do("EVAL", unlock+"redis.call('LPOP', KEYS[2])", 2, key, signal)
			w.event(WasReleased, key)
			s.Do("EVAL", "redis.call('LPUSH', KEYS[1], 1) redis.call('LPOP', KEYS[1])", 1, signal)
			if got := w.kinds(signal); got != nil {
				t.Errorf("of the signal %v", got)
			}
		})
	}
}

// What lives for milliseconds under a name that says nothing of locks is none,
// also where every key is looked at.
func TestShortOrdinaryKeyIsNoLock(t *testing.T) {
	t.Parallel()
	for _, c := range sources[:3] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			s.Do("SET", "shop:lock", tokenA) // so that its neighbours are told of
			w := follow(t, nodeOf(s), Query{Depth: Deep}, FollowOptions{Without: c.without})
			w.settled(c.source)
			for _, key := range []string{"shop:cart", "shop:page"} {
				s.Do("EVAL", "redis.call('SET', KEYS[1], 1, 'PX', 5000) redis.call('DEL', KEYS[1])", 1, key)
				if got := w.kinds(key); got != nil {
					t.Errorf("%s: %v", key, got)
				}
			}
		})
	}
}

// A database that was emptied before a lock was taken did not end it.
func TestEarlierFlushEndsNoLock(t *testing.T) {
	t.Parallel()
	for _, c := range sources[2:] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			s.Do("SET", "lock:old", tokenA, "PX", 600_000)
			w.event(WasAcquired, "lock:old")
			s.Do("FLUSHDB")
			s.Do("SET", "lock:old", tokenB, "PX", 600_000)
			if got := w.kinds("lock:old"); c.told && (len(got) != 1 || got[0] != Overwritten) {
				t.Errorf("told %v", got)
			}
			w.until("the next one is seen", func(*View) bool { r := w.row("lock:old"); return r != nil && string(r.Holders[0].ID) == tokenB })
			time.Sleep(time.Second)
			s.Do("DEL", "lock:old")
			w.event(WasReleased, "lock:old")
		})
	}
}

// Who leaves npm's semaphore after it was the last to refresh leaves the key's
// TTL as it is, from which the others' is worked out: that renews nobody.
func TestLeavingRenewsNobody(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	const key, lease = "semaphore:print", 60_000
	w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: []Source{ByNotification}})
	w.settled(ByTracking)
	join := func(id string) {
		s.Do("EVAL", "redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) redis.call('PEXPIRE', KEYS[1], ARGV[3])", 1, key, time.Now().UnixMilli(), id, lease)
	}
	join(tokenA)
	w.event(WasAcquired, key)
	time.Sleep(500 * time.Millisecond)
	join(tokenB)
	if e := w.event(WasAcquired, key); e.TTL < lease-200 {
		t.Errorf("%+v", e)
	}
	s.Do("ZREM", key, tokenB)
	if got := w.kinds(key); !slices.Equal(got, []EventKind{WasReleased}) {
		t.Errorf("told %v", got)
	}
	h := w.row(key).Holders[0]
	if left := h.TTL; left > lease-400 {
		t.Errorf("it lasts for %d ms more", left)
	}
	join(tokenA)
	w.event(WasRenewed, key)
}

// One who has a lock's time of its own is told with that, not with the key's.
func TestEventsCarryTheHoldersOwnTTL(t *testing.T) {
	shared := func(after float64, holders ...family.Holder) *Lock {
		l := aLock(after, "", 60_000)
		l.Kind, l.State, l.Holders = family.RWLock, family.Held, holders
		return l
	}
	reader := func(id string, ttl int64) family.Holder {
		return family.Holder{ID: wire.Raw(id), HasTTL: true, TTL: ttl, Mode: "read"}
	}
	w := &witness{at: t0.Add(time.Second), told: []string{"zadd", "expire"}, whole: true, touched: true}
	got := diff(shared(0, reader("A", 60_000)), shared(1, reader("A", 59_000), reader("B", 5000)), w)
	if brief(got) != "acquired(B)" || got[0].TTL != 5000 {
		t.Errorf("%+v", got)
	}
	w = &witness{at: t0.Add(time.Second), touched: true}
	got = diff(shared(0, reader("A", 60_000), reader("B", 5000)), shared(1, reader("A", 59_000)), w)
	if brief(got) != "released(B)~" || got[0].PrevTTL != 4000 {
		t.Errorf("%+v", got)
	}
	// One after another, one of them left: whose doing what was told is, nobody knows.
	w = &witness{at: t0.Add(time.Second), told: []string{"zadd", "expire", "zrem"}, whole: true, touched: true}
	if got = diff(shared(0, reader("A", 60_000)), shared(1, reader("B", 5000)), w); brief(got) != "handed-over(A>B)" {
		t.Errorf("%+v", got)
	}
}

// What a look has not seen of a time is not made up from the looks around it.
func TestToldTimesAreThoseThatWereSeen(t *testing.T) {
	ttls := func(prev, cur *Lock, w witness, told ...string) (out []string) {
		w.at, w.told, w.whole, w.touched, w.key = t0.Add(time.Second), told, true, true, &Lock{Key: "k"}
		for _, e := range diff(prev, cur, &w) {
			out = append(out, string(e.Kind)+" "+ms(e.PrevTTL)+">"+ms(e.TTL))
		}
		return out
	}
	a, b := aLock(0, "A", 10_000), aLock(1, "A", 30_000)
	for _, c := range []struct {
		got  []string
		want []string
	}{
		{ttls(a, b, witness{}, "expire"), []string{"renewed 9000>30000"}},
		{ttls(a, b, witness{}, "expire", "expire"), []string{"renewed 9000>?", "renewed ?>30000"}},
		{ttls(a, b, witness{ahead: true}, "expire"), []string{"renewed 9000>?"}},
		{ttls(a, b, witness{seen: true}, "expire"), []string{"renewed ?>30000"}},
		{ttls(a, nil, witness{}, "expire", "del"), []string{"renewed 9000>?", "released ?>?"}},
		{ttls(nil, b, witness{}, "set", "expire", "del", "set", "expire", "expire"),
			[]string{"acquired ?>?", "released ?>?", "acquired ?>?", "renewed ?>30000"}},
		{ttls(a, b, witness{}, "set", "expire"), []string{"renewed 9000>30000"}},
		{ttls(a, b, witness{}, "set", "expire", "expire"), []string{"renewed 9000>?", "renewed ?>30000"}},
		{ttls(a, aLock(1, "A", -1), witness{}, "expire", "persist"), []string{"renewed 9000>?", "lost-expiry ?>-1"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %q\nwant %q", c.got, c.want)
		}
	}
}

// ms is a TTL of an event; "?" where it is not known.
func ms(ttl int64) string {
	if ttl == family.Gone {
		return "?"
	}
	return strconv.FormatInt(ttl, 10)
}

// Two looks are as sure of a holder's own time as each is: what both together say
// of the key's does not sharpen it.
func TestOwnTimesAreNotSharpened(t *testing.T) {
	l := aLock(0, "A", 10_000)
	l.Uncertainty = 20 * time.Millisecond
	next := aLock(1, "A", 9030)
	l.Holders[0].TTL, l.Holders[0].HasTTL = 10_000, true
	next.Holders[0].TTL, next.Holders[0].HasTTL = 9030, true
	next.Uncertainty = 20 * time.Millisecond
	steady(l, next)
	last := aLock(2, "A", 8010)
	last.Holders[0].TTL, last.Holders[0].HasTTL = 8010, true
	if got := diff(next, last, &witness{at: last.SampledAt}); len(got) > 0 {
		t.Errorf("%s", brief(got))
	}
}

// An end may be told just after the look that found it, also where a change before
// it was told; what is told later is another lock that nobody saw.
func TestEndToldAfterItsLook(t *testing.T) {
	for _, touched := range []bool{true, false} {
		tr := &tracker{}
		tr.ended("lock:x", &witness{at: time.Now(), touched: touched})
		left := tellTolerance - time.Since(tr.read.echoes["lock:x"])
		if left <= 0 || touched && left > endTolerance {
			t.Errorf("touched %v: an end is expected for %v more", touched, left)
		}
	}
}
