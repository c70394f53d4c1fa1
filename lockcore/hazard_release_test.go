package lockcore

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// A release by a holder that lost the lock must not hit the next holder.
func TestH49_ReleaseIsTheOwners(t *testing.T) {
	s := redistest.Start(t)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		s.Do("flushall")
		var seen events
		l := onServer(t, s.Addr, seen.option())
		a := take(t, l, "a", opts...)
		s.Do("del", "lock:{a}") // as its expiry would
		b := take(t, onServer(t, s.Addr), "a")
		before := s.Do("get", "lock:{a}")
		wantErr(t, "A's release", a.Release(t.Context()), ErrLost)
		if s.Do("get", "lock:{a}") != before {
			t.Error("A released B's lock")
		}
		told := seen.of(EventNotOwner)
		if len(told) != 1 || told[0].Holder.Token != b.Pass().Token {
			t.Errorf("the observer was told %v", told)
		}
		release(t, b)
	}
}

// The release was done and its answer lost: it must be reported as done.
func TestH50_ReleasedAndReportedSo(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		release(t, take(t, l, "a", opts...))
		lease := take(t, l, "a", opts...)
		p.CutReply(1, "EVALSHA")
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("a lost answer became %v", err)
		}
		if s.Do("exists", "lock:{a}") != int64(0) || lease.State() != Released {
			t.Errorf("it is %v", lease.State())
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("released again: %v", err)
		}
	}
}

// A release that is sent again must not hit a lock taken in between, even by
// the same process under the same name.
func TestH51_ARepeatedReleaseHitsNobodyElse(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	a := take(t, l, "a")
	again := wire.Unlock(a.h.keys, a.h.token, 10000, a.h.channel)
	release(t, a)
	b := take(t, l, "a")
	if reply, err := wire.ParseOwned(sendCall(t, s, again)); err != nil || reply.Status != wire.Done {
		t.Errorf("the repeated release got %+v, %v", reply, err)
	}
	s.Do("del", a.h.tombstone) // as if it came after the tombstone's life
	if reply, err := wire.ParseOwned(sendCall(t, s, again)); err != nil || reply.Status != wire.NotYours {
		t.Errorf("much later it got %+v, %v", reply, err)
	}
	if v, _ := s.Do("get", "lock:{a}").(string); !strings.HasPrefix(v, b.Pass().Token) {
		t.Errorf("B's lock is %q", v)
	}
	release(t, b)
}

// A release that could not be sent can be tried again.
func TestH52_AFailedReleaseIsTriedAgain(t *testing.T) {
	s := redistest.Start(t)
	var down atomic.Bool
	c := redis.NewClient(&redis.Options{Addr: s.Addr, DisableIdentity: true, DialerRetries: 1, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if down.Load() {
			addr = "127.0.0.1:1" // refused
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	t.Cleanup(func() { _ = c.Close() })
	var seen events
	l, err := New(c, WithOpTimeout(200*time.Millisecond), seen.option())
	if err != nil {
		t.Fatal(err)
	}
	lease := take(t, l, "a")
	down.Store(true)
	s.Do("client", "kill", "type", "normal", "skipme", "yes")
	err = lease.Release(t.Context())
	var op *OpError
	if !errors.As(err, &op) || op.Op != "release" || lease.State() != Releasing || !seen.has(EventReleaseFailed) {
		t.Fatalf("without a server: %v, %v", err, lease.State())
	}
	wantErr(t, "the lease's context ends with the call", context.Cause(lease.Context()), ErrReleased)
	down.Store(false)
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("the second try: %v", err)
	}
	if s.Do("exists", "lock:{a}") != int64(0) || lease.State() != Released {
		t.Errorf("it is %v", lease.State())
	}
}

// Release is deferred after work that was cancelled: it must work then too.
func TestH53_ReleaseDoesNotHeedTheContextsEnd(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	ctx, cancel := context.WithCancel(t.Context())
	lease, err := l.Acquire(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := lease.Release(ctx); err != nil {
		t.Error(err)
	}
	if s.Do("exists", "lock:{a}") != int64(0) {
		t.Error("the lock is still there")
	}
}

// Both errors must reach the caller.
func TestH54_NeitherErrorHidesTheOther(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	body := errors.New("no such account")
	err := l.Do(t.Context(), "a", func(context.Context, *Lease) error { return body })
	if err != body { //nolint:errorlint // untouched means the very same
		t.Errorf("the body's error came back as %#v", err)
	}
	err = l.Do(t.Context(), "a", func(context.Context, *Lease) error {
		s.Do("del", "lock:{a}")
		return body
	})
	wantErr(t, "body and release failed", err, body, ErrLost)
	err = l.Do(t.Context(), "a", func(context.Context, *Lease) error {
		s.Do("del", "lock:{a}")
		return nil
	})
	wantErr(t, "only the release failed", err, ErrLost)
	held := take(t, l, "a")
	ran := false
	err = l.Do(t.Context(), "a", func(context.Context, *Lease) error { ran = true; return nil }, WaitAtMost(20*time.Millisecond))
	if ran || !errors.Is(err, ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("not acquired: ran %v, %v", ran, err)
	}
	release(t, held)
}

// Whatever way the body ends, the lock is released.
func TestH55_PanicAndGoexitRelease(t *testing.T) {
	s := redistest.Start(t)
	var seen events
	l := onServer(t, s.Addr, seen.option())
	func() {
		defer func() {
			if v := recover(); v != "this very value" {
				t.Errorf("recovered %v", v)
			}
		}()
		_ = l.Do(t.Context(), "a", func(context.Context, *Lease) error { panic("this very value") })
	}()
	if s.Do("exists", "lock:{a}") != int64(0) {
		t.Error("a panic left the lock")
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = l.Do(t.Context(), "b", func(context.Context, *Lease) error { runtime.Goexit(); return nil })
	}()
	<-ended
	if s.Do("exists", "lock:{b}") != int64(0) {
		t.Error("the goroutine's end left the lock")
	}
	if n := len(seen.of(EventWorkFailed)); n != 2 {
		t.Errorf("%d of 2 failures of the work were told", n)
	}
}

// Those who release at once wait for each other, and no longer for that than
// one of them may take.
func TestReleasesAtOnceTakeTheTimeOfOne(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr, WithTTL(20*time.Second), WithOpTimeout(400*time.Millisecond))
	lease := take(t, l, "a")
	p.BlackHole()
	began := time.Now()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			var op *OpError
			if err := lease.Release(t.Context()); !errors.As(err, &op) {
				t.Errorf("no answer, and Release says %v", err)
			}
		})
	}
	all.Wait()
	if took := time.Since(began); took > 800*time.Millisecond {
		t.Errorf("four at once took %v", took)
	}
	p.Heal()
	release(t, lease)
}
