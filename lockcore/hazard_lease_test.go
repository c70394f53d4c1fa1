package lockcore

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// The server's TTL began before the answer came, so the holder's time counts
// from the sending.
func TestH34_DeadlineCountsFromTheSending(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		const ttl = 20 * time.Second
		l := w.locker(WithTTL(ttl), WithoutRenewal())
		warm := take(t, l, "a") // the scripts are known from here on
		if err := warm.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		release(t, warm)
		w.set(func(f *virtualFaults) { f.replyDelay = 3 * time.Second })
		sent := time.Now()
		lease := take(t, l, "a")
		if took := time.Since(sent); took != 3*time.Second {
			t.Fatalf("the answer took %v", took)
		}
		if d := lease.Deadline().Sub(sent); d != ttl-margin(ttl) {
			t.Errorf("the deadline is %v after the sending", d)
		}
		sent = time.Now()
		if err := lease.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := lease.Deadline().Sub(sent); d != ttl-margin(ttl) {
			t.Errorf("renewed, the deadline is %v after the sending", d)
		}
	})
}

// A renewal that hangs must not put off the moment at which the holder learns
// that its time is over.
func TestH35_LossIsTimedWhateverTheRenewalDoes(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var seen events
		l := w.locker(WithOpTimeout(DefaultTTL), seen.option()) // a renewal may hang for a whole TTL
		lease := take(t, l, "a")
		granted := time.Now()
		w.blackHole()
		<-lease.Context().Done()
		if took := time.Since(granted); took > DefaultTTL-margin(DefaultTTL) {
			t.Errorf("the context ended after %v", took)
		}
		synctest.Wait() // the observer is told after the context has ended
		wantErr(t, "its cause", context.Cause(lease.Context()), ErrLost)
		if w.sent() < 3 || lease.State() != Lost || len(seen.of(EventLost)) != 1 {
			t.Errorf("%d scripts, state %v, events %v", w.sent(), lease.State(), seen.kinds())
		}
	})
}

// Loss has a timer of its own; no tick is waited for.
func TestH36_LossIsNoticedAtTheDeadlineItself(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker(WithoutRenewal())
		sent := time.Now()
		lease := take(t, l, "a")
		<-lease.Context().Done()
		if took := time.Since(sent); took != DefaultTTL-margin(DefaultTTL) {
			t.Errorf("noticed after %v, not %v", took, DefaultTTL-margin(DefaultTTL))
		}
	})
}

// A renewal that finds no lock has lost it: somebody may have had it in between.
func TestH37_RenewalDoesNotResurrect(t *testing.T) {
	s := redistest.Start(t)
	var seen events
	l := onServer(t, s.Addr, seen.option())
	a := take(t, l, "a")
	s.Do("pexpire", "lock:{a}", 1)
	until(t, "it expires", time.Second, func() bool { return s.Do("exists", "lock:{a}") == int64(0) })
	release(t, take(t, onServer(t, s.Addr), "a"))
	wantErr(t, "A's renewal", a.Renew(t.Context()), ErrLost)
	if s.Do("exists", "lock:{a}") != int64(0) || a.State() != Lost || !seen.has(EventLost) {
		t.Errorf("the lock came back, or A does not know: %v", a.State())
	}
	wantErr(t, "A's context", context.Cause(a.Context()), ErrLost)
}

// An answer that comes after the deadline does not make a lost lease held.
func TestH38_ALateAnswerDoesNotRevive(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		const ttl = 3 * time.Second // below what go-redis waits for an answer by itself
		heard := 0
		l := w.locker(WithTTL(ttl), WithOpTimeout(ttl), WithObserver(func(e Event) {
			if e.Kind == EventRenewalFailed {
				heard++
			}
		}))
		lease := take(t, l, "a")
		time.Sleep(ttl/3 + ttl/10) // renewed once: the server has the script
		w.set(func(f *virtualFaults) { f.replyDelay = ttl * 8 / 10 })
		<-lease.Context().Done()
		time.Sleep(ttl / 10)
		if w.get("lock:{a}") == "" {
			t.Fatal("the server renewed it only once; this test shows nothing")
		}
		wantErr(t, "at the deadline", lease.Err(), ErrLost)
		time.Sleep(ttl / 10) // the answer has come: renewed, for some time yet
		if w.get("lock:{a}") == "" || heard > 0 {
			t.Fatalf("%d renewals failed; this test shows nothing", heard)
		}
		wantErr(t, "after the answer", lease.Err(), ErrLost)
		if lease.State() != Lost {
			t.Errorf("the lease is %v", lease.State())
		}
		wantErr(t, "renewed by hand", lease.Renew(t.Context()), ErrLost)
	})
}

// No renewal runs for a lock that was released.
func TestH39_RenewalEndsWithTheRelease(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithTTL(60*time.Millisecond), WithOpTimeout(60*time.Millisecond))
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			for i := range redistest.Rounds(40, 25000) {
				lease, err := l.TryAcquire(t.Context(), name)
				if err != nil {
					continue // this machine stood still
				}
				time.Sleep(time.Duration(i%4) * 7 * time.Millisecond) // around the renewals
				_ = lease.Release(t.Context())
			}
		})
	}
	all.Wait()
	time.Sleep(150 * time.Millisecond)
	for _, name := range []string{"a", "b", "c", "d"} {
		if ttl := s.Do("pttl", "lock:{"+name+"}"); ttl != int64(-2) {
			t.Errorf("%s lives on with a TTL of %v", name, ttl)
		}
	}
	if n := len(l.sched.heap); n != 0 {
		t.Errorf("%d leases are still watched", n)
	}
}

// In virtual time the same is exact: not one command after the release.
func TestH39_NotOneCommandAfterTheRelease(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker()
		lease := take(t, l, "a")
		time.Sleep(time.Minute)
		release(t, lease)
		n := w.sent()
		time.Sleep(time.Hour)
		if m := w.sent(); m != n {
			t.Errorf("%d scripts after the release", m-n)
		}
	})
}

// A lease that nobody can release any more is not kept alive.
func TestH40_RenewalEndsWithItsOwner(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithTTL(300*time.Millisecond))
	_ = take(t, l, "forgotten")
	until(t, "the forgotten lock expires", 10*time.Second, func() bool {
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
		return s.Do("exists", "lock:{forgotten}") == int64(0)
	})
	kept := take(t, l, "kept")
	for range 20 {
		runtime.GC()
		time.Sleep(30 * time.Millisecond)
	}
	if err := kept.Err(); err != nil {
		t.Errorf("a lease in use was forgotten: %v", err)
	}
	release(t, kept)
}

// The same where the owner is a context, or took too long.
func TestH40_BoundAndBounded(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker()
		gone := errors.New("the job was stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		bound := take(t, l, "bound", BoundTo(ctx))
		time.Sleep(time.Minute)
		cancel(gone)
		wantErr(t, "the bound lease's context", context.Cause(bound.Context()), gone)
		time.Sleep(DefaultTTL + time.Second)
		if w.get("lock:{bound}") != "" {
			t.Error("its lock is kept alive")
		}
		most := 45 * time.Second
		began := time.Now()
		long := take(t, l, "long", WithMaxHold(most))
		<-long.Context().Done()
		if took := time.Since(began); took != most {
			t.Errorf("MaxHold %v ended after %v", most, took)
		}
		wantErr(t, "its cause", context.Cause(long.Context()), ErrLost, ErrMaxHold)
		time.Sleep(DefaultTTL + time.Second)
		if w.get("lock:{long}") != "" {
			t.Error("its lock is kept alive")
		}
	})
}

// A renewal that was on its way when the lock was released, and was taken by
// somebody else, changes nothing.
func TestH41_RenewalAfterTheNextHolderCame(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithoutRenewal())
	a := take(t, l, "a")
	late := wire.Renew(a.h.keys, a.h.token, 60000)
	release(t, a)
	b := take(t, l, "a", WithTTL(5*time.Second))
	reply, err := wire.ParseOwned(sendCall(t, s, late))
	if err != nil || reply.Status != wire.NotYours {
		t.Errorf("the late renewal got %+v, %v", reply, err)
	}
	if ttl := s.Do("pttl", "lock:{a}").(int64); ttl > 5000 {
		t.Errorf("it lengthened B's lock to %d ms", ttl)
	}
	release(t, b)
}

// Two failed renewals make a lease suspect. The third makes it held again.
func TestH42_ARenewalMayFail(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var seen events
		l := w.locker(seen.option())
		lease := take(t, l, "a")
		if err := lease.Renew(t.Context()); err != nil { // the script is known from here on
			t.Fatal(err)
		}
		w.set(func(f *virtualFaults) { f.cut = 2 })
		time.Sleep(DefaultTTL / 2)
		if n := len(seen.of(EventRenewalFailed)); n != 2 {
			t.Errorf("%d renewals failed", n)
		}
		if err := lease.Err(); err != nil || lease.State() != Held {
			t.Errorf("after the third: %v, %v", lease.State(), err)
		}
		w.blackHole()
		time.Sleep(DefaultTTL * 8 / 10)
		if lease.State() != Suspect {
			t.Errorf("in a black hole: %v", lease.State())
		}
		w.heal()
		time.Sleep(DefaultTTL)
		if lease.State() != Held {
			t.Errorf("after it: %v, %v", lease.State(), lease.Err())
		}
	})
}

// The end of the request that acquired is not the end of the lease.
func TestH43_RenewalIsNotOnTheCallersContext(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		type key struct{}
		l := w.locker()
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "trace"))
		lease, err := l.Acquire(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(time.Hour)
		if err := lease.Err(); err != nil || lease.Context().Err() != nil {
			t.Errorf("the lease ended with the request: %v", err)
		}
		if lease.Context().Value(key{}) != "trace" {
			t.Error("the request's values are gone")
		}
		release(t, lease)
	})
}

// Commands that block a whole pool must not starve the renewals.
func TestH44_AFullPoolDoesNotStarveRenewal(t *testing.T) {
	s := redistest.Start(t)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, PoolSize: 1, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	l, err := New(c, WithTTL(900*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	lease := take(t, l, "a")
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		_ = c.BLPop(t.Context(), 3*time.Second, "nothing").Err() // its answer does not matter
	}()
	time.Sleep(2700 * time.Millisecond)
	if err := lease.Err(); err != nil {
		t.Errorf("the lease starved: %v", err)
	}
	<-blocked
	release(t, lease)
}

// A renewal sets the TTL; it does not add to it.
func TestH45_RenewalDoesNotAddUp(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	lease := take(t, l, "a")
	for range 100 {
		if err := lease.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ttl := s.Do("pttl", "lock:{a}").(int64); ttl > DefaultTTL.Milliseconds() || ttl < DefaultTTL.Milliseconds()-1000 {
			t.Fatalf("the TTL is %d ms", ttl)
		}
	}
	release(t, lease)
}

// The server's clock is set forward: every lock is free at once. The number
// covers that, and the holder learns.
func TestH46_TheServersClockJumps(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker()
		g := guardOf(t, l, "r")
		a := take(t, l, "a")
		w.m.SetTime(time.Now().Add(time.Hour))
		b := take(t, w.locker(), "a")
		if err := g.Enter(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "A's write", g.Set(t.Context(), a, []byte("A")), ErrStale)
		<-a.Context().Done()
		wantErr(t, "A's lease", context.Cause(a.Context()), ErrLost)
		if err := b.Err(); err != nil {
			t.Errorf("B's lease: %v", err)
		}
		w.m.SetTime(time.Time{})
	})
}

// While a computer sleeps its monotonic clock stands still, and Redis's does
// not. Whichever clock has gone further counts.
func TestH47_TheComputerWasAsleep(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker(WithoutRenewal())
		lease := take(t, l, "a")
		awake := l.clock.read
		slept := time.Duration(0)
		l.clock.read = func() instant {
			i := awake()
			i.wall += int64(slept)
			return i
		}
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
		slept = DefaultTTL
		wantErr(t, "after a sleep", lease.Err(), ErrLost)
		wantErr(t, "its context", context.Cause(lease.Context()), ErrLost)
		slept = -time.Hour // the clock was set back
		lease = take(t, l, "b")
		time.Sleep(DefaultTTL)
		wantErr(t, "with the clock set back", lease.Err(), ErrLost)
	})
}

// One server of a Cluster hangs: the leases on the others are renewed.
func TestH48_OneServerHangs(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nodes[0].Addr, nodes[1].Addr, nodes[2].Addr}})
	t.Cleanup(func() { _ = c.Close() })
	l, err := New(c, WithTTL(600*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	leases := map[string]*Lease{}
	for _, name := range strings.Split("abcdefghijkl", "") {
		leases[name] = take(t, l, name)
	}
	hangs := func(name string) bool {
		node, err := c.MasterForKey(t.Context(), "lock:{"+name+"}")
		if err != nil {
			t.Fatal(err)
		}
		return node.Options().Addr == nodes[1].Addr
	}
	nodes[1].Pause()
	time.Sleep(1200 * time.Millisecond)
	lost := 0
	for name, lease := range leases {
		if err := lease.Err(); (err != nil) != hangs(name) {
			t.Errorf("%s, on the server that hangs: %v: %v", name, hangs(name), err)
		} else if err != nil {
			lost++
		}
	}
	nodes[1].Resume()
	if lost == 0 || lost == len(leases) {
		t.Errorf("%d of %d leases were on the server that hung", lost, len(leases))
	}
}
