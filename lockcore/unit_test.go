package lockcore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// The prepared commands of the uncontended pair are those of wire, which the
// console shows and the lab runs.
func TestPreparedCommandsAreThoseOfWire(t *testing.T) {
	l := onServer(t, "127.0.0.1:1", WithLabel("a label"), WithTTL(1500*time.Millisecond))
	h, err := l.newHold(t.Context(), "orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	acquire := wire.Acquire{Keys: h.keys, Token: h.token, TTLMS: 1500, About: l.cfg.about.String(), Since: h.began.second()}.Call()
	unlock := wire.Unlock(h.keys, h.token, ceilMS(h.cfg.tombstoneLife()), h.channel)
	for name, pair := range map[string][2][]any{
		"acquire": {h.plainRequest(), argsOf(acquire)}, "unlock": {h.plainUnlock(), argsOf(unlock)},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: prepared %q, wire has %q", name, pair[0], pair[1])
		}
	}
	if h.tombstone != h.keys.Tombstone(h.token) {
		t.Errorf("tombstone %q", h.tombstone)
	}
}

// An uncontended pair is two round trips, fence, notification and idempotence
// included.
func TestPairIsTwoRoundTrips(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	release(t, take(t, l, "a")) // the scripts are known from here on
	const pairs = 100
	sha, all := p.Seen("EVALSHA"), allSeen(p)
	for range pairs {
		release(t, take(t, l, "a"))
	}
	if n, m := p.Seen("EVALSHA")-sha, allSeen(p)-all; n != 2*pairs || m != n {
		t.Errorf("%d pairs took %d scripts and %d commands in all", pairs, n, m)
	}
}

// And it is cheap for the garbage collector.
func TestPairAllocatesLittle(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates too")
	}
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	allocs := testing.AllocsPerRun(500, func() {
		lease, err := l.TryAcquire(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(ctx); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 24 {
		t.Errorf("%v allocations for a pair", allocs)
	}
}

// The observer hears what a metric would count, with names and numbers.
func TestObserverHearsTheLifeOfALease(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var seen events
		type traced struct{}
		ctx := context.WithValue(t.Context(), traced{}, "span")
		l := w.locker(seen.option())
		lease, err := l.Acquire(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.TryAcquire(ctx, "a")
		wantErr(t, "held", err, ErrNotAcquired)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err = l.Acquire(short, "a")
		wantErr(t, "waited", err, ErrNotAcquired, context.DeadlineExceeded)
		var held *HeldError
		if !errors.As(err, &held) || held.Holder.Token != lease.Pass().Token || !strings.Contains(err.Error(), "held by") {
			t.Errorf("the waiter was told %v", err)
		}
		time.Sleep(DefaultTTL / 2)
		_ = l.Do(ctx, "b", func(context.Context, *Lease) error { return errors.New("no") })
		if err := lease.Release(ctx); err != nil {
			t.Fatal(err)
		}
		g := guardOf(t, l, "r")
		_ = g.Enter(ctx, Pass{Fence{9}, "x"})
		_ = g.Enter(ctx, Pass{Fence{8}, "y"})
		want := []EventKind{
			EventAcquired, EventNotAcquired, EventWaiting, EventSubscribed, EventAcquireEnded, EventUnsubscribed,
			EventRenewed, EventAcquired, EventReleased, EventWorkFailed, EventReleased, EventWriteRefused,
		}
		if got := seen.kinds(); !slices.Equal(got, want) {
			t.Errorf("heard\n%v, want\n%v", got, want)
		}
		for _, kind := range []EventKind{EventAcquired, EventNotAcquired, EventAcquireEnded, EventReleased, EventWorkFailed, EventWriteRefused} {
			for _, e := range seen.of(kind) {
				if e.Context == nil || e.Context.Value(traced{}) != "span" || e.Name == "" {
					t.Errorf("%s came with %+v", kind, e)
				}
			}
		}
		if e := seen.of(EventReleased)[1]; e.Held < DefaultTTL/2 || e.Fence != lease.Fence() {
			t.Errorf("the release was told as %+v", e)
		}
		if e := seen.of(EventAcquireEnded)[0]; e.Took != time.Second || e.Attempts < 1 || e.Holder.Token == "" {
			t.Errorf("the wait was told as %+v", e)
		}
	})
}

// A process that stood still learns it from the observer.
func TestObserverHearsAPause(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var seen events
		l := w.locker(seen.option())
		var ahead atomic.Int64 // how much of a pause the clocks have seen
		read := l.clock.read
		l.clock.read = func() instant {
			i := read()
			i.mono += ahead.Load()
			i.wall += ahead.Load()
			return i
		}
		lease := take(t, l, "a")
		ahead.Store(int64(DefaultTTL / 2)) // when the timer fires, this much more is over
		time.Sleep(DefaultTTL/3 + time.Millisecond)
		synctest.Wait()
		if !seen.has(EventPaused) || !seen.has(EventRenewalLate) {
			t.Errorf("heard %v", seen.kinds())
		}
		if err := lease.Err(); err != nil {
			t.Error(err)
		}
	})
}

// Without leases and waiters there is nothing that runs.
func TestNoGoroutineIsLeft(t *testing.T) {
	s := redistest.Start(t)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	ours := func() int {
		buf := make([]byte, 1<<20)
		return strings.Count(string(buf[:runtime.Stack(buf, true)]), "lockcore.(*")
	}
	before := ours()
	for i := range 5 {
		l, err := New(c, WithTTL(200*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("n", i)
		holder := take(t, l, name)
		var waiters []*waiter
		for range 5 {
			waiters = append(waiters, wait(t.Context(), l, name), wait(t.Context(), l, name, WithFair()))
		}
		gaveUp := wait(soon(t, 100*time.Millisecond), l, name)
		time.Sleep(300 * time.Millisecond)
		<-gaveUp.done
		release(t, holder)
		drain(t, waiters)
	}
	until(t, "all goroutines end", 10*time.Second, func() bool { return ours() <= before })
}

// Errors say what to do, and no more than is harmless to a terminal.
func TestErrorsRead(t *testing.T) {
	for err, want := range map[error]string{
		&HeldError{Name: "a", Holder: Holder{Token: "t", Fence: Fence{3}, Host: "web\x1b[31m", PID: 7, Label: "job"}, TTL: time.Second}: `lockcore: not acquired: "a" is held by web\x1b[31m/7 (job), fence 3, since 0001-01-01T00:00:00Z, TTL 1s`,
		&HeldError{Name: "a", Holder: Holder{Raw: "x\x00"}, TTL: time.Second}:                                                           `lockcore: not acquired: "a" is held by a value that lockcore did not write: x\x00, TTL 1s`,
		&HeldError{Name: "a", TTL: time.Second}:                                                                                         `lockcore: not acquired: "a" is kept for another waiter for 1s`,
		&lostError{name: "a", why: errTaken}:                                                                                            `lockcore: lease lost: "a": the lock is now held by somebody else`,
		&HeldError{Name: "a", Cause: context.Canceled, unasked: true}:                                                                   `lockcore: not acquired: "a": no answer yet: context canceled`,
		&StaleError{Resource: "r", Fence: Fence{3}, Seen: Fence{4}}:                                                                     `lockcore: stale fence: "r" has seen 4, this is 3`,
		&OpError{Op: "renew", Name: "a", Outcome: Unknown, Err: errors.New("EOF\x1b")}:                                                  `lockcore: renew "a": outcome unknown: EOF\x1b`,
	} {
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}

// The Locker refuses what cannot work, before anything is sent.
func TestUsage(t *testing.T) {
	c := clientOf(t, "127.0.0.1:1")
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	t.Cleanup(func() { _ = ring.Close() })
	if _, err := New(ring); !errors.Is(err, ErrUsage) {
		t.Errorf("a ring: %v", err)
	}
	if _, err := New(nil); !errors.Is(err, ErrUsage) {
		t.Errorf("no client: %v", err)
	}
	for what, opt := range map[string]Option{
		"op timeout": WithOpTimeout(time.Hour), "no op timeout": WithOpTimeout(0), "label": WithLabel(strings.Repeat("x", 65)),
		"text": WithText("\xff"), "hold": WithMaxHold(0), "wait": WaitAtMost(0), "replicas": WithReplicas(0, time.Second), "db": WithDB(-1),
	} {
		if _, err := New(c, opt); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", what, err)
		}
	}
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for what, opt := range map[string]Option{"prefix": WithPrefix("x"), "observer": WithObserver(nil), "db": WithDB(1)} {
		if _, err := l.TryAcquire(t.Context(), "a", opt); !errors.Is(err, ErrUsage) {
			t.Errorf("%s of one acquisition: %v", what, err)
		}
	}
	for _, resource := range []string{"", "}", "{", "a{b", "{}a"} {
		if g, err := l.Guard(resource); !errors.Is(err, ErrUsage) {
			t.Errorf("resource %q: key %q, %v", resource, g.seenKey, err)
		}
	}
	for resource, key := range map[string]string{"account-7": "{account-7}:seen", "account:{7}": "account:{7}:seen"} {
		if g, err := l.Guard(resource); err != nil || g.seenKey != key {
			t.Errorf("resource %q: key %q, %v", resource, g.seenKey, err)
		}
	}
}

// What a holder says of itself is there to be read.
func TestInspectShowsTheHolder(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithLabel("nightly"))
	lease := take(t, l, "a", WithText("batch 7 of 9"))
	info, err := l.Inspect(t.Context(), "a")
	if err != nil || !info.Held || info.Holder.Label != "nightly" || info.Holder.Text != "batch 7 of 9" ||
		info.Holder.Host == "" || info.Holder.PID == 0 || info.Fence != lease.Fence() || info.TTL <= 0 {
		t.Errorf("%+v, %v", info, err)
	}
	if d := time.Since(info.Holder.Since); d > time.Minute || d < -time.Minute {
		t.Errorf("since %v", info.Holder.Since)
	}
	release(t, lease)
	if info, err := l.Inspect(t.Context(), "a"); err != nil || info.Held || info.Fence != lease.Fence() {
		t.Errorf("released: %+v, %v", info, err)
	}
}

// A guard runs a script of one's own.
func TestGuardRunsOnesOwnScript(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	g := guardOf(t, l, "r")
	take30 := NewScript("return redis.call('DECRBY', KEYS[1], ARGV[1])")
	s.Do("set", "{r}:balance", 100)
	got, err := g.Run(t.Context(), Pass{Fence{2}, "b"}, take30, []string{"{r}:balance"}, "30")
	if err != nil || got != int64(70) {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = g.Run(t.Context(), Pass{Fence{1}, "a"}, take30, []string{"{r}:balance"}, "30")
	wantErr(t, "an older holder", err, ErrStale)
	_, err = g.Run(t.Context(), Pass{Fence{2}, "b"}, NewScript("redis.call('SET', KEYS[1], 1); return redis.call('NO')"), []string{"{r}:x"})
	var op *OpError
	if !errors.As(err, &op) || op.Outcome != Unknown {
		t.Errorf("a script that fails half-way: %v", err)
	}
	if v := s.Do("get", "{r}:balance"); v != "70" {
		t.Errorf("the balance is %v", v)
	}
}
