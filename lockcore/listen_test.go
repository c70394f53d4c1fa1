package lockcore

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// Who does not wait any more is told of no release, a moment after the wait; only
// for who comes back soon the subscription stays, and then for the linger.
func TestSubscriptionEndsWithTheWait(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		defer release(t, take(t, w.locker(), "a"))
		var seen events
		l := w.locker(seen.option())
		waited := func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := l.Acquire(ctx, "a")
			wantErr(t, "waited", err, ErrNotAcquired, context.DeadlineExceeded)
		}
		ended := func(when string, want int) {
			t.Helper()
			if got := len(seen.of(EventUnsubscribed)); got != want {
				t.Errorf("%s: %d subscriptions have ended, want %d", when, got, want)
			}
		}
		waited()
		time.Sleep(10 * moment)
		ended("after a wait", 1)
		waited()
		time.Sleep(linger / 2)
		ended("after one that came soon", 1)
		time.Sleep(linger)
		ended("after the linger", 2)
		waited()
		time.Sleep(10 * moment)
		ended("after one that came late", 3)
	})
}

// asked is a client that notes on which goroutines the lock was asked for, and may
// hold a request up.
type asked struct {
	redis.Hook
	mu     sync.Mutex
	stacks []string
	stop   chan struct{} // while not closed, requests for one lock wait
}

func (a *asked) DialHook(next redis.DialHook) redis.DialHook { return next }
func (a *asked) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (a *asked) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); args[0] == verbSHA && args[1] == acquireScript.sha {
			stack := string(debug.Stack())
			a.mu.Lock()
			a.stacks = append(a.stacks, stack)
			stop := a.stop
			a.mu.Unlock()
			if stop != nil && args[3] == any("lock:{stuck}") && strings.Contains(stack, "(*listener)") {
				<-stop
			}
		}
		return next(ctx, cmd)
	}
}

func (a *asked) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stacks[len(a.stacks)-1]
}

// rivals are a holder, and a waiter whose requests are noted.
func rivals(t *testing.T) (s *redistest.Server, holder, waiter *Locker, a *asked) {
	t.Helper()
	s = redistest.Start(t)
	a = &asked{}
	rdb := s.Client()
	rdb.AddHook(a)
	holder, waiter = newLocker(t, s.Client(), WithTTL(time.Minute)), newLocker(t, rdb, WithTTL(time.Minute))
	return s, holder, waiter, a
}

func newLocker(t *testing.T, rdb redis.UniversalClient, opts ...Option) *Locker {
	t.Helper()
	l, err := New(rdb, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wait waits for a lock in the background until its release would be heard.
func (l *Locker) wait(ctx context.Context, t *testing.T, name string) <-chan error {
	t.Helper()
	n, err := l.namesOf(name)
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() {
		lease, err := l.Acquire(ctx, name)
		if err == nil {
			err = lease.Release(context.Background())
		}
		end <- err
	}()
	for limit := time.Now().Add(20 * time.Second); !l.ears.live(n); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("no subscription")
		}
	}
	time.Sleep(50 * time.Millisecond) // and asked once more
	return end
}

// Who hears of a release asks for the lock at once, as long as nobody else waits
// for what it would hear meanwhile.
func TestWhoHearsAsks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, holder, waiter, a := rivals(t)
	for _, others := range []bool{false, true} {
		leases := map[string]*Lease{}
		ends := map[string]<-chan error{}
		names := []string{"one", "two"}
		if !others {
			names = names[:1]
		}
		for _, name := range names {
			lease, err := holder.TryAcquire(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			leases[name], ends[name] = lease, waiter.wait(ctx, t, name)
		}
		if err := leases["one"].Release(ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-ends["one"]; err != nil {
			t.Fatal(err)
		}
		if by := strings.Contains(a.last(), "(*listener)"); by == others {
			t.Errorf("others wait: %v; asked by who heard: %v\n%s", others, by, a.last())
		}
		if others {
			if err := errors.Join(leases["two"].Release(ctx), <-ends["two"]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// While such a request gets no answer, its waiter may leave, and another who comes
// is not kept from the lock that it wants; what is granted late is given back.
func TestWhoHearsIsStuck(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, holder, waiter, a := rivals(t)
	stuck, err := holder.TryAcquire(ctx, "stuck")
	if err != nil {
		t.Fatal(err)
	}
	other, err := holder.TryAcquire(ctx, "other")
	if err != nil {
		t.Fatal(err)
	}
	a.stop = make(chan struct{})
	leaving, leave := context.WithCancel(ctx)
	end := waiter.wait(leaving, t, "stuck")
	if err := stuck.Release(ctx); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(a.last(), "(*listener)") {
		time.Sleep(time.Millisecond)
	}
	came := make(chan error, 1)
	go func() {
		lease, err := waiter.Acquire(ctx, "other")
		if err == nil {
			err = lease.Release(ctx)
		}
		came <- err
	}()
	time.Sleep(100 * time.Millisecond)
	if err := errors.Join(other.Release(ctx), <-came); err != nil {
		t.Errorf("who came later: %v", err)
	}
	leave()
	if err := <-end; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	close(a.stop)
	again, err := holder.Acquire(ctx, "stuck")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(ctx); err != nil {
		t.Error(err)
	}
	if n := s.Do("EXISTS", "lock:{stuck}"); n != int64(0) {
		t.Error("the lock is still there")
	}
	if other, err = holder.TryAcquire(ctx, "other"); err != nil {
		t.Fatal(err)
	}
	end = waiter.wait(ctx, t, "other") // it hears again
	if err := errors.Join(other.Release(ctx), <-end); err != nil {
		t.Error(err)
	}
}
