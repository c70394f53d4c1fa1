package lockcore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// waiter acquires in the background.
type waiter struct {
	lease *Lease
	err   error
	at    time.Time
	done  chan struct{}
}

func wait(ctx context.Context, l *Locker, name string, opts ...Option) *waiter {
	w := &waiter{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lease, w.err = l.Acquire(ctx, name, opts...)
		w.at = time.Now()
	}()
	return w
}

// within fails the test unless the waiter has the lock in time.
func (w *waiter) within(t testing.TB, d time.Duration) {
	t.Helper()
	select {
	case <-w.done:
		if w.err != nil {
			t.Fatalf("the waiter got %v", w.err)
		}
	case <-time.After(d):
		t.Fatalf("the waiter got nothing within %v", d)
	}
}

// The lock is released between the waiter's first request and its subscription.
func TestH56_ReleasedBeforeTheSubscription(t *testing.T) {
	s := redistest.Start(t)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		s.Do("flushall")
		holder := take(t, onServer(t, s.Addr, WithTTL(time.Minute)), "a")
		var once sync.Once
		l := onServer(t, s.Addr, WithObserver(func(e Event) {
			if e.Kind == EventWaiting { // it has asked, and has not subscribed yet
				once.Do(func() { release(t, holder) })
			}
		}))
		w := wait(t.Context(), l, "a", opts...)
		w.within(t, 3*time.Second)
		release(t, w.lease)
	}
}

// The connection that hears releases breaks, and the release comes before it is
// there again.
func TestH57_ReleasedWhileNobodyHeard(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		s.Do("flushall")
		var seen events
		l := onServer(t, p.Addr, seen.option())
		holder := take(t, onServer(t, s.Addr, WithTTL(time.Minute)), "a")
		w := wait(t.Context(), l, "a", opts...)
		until(t, "it waits, and hears", 3*time.Second, func() bool { return seen.has(EventSubscribed) })
		time.Sleep(100 * time.Millisecond)
		p.HoldRequests() // what is sent to connect again waits too
		s.Do("client", "kill", "type", "pubsub")
		release(t, holder)
		time.Sleep(100 * time.Millisecond)
		p.Heal()
		w.within(t, 3*time.Second)
		if !seen.has(EventSubscribeLost) {
			t.Errorf("events %v", seen.kinds())
		}
		release(t, w.lease)
	}
}

// The first in line hears of the release, and gives up while its request is on
// its way. Nobody tells the second one again.
func TestH57_WhoHeardOfItGaveUp(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	holder := take(t, onServer(t, s.Addr), "a")
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	first := wait(ctx, l, "a")
	until(t, "it hears", time.Second, func() bool { return l.ears.live(holder.h.names) })
	second := wait(t.Context(), l, "a")
	until(t, "it stands in line", time.Second, func() bool {
		l.lines.mu.Lock()
		defer l.lines.mu.Unlock()
		ln := l.lines.all[holder.h.channel]
		return ln != nil && len(ln.turns) == 2
	})
	time.Sleep(50 * time.Millisecond) // the request that follows the subscription
	p.DelayRequests(3 * time.Second)
	asked := p.Seen("EVALSHA")
	release(t, holder)
	until(t, "it asks", time.Second, func() bool { return p.Seen("EVALSHA") > asked })
	p.DelayRequests(0)
	giveUp()
	<-first.done
	second.within(t, time.Second)
}

// An expiry is told to nobody. The waiter knows the TTL.
func TestH58_TheHolderDied(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		for name, opts := range map[string][]Option{"a": nil, "b": {WithFair()}} {
			dead := w.locker(WithoutRenewal())
			_ = take(t, dead, name)
			granted := time.Now()
			lease, err := w.locker().Acquire(t.Context(), name, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(granted); took < DefaultTTL || took > DefaultTTL+20*time.Millisecond {
				t.Errorf("options %d: it took %v", len(opts), took)
			}
			release(t, lease)
		}
	})
}

// One release makes one request of each process, not of each waiter.
func TestH59_NoThunderingHerd(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	const processes, waiters = 4, 8
	holder := take(t, onServer(t, s.Addr, WithTTL(time.Minute)), "a")
	var all []*waiter
	for range processes {
		var seen events
		l := onServer(t, p.Addr, WithTTL(time.Minute), seen.option())
		for range waiters {
			all = append(all, wait(t.Context(), l, "a"))
		}
		until(t, "it hears", 3*time.Second, func() bool { return seen.has(EventSubscribed) })
	}
	time.Sleep(200 * time.Millisecond)
	before := p.Seen("EVALSHA")
	release(t, holder)
	time.Sleep(300 * time.Millisecond)
	if n := p.Seen("EVALSHA") - before; n > processes+1 {
		t.Errorf("a release made %d requests of %d processes", n, processes)
	}
	drain(t, all)
}

// drain releases what waiters get, until all have had it.
func drain(t *testing.T, all []*waiter) {
	t.Helper()
	for left := all; len(left) > 0; {
		i := slices.IndexFunc(left, func(w *waiter) bool {
			select {
			case <-w.done:
				return true
			default:
				return false
			}
		})
		if i < 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		if left[i].err != nil {
			t.Fatal(left[i].err)
		}
		release(t, left[i].lease)
		left = slices.Delete(left, i, i+1)
	}
}

// Fair turns are taken in the order of arrival, over all processes; the longest
// wait is the holds of those before.
func TestH60_NobodyStarves(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		const hold, n = 20 * time.Millisecond, 32
		var lockers []*Locker
		for range 8 {
			lockers = append(lockers, w.locker(WithFair()))
		}
		var order []int
		var worst time.Duration
		var all sync.WaitGroup
		first := take(t, lockers[0], "a")
		for i := range n {
			all.Go(func() {
				began := time.Now()
				lease, err := lockers[i%8].Acquire(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				order, worst = append(order, i), max(worst, time.Since(began)) // the lock guards them
				time.Sleep(hold)
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Millisecond) // one after the other
		}
		release(t, first)
		all.Wait()
		if !slices.IsSorted(order) || len(order) != n {
			t.Errorf("the turns were %v", order)
		}
		if most := n * hold * 12 / 10; worst > most {
			t.Errorf("somebody waited %v of %v", worst, n*hold)
		}
	})
}

// In one process the waiters take turns in order, without any option.
func TestH60_OneProcessIsFair(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker()
		first := take(t, l, "a")
		var order []int
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				lease, err := l.Acquire(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i) // the lock guards it
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Millisecond)
		}
		release(t, first)
		all.Wait()
		if !slices.IsSorted(order) || len(order) != 10 {
			t.Errorf("the turns were %v", order)
		}
	})
}

// Waiters that died in the queue delay the living by a moment, not by their TTL.
func TestH61_DeadWaitersInTheQueue(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker(WithFair())
		holder := take(t, l, "a")
		k := keysOf(t, "a")
		for i := range 3 { // they asked, and were killed
			call := wire.Acquire{Keys: k, Token: fmt.Sprint("dead-", i), TTLMS: 10000, Fair: &wire.Fair{
				WindowMS: window.Milliseconds(), Channel: k.Channel(0), Wait: true,
			}}.Call()
			if _, err := l.send.call(t.Context(), time.Second, call); err != nil {
				t.Fatal(err)
			}
		}
		alive := wait(t.Context(), w.locker(WithFair()), "a")
		time.Sleep(time.Second)
		released := time.Now()
		release(t, holder)
		<-alive.done
		if took := alive.at.Sub(released); alive.err != nil || took > 3*window+100*time.Millisecond {
			t.Errorf("three dead waiters: %v, %v", took, alive.err)
		}
		release(t, alive.lease)
	})
}

// And those that have been dead for long delay nobody.
func TestH61_LongDeadWaiters(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker(WithFair())
		holder := take(t, l, "a")
		k := keysOf(t, "a")
		call := wire.Acquire{Keys: k, Token: "dead", TTLMS: 10000, Fair: &wire.Fair{
			WindowMS: window.Milliseconds(), Channel: k.Channel(0), Wait: true,
		}}.Call()
		if _, err := l.send.call(t.Context(), time.Second, call); err != nil {
			t.Fatal(err)
		}
		alive := wait(t.Context(), w.locker(WithFair()), "a")
		time.Sleep(2 * DefaultTTL)
		released := time.Now()
		release(t, holder)
		<-alive.done
		if took := alive.at.Sub(released); alive.err != nil || took > 10*time.Millisecond {
			t.Errorf("a long dead waiter: %v, %v", took, alive.err)
		}
		release(t, alive.lease)
	})
}

// Two waits with one set of options do not disturb each other's pauses.
func TestH62_BackoffBelongsToTheWait(t *testing.T) {
	s := redistest.Start(t)
	s.Do("acl", "setuser", "default", "resetchannels") // nobody may subscribe: waiters poll
	l := onServer(t, s.Addr, WithTTL(time.Minute))
	opts := []Option{WithLabel("same")}
	for round := range 2 {
		holder := take(t, l, "a")
		began := time.Now()
		w := wait(t.Context(), l, "a", opts...)
		time.Sleep(pollFirst / 5) // it has asked once
		release(t, holder)
		w.within(t, pollMost)
		if took := time.Since(began); took > 7*pollFirst { // the first pause is one pollFirst at most
			t.Errorf("round %d took %v", round, took)
		}
		release(t, w.lease)
		inBetween := take(t, l, "b")
		_, err := l.Acquire(soon(t, pollMost), "b", opts...) // polls for long
		wantErr(t, "held", err, ErrNotAcquired)
		release(t, inBetween)
	}
}

// How long to wait is the context's business, not the TTL's.
func TestH63_WaitsAreNotCappedByTheTTL(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		holder := take(t, w.locker(WithTTL(300*time.Millisecond)), "a")
		began := time.Now()
		waiting := wait(context.Background(), w.locker(WithTTL(300*time.Millisecond)), "a")
		time.Sleep(2 * time.Second)
		release(t, holder)
		<-waiting.done
		if took := waiting.at.Sub(began); waiting.err != nil || took < 2*time.Second || took > 2010*time.Millisecond {
			t.Errorf("after %v: %v", took, waiting.err)
		}
		release(t, waiting.lease)
	})
}

// A waiter that waits costs nothing.
func TestH64_AnIdleWaiterSendsNothing(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		for name, opts := range map[string][]Option{"a": nil, "b": {WithFair()}} {
			holder := take(t, w.locker(WithTTL(time.Hour)), name)
			before := w.sent()
			waiting := wait(t.Context(), w.locker(), name, opts...)
			time.Sleep(10 * time.Second)
			if n := w.sent() - before; n > 3 { // by SHA-1, by text, and once it was subscribed
				t.Errorf("options %d: %d requests in 10 s", len(opts), n)
			}
			before = w.sent()
			pings := w.sent("ping")
			time.Sleep(15 * time.Minute) // the holder renews after 20
			if n := w.sent() - before + w.sent("ping") - pings; n != 0 {
				t.Errorf("options %d: %d commands in 15 minutes", len(opts), n)
			}
			release(t, holder)
			<-waiting.done
			release(t, waiting.lease)
		}
	})
}

// Channels know no database.
func TestH65_OtherDatabasesWakeNobody(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	c := clientOf(t, p.Addr)
	other := clientInDB(t, s.Addr, 1)
	l1, err := New(other, WithTTL(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var seen events
	l0, err := New(c, WithTTL(time.Minute), seen.option())
	if err != nil {
		t.Fatal(err)
	}
	holder := take(t, l0, "a")
	w := wait(t.Context(), l0, "a")
	until(t, "it hears", 3*time.Second, func() bool { return seen.has(EventSubscribed) })
	time.Sleep(100 * time.Millisecond)
	before := p.Seen("EVALSHA")
	for range 5 {
		release(t, take(t, l1, "a")) // the same name in another database
	}
	time.Sleep(100 * time.Millisecond)
	if n := p.Seen("EVALSHA") - before; n != 0 {
		t.Errorf("releases in database 1 made %d requests in database 0", n)
	}
	release(t, holder)
	w.within(t, time.Second)
	release(t, w.lease)
}
