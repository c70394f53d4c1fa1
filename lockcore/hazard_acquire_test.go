package lockcore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// Lock and lease are one command: a crash finds no moment between them.
func TestH18_LockAndLeaseAreOneCommand(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	release(t, take(t, l, "warm")) // the scripts are known from here on
	sha, all := p.Seen("EVALSHA"), allSeen(p)
	lease := take(t, l, "a")
	if p.Seen("EVALSHA") != sha+1 || allSeen(p) != all+1 {
		t.Errorf("an acquisition took %d commands", allSeen(p)-all)
	}
	if ttl := s.Do("pttl", "lock:{a}").(int64); ttl <= 0 || ttl > DefaultTTL.Milliseconds() {
		t.Errorf("right after it the TTL is %d", ttl)
	}
	release(t, lease)
}

func allSeen(p *redistest.Proxy) (n int) {
	for _, c := range []string{"EVALSHA", "EVAL", "SET", "SETNX", "EXPIRE", "PEXPIRE", "GET", "INCR", "DEL", "PUBLISH", "MULTI"} {
		n += p.Seen(c)
	}
	return n
}

// The request was executed and its answer lost: the lock is ours, and must not
// be taken for somebody else's.
func TestH19_OwnLockAfterALostAnswer(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		release(t, take(t, l, "a", opts...)) // the scripts are known from here on
		s.Do("flushdb")
		p.CutReply(1, "EVALSHA", "EVAL")
		lease, err := l.TryAcquire(t.Context(), "a", opts...)
		if err != nil || lease.Fence() != (Fence{1}) {
			t.Fatalf("got %v, %v", lease.Fence(), err)
		}
		if v := s.Do("get", "lock:{a}").(string); !strings.HasPrefix(v, lease.Pass().Token) {
			t.Errorf("the lock is %s", v)
		}
		release(t, lease)
	}
}

// A number is drawn for a grant, and for nothing else.
func TestH20_LostAnswersBurnNoFences(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	leases := redistest.Rounds(30, 500)
	for i := range leases {
		p.CutReply(i % 3)
		lease := take(t, l, "a")
		p.Heal()
		release(t, lease)
	}
	if n := s.Do("get", "lock:{a}:fence"); n != (Fence{uint64(leases)}).String() {
		t.Errorf("%d leases, the counter is at %v", leases, n)
	}
}

// The request is slow, the caller gives up and cleans up; then it arrives. It
// must find that it is too late.
func TestH21_RequestsThatArriveAfterTheGoodbye(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	var seen events
	l := onServer(t, p.Addr, seen.option())
	release(t, take(t, l, "a"))
	p.DelayRequests(600 * time.Millisecond)
	time.AfterFunc(100*time.Millisecond, func() { p.DelayRequests(0) })
	lease, err := l.TryAcquire(soon(t, 200*time.Millisecond), "a")
	wantErr(t, "the caller gave up", err, context.DeadlineExceeded)
	if lease != nil {
		t.Error("a lease after the caller gave up")
	}
	until(t, "it was taken back", 400*time.Millisecond, func() bool { return seen.has(EventAbandoned) })
	time.Sleep(700 * time.Millisecond) // by now the request has arrived
	if n := s.Do("exists", "lock:{a}"); n != int64(0) {
		t.Errorf("a lock without an owner: %v", s.Do("get", "lock:{a}"))
	}
	if n := s.Do("get", "lock:{a}:fence"); n != "1" {
		t.Errorf("the ghost drew a number: %v", n)
	}
}

// The same after an acquisition that was released in good order: a copy of its
// request comes late.
func TestH22_ACopyOfTheRequestAfterTheRelease(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		lease := take(t, l, "a", opts...)
		call := lease.h.call(false)
		release(t, lease)
		if reply, err := wire.ParseAcquire(sendCall(t, s, call)); err != nil || reply.Status != wire.Forbidden {
			t.Errorf("the copy got %+v, %v", reply, err)
		}
		if n := s.Do("exists", "lock:{a}"); n != int64(0) {
			t.Error("the copy took the lock")
		}
	}
}

// The caller's context ends while the answer is on its way. What cleans up must
// not hang on that context.
func TestH23_CancelledWhileTheAnswerIsOnItsWay(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	release(t, take(t, l, "a"))           // the scripts are known from here on
	p.DelayReplies(50 * time.Millisecond) // so that three connections are open
	var all sync.WaitGroup
	for _, name := range []string{"x", "y", "z"} {
		all.Go(func() { _, _ = l.TryAcquire(t.Context(), name) }) // only the connection matters
	}
	all.Wait()
	p.Heal()
	p.HoldReplies()
	_, err := l.TryAcquire(soon(t, 200*time.Millisecond), "a")
	wantErr(t, "the caller gave up", err, context.DeadlineExceeded)
	until(t, "the lock is taken back", 2*time.Second, func() bool { return s.Do("exists", "lock:{a}") == int64(0) })
	p.Heal()
}

// go-redis itself notices a cancelled context only when its own timeout is over.
func TestH24_ACancelledContextIsHeededAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker()
		release(t, take(t, l, "a"))
		w.blackHole()
		cause := errors.New("the user went away")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
		began := time.Now()
		_, err := l.Acquire(ctx, "a")
		if took := time.Since(began); took > 60*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		wantErr(t, "cancelled", err, cause, ErrNotAcquired)
		began = time.Now()
		_, err = l.TryAcquire(t.Context(), "b")
		if took := time.Since(began); took != DefaultTTL/4 {
			t.Errorf("without an end of its own, a command took %v", took)
		}
		var op *OpError
		if !errors.As(err, &op) || op.Outcome != Unknown {
			t.Errorf("a black hole: %v", err)
		}
	})
}

// "PEXPIRE k 0" deletes the key and says OK: two holders at once.
func TestH25_ShortTTLs(t *testing.T) {
	s := redistest.Start(t)
	rdb := clientOf(t, s.Addr)
	for _, ttl := range []time.Duration{0, -1, 500 * time.Microsecond, 1500 * time.Microsecond, MaxTTL + 1, 1<<63 - 1} {
		if _, err := New(rdb, WithTTL(ttl)); !errors.Is(err, ErrUsage) {
			t.Errorf("TTL %v: %v", ttl, err)
		}
		if _, err := onServer(t, s.Addr).TryAcquire(t.Context(), "a", WithTTL(ttl)); !errors.Is(err, ErrUsage) {
			t.Errorf("TTL %v: %v", ttl, err)
		}
	}
	l := onServer(t, s.Addr, WithoutRenewal())
	lease := take(t, l, "a", WithTTL(MaxTTL))
	if ttl := s.Do("pttl", "lock:{a}").(int64); ttl < MaxTTL.Milliseconds()-5000 {
		t.Errorf("the longest TTL became %d ms", ttl)
	}
	release(t, lease)
	// Up for the server, down for the holder.
	if up := ceilMS(10*time.Millisecond + 1); up != 11 {
		t.Errorf("10.000001 ms became %d", up)
	}
	if d := MinTTL - margin(MinTTL); d >= MinTTL || d <= 0 {
		t.Errorf("of the shortest TTL the holder has %v", d)
	}
}

// A deadline in the client's time is wrong by the difference of the clocks.
func TestH26_TheClientsClockDoesNotMatter(t *testing.T) {
	s := redistest.Start(t)
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		s.Do("flushall")
		l := onServer(t, s.Addr)
		right := l.clock.read
		l.clock.read = func() instant {
			i := right()
			i.wall += int64(off)
			return i
		}
		lease := take(t, l, "a")
		ttl := s.Do("pttl", "lock:{a}").(int64)
		if ttl <= 0 || ttl > DefaultTTL.Milliseconds() {
			t.Errorf("with a clock that is %v off, the TTL is %d ms", off, ttl)
		}
		if err := lease.Err(); err != nil {
			t.Errorf("with a clock that is %v off: %v", off, err)
		}
		release(t, lease)
	}
}

// Nothing ends a lock without a TTL, so it must not be waited for.
func TestH27_ALockWithoutATTLIsNotWaitedFor(t *testing.T) {
	s := redistest.Start(t)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		s.Do("flushall")
		var seen events
		l := onServer(t, s.Addr, seen.option())
		s.Do("set", "lock:{a}", "x")
		_, err := l.Acquire(soon(t, 5*time.Second), "a", opts...)
		wantErr(t, "a lock without a TTL", err, ErrCorrupt)
		if errors.Is(err, ErrNotAcquired) || !seen.has(EventNoTTL) {
			t.Errorf("got %v, events %v", err, seen.kinds())
		}
		if s.Do("get", "lock:{a}") != "x" {
			t.Error("it was changed")
		}
	}
}

// SET NX on a list answers as on a held lock.
func TestH28_AnotherTypeIsNotContention(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	s.Do("lpush", "lock:{a}", "x")
	s.Do("pexpire", "lock:{a}", 60000)
	for _, opts := range [][]Option{nil, {WithFair()}, {WithExpiringFence(24 * time.Hour)}} {
		_, err := l.Acquire(soon(t, 5*time.Second), "a", opts...)
		wantErr(t, "a list", err, ErrCorrupt)
		if errors.Is(err, ErrNotAcquired) {
			t.Errorf("a list was taken for contention: %v", err)
		}
	}
	if s.Do("lrange", "lock:{a}", 0, -1).([]any)[0] != "x" {
		t.Error("the list was changed")
	}
}

// A token must not pass for another one that begins with it.
func TestH29_TokensThatBeginAlike(t *testing.T) {
	s := redistest.Start(t)
	k := keysOf(t, "a")
	for _, pair := range [][2]string{{"host-12", "host-1"}, {"a\x00b", "a"}, {"\xff\xfe", "\xff"}, {"x", ""}} {
		s.Do("flushall")
		sendCall(t, s, wire.Acquire{Keys: k, Token: pair[0], TTLMS: 10000}.Call())
		held := s.Do("get", k.Lock)
		for name, call := range map[string]wire.Call{
			"acquire": wire.Acquire{Keys: k, Token: pair[1], TTLMS: 20000}.Call(),
			"renew":   wire.Renew(k, pair[1], 20000),
			"release": wire.Unlock(k, pair[1], 1000, "c"),
		} {
			if list, ok := sendCall(t, s, call).([]any); !ok || list[0] != int64(0) {
				t.Errorf("%q holds, %q may %s", pair[0], pair[1], name)
			}
		}
		if s.Do("get", k.Lock) != held || s.Do("pttl", k.Lock).(int64) > 10000 {
			t.Errorf("%q changed what %q holds", pair[1], pair[0])
		}
	}
}

// What is left of an acquisition must not act on the next one.
func TestH30_AnOldAcquisitionsCommands(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithHost("same", 1), WithoutRenewal())
	old := take(t, l, "a")
	s.Do("del", "lock:{a}")
	now := take(t, l, "a", WithTTL(5*time.Second))
	for name, call := range map[string]wire.Call{
		"renewal": wire.Renew(old.h.keys, old.h.token, 60000),
		"release": wire.Unlock(old.h.keys, old.h.token, 1000, "c"),
		"request": old.h.call(false),
	} {
		sendCall(t, s, call)
		v, _ := s.Do("get", "lock:{a}").(string)
		if ttl := s.Do("pttl", "lock:{a}").(int64); !strings.HasPrefix(v, now.Pass().Token) || ttl > 5000 {
			t.Errorf("an old %s changed the lock: %s, TTL %d", name, v, ttl)
		}
	}
	release(t, now)
}

// A token is 128 random bits, or there is none.
func TestH31_Tokens(t *testing.T) {
	l := onServer(t, "127.0.0.1:1")
	seen := map[string]bool{}
	for range redistest.Rounds(20000, 1000000) {
		h, err := l.newHold(t.Context(), "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.token) != wire.TokenLen || strings.Trim(h.token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Fatalf("token %q", h.token)
		}
		if seen[h.token] {
			t.Fatalf("the token %q came twice", h.token)
		}
		seen[h.token] = true
	}
	l.random = func([]byte) error { return errors.New("no entropy") }
	if lease, err := l.TryAcquire(t.Context(), "a"); err == nil || lease != nil {
		t.Errorf("without random bits: %v, %v", lease, err)
	}
}

// Whatever fails returns no lease and an error, and a nil lease does no harm.
func TestH32_NoSuccessShapedFailures(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	held := take(t, l, "held")
	s.Do("lpush", "lock:{list}", "x")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	dead := onServer(t, "127.0.0.1:1", WithTTL(500*time.Millisecond))
	closed := redis.NewClient(&redis.Options{Addr: s.Addr})
	_ = closed.Close()
	noClient, err := New(closed)
	if err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func() (*Lease, error){
		"held":          func() (*Lease, error) { return l.TryAcquire(t.Context(), "held") },
		"waited":        func() (*Lease, error) { return l.Acquire(soon(t, 50*time.Millisecond), "held") },
		"waited fairly": func() (*Lease, error) { return l.Acquire(soon(t, 50*time.Millisecond), "held", WithFair()) },
		"a list":        func() (*Lease, error) { return l.TryAcquire(t.Context(), "list") },
		"cancelled":     func() (*Lease, error) { return l.TryAcquire(over, "a") },
		"cancelled too": func() (*Lease, error) { return l.Acquire(over, "a") },
		"no name":       func() (*Lease, error) { return l.TryAcquire(t.Context(), "") },
		"a bad name":    func() (*Lease, error) { return l.Acquire(t.Context(), "}x") },
		"a bad option":  func() (*Lease, error) { return l.Acquire(t.Context(), "a", WithTTL(1)) },
		"no server":     func() (*Lease, error) { return dead.TryAcquire(t.Context(), "a") },
		"no server yet": func() (*Lease, error) { return dead.Acquire(t.Context(), "a") },
		"closed":        func() (*Lease, error) { return noClient.Acquire(t.Context(), "a") },
		"no context":    func() (*Lease, error) { return l.TryAcquire(nil, "a") }, //nolint:staticcheck // that is the point
	} {
		lease, err := try()
		if lease != nil || err == nil {
			t.Errorf("%s: lease %v, error %v", what, lease, err)
		}
	}
	var none *Lease
	if none.Err() == nil || none.Release(t.Context()) == nil || none.Renew(t.Context()) == nil || none.Context().Err() == nil || none.State() != Lost {
		t.Error("a nil lease says that it is held")
	}
	_, _, _ = none.Name(), none.Deadline(), none.Fence()
	wantErr(t, "a nil lease at a guard", guardOf(t, l, "r").Enter(t.Context(), none), ErrUsage)
	release(t, held)
}

// The answer came when the lease was over.
func TestH33_GrantedTooLate(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker(WithTTL(time.Second), WithOpTimeout(time.Second))
		release(t, take(t, l, "a"))
		w.set(func(f *virtualFaults) { f.replyDelay = 995 * time.Millisecond })
		lease, err := l.TryAcquire(t.Context(), "a")
		if lease != nil || err == nil || errors.Is(err, ErrNotAcquired) {
			t.Errorf("got %v, %v", lease, err)
		}
		w.heal()
		time.Sleep(100 * time.Millisecond)
		if w.get("lock:{a}") != "" {
			t.Error("the lock was left")
		}
	})
}
