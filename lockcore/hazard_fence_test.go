package lockcore

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// The holder's number must be its own for good: a "current number" read from
// the counter is, after a loss, the next holder's.
func TestH02_FenceIsNotReadBack(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	g := guardOf(t, l, "r")
	a := take(t, l, "a")
	before := a.Fence()
	s.Do("del", "lock:{a}")
	b := take(t, l, "a")
	if a.Fence() != before || a.Pass().Fence != before || b.Fence().Compare(before) <= 0 {
		t.Errorf("A had %v and has %v; B has %v", before, a.Fence(), b.Fence())
	}
	if err := g.Enter(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "A's write", g.Set(t.Context(), a, []byte("A")), ErrStale)
}

// One acquisition has one number, however often its request arrives.
func TestH03_AskingAgainKeepsTheFence(t *testing.T) {
	s := redistest.Start(t)
	call := wire.Acquire{Keys: keysOf(t, "a"), Token: "tA", TTLMS: 10000}.Call()
	first, second := sendCall(t, s, call), sendCall(t, s, call)
	if first != "1" || second != "1" || s.Do("get", "lock:{a}:fence") != "1" {
		t.Errorf("answers %v and %v, the counter is %v", first, second, s.Do("get", "lock:{a}:fence"))
	}
}

// Whoever lost the lock and takes it again has missed what came between, even
// if it is the same process: it needs a new number.
func TestH04_NewAcquisitionNewFence(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker(WithHost("same", 1), WithoutRenewal(), WithTTL(time.Second))
		a := take(t, l, "a")
		time.Sleep(2 * time.Second)
		wantErr(t, "the lapsed lease", a.Err(), ErrLost)
		b := take(t, l, "a")
		if b.Fence().Compare(a.Fence()) <= 0 {
			t.Errorf("first %v, again %v", a.Fence(), b.Fence())
		}
	})
}

// A guard refuses what is older, and only that: the holder's own second write
// passes, and so does every newer holder.
func TestH05_GuardComparesRightly(t *testing.T) {
	s := redistest.Start(t)
	g := guardOf(t, onServer(t, s.Addr), "r")
	for _, step := range []struct {
		pass Pass
		ok   bool
	}{
		{Pass{Fence{33}, "a"}, true}, {Pass{Fence{33}, "a"}, true}, {Pass{Fence{34}, "b"}, true},
		{Pass{Fence{33}, "a"}, false}, {Pass{Fence{34}, "b"}, true}, {Pass{Fence{40}, "c"}, true}, {Pass{Fence{34}, "b"}, false},
	} {
		err := g.Set(t.Context(), step.pass, []byte(step.pass.Token))
		if (err == nil) != step.ok {
			t.Errorf("%v: %v", step.pass, err)
		}
		if !step.ok {
			wantErr(t, "refusal", err, ErrStale)
		}
	}
	if v := s.Do("get", "r"); v != "c" {
		t.Errorf("the resource holds %v", v)
	}
}

// Two servers may give one number: then the token tells the holders apart.
func TestH06_EqualFenceOfAnotherHolder(t *testing.T) {
	s := redistest.Start(t)
	g := guardOf(t, onServer(t, s.Addr), "r")
	if err := g.Set(t.Context(), Pass{Fence{34}, "b"}, []byte("B")); err != nil {
		t.Fatal(err)
	}
	err := g.Set(t.Context(), Pass{Fence{34}, "c"}, []byte("C"))
	wantErr(t, "the same number from C", err, ErrStale, ErrSplit)
	if v := s.Do("get", "r"); v != "B" {
		t.Errorf("the resource holds %v", v)
	}
}

// Between B's grant and B's first write, A's late write would pass, and B's,
// computed from what it read before, would undo it. Enter closes the gap; so
// does entering with the acquisition.
func TestH07_EnterBeforeTheFirstRead(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	g := guardOf(t, l, "r")
	for _, how := range []string{"not at all", "by Enter", "with the acquisition"} {
		s.Do("flushall")
		a := take(t, l, "a")
		if err := g.Set(t.Context(), a, []byte("100")); err != nil {
			t.Fatal(err)
		}
		s.Do("del", "lock:{a}")
		opts := []Option{}
		if how == "with the acquisition" {
			opts = append(opts, Entering(g))
		}
		b := take(t, l, "a", opts...)
		if how == "by Enter" {
			if err := g.Enter(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		err := g.Set(t.Context(), a, []byte("70"))
		if entered := how != "not at all"; (err == nil) == entered {
			t.Errorf("entered %s: A's late write: %v", how, err)
		}
	}
}

// Check and write are one step: nothing comes between them.
func TestH08_CheckAndWriteAreOneCommand(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	l := onServer(t, p.Addr)
	g := guardOf(t, l, "r")
	pass := Pass{Fence{1}, "a"}
	if err := g.Set(t.Context(), pass, nil); err != nil { // the script is known from here on
		t.Fatal(err)
	}
	before := p.Seen("EVALSHA")
	for range 10 {
		if err := g.Set(t.Context(), pass, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.Seen("EVALSHA") - before; n != 10 || p.Seen("GET")+p.Seen("SET") != 0 {
		t.Errorf("10 writes took %d scripts, %d GET and %d SET", n, p.Seen("GET"), p.Seen("SET"))
	}
	hammer(t, s, g)
}

// hammer has an old and a new holder write at once: after the new one's first
// write, none of the old one's may be there.
func hammer(t *testing.T, s *redistest.Server, g *Guard) {
	var all sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = g.Set(t.Context(), Pass{Fence{33}, "old"}, []byte("old")) // refused from some point on
				}
			}
		})
	}
	for range redistest.Rounds(200, 5000) {
		if err := g.Set(t.Context(), Pass{Fence{34}, "new"}, []byte("new")); err != nil {
			t.Error(err)
		}
		if v := s.Do("get", "r"); v != "new" {
			t.Fatalf("the old holder's write %v passed", v)
		}
	}
	close(stop)
	all.Wait()
}

// A Lua number is exact to 2^53 only. Fences must be exact beyond.
func TestH09_FencesBeyondTwoToThe53(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	g := guardOf(t, l, "r")
	s.Do("set", "lock:{a}:fence", "9007199254740991") // 2^53-1
	var passes []Pass
	for range 4 {
		lease := take(t, l, "a")
		passes = append(passes, lease.Pass())
		if err := g.Enter(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		if n := len(passes); n > 1 {
			if passes[n-1].Fence.Compare(passes[n-2].Fence) <= 0 {
				t.Errorf("%v after %v", passes[n-1].Fence, passes[n-2].Fence)
			}
			wantErr(t, "the holder before", g.Enter(t.Context(), passes[n-2]), ErrStale)
		}
		release(t, lease)
	}
	if got := passes[3].Fence.String(); got != "9007199254740995" {
		t.Errorf("the fourth fence is %s", got)
	}
}

// As text, "9" is larger than "10".
func TestH10_FencesAreNotComparedAsText(t *testing.T) {
	s := redistest.Start(t)
	g := guardOf(t, onServer(t, s.Addr), "r")
	for _, pass := range []Pass{{Fence{9}, "a"}, {Fence{10}, "b"}} {
		if err := g.Enter(t.Context(), pass); err != nil {
			t.Errorf("%v: %v", pass.Fence, err)
		}
	}
	wantErr(t, "9 after 10", g.Enter(t.Context(), Pass{Fence{9}, "a"}), ErrStale)
}

// A counter that expires begins again, while old holders may live.
func TestH11_CounterHasNoTTL(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	check := func(after string) {
		t.Helper()
		if ttl := s.Do("pttl", "lock:{a}:fence"); ttl != int64(-1) {
			t.Errorf("after %s the counter's TTL is %v", after, ttl)
		}
	}
	lease := take(t, l, "a")
	check("acquire")
	if err := lease.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("renew")
	release(t, lease)
	check("release")
	lease = take(t, l, "a", WithFair())
	check("a fair acquire")
	info, err := l.Inspect(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.ForceRelease(t.Context(), "a", info.Holder); err != nil {
		t.Fatal(err)
	}
	check("a forced release")
	_ = lease.Release(t.Context()) // it was evicted
	check("the evicted holder's release")
}

// The counter was lost (a flush, an old backup) and the guard remembers: new
// holders are refused, which is safe, and told how to go on.
func TestH13_ALostCounterIsRepaired(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	g := guardOf(t, onServer(t, redistest.Start(t).Addr), "r") // the guard's memory is elsewhere
	if err := g.Enter(t.Context(), Pass{Fence{500}, "old"}); err != nil {
		t.Fatal(err)
	}
	s.Do("flushdb")
	lease := take(t, l, "a")
	err := g.Set(t.Context(), lease, []byte("x"))
	wantErr(t, "a new holder", err, ErrStale)
	seen, err := g.Seen(t.Context())
	if err != nil || seen != (Fence{500}) {
		t.Fatalf("Seen: %v, %v", seen, err)
	}
	release(t, lease)
	lease = take(t, l, "a", FenceFloor(seen))
	if err := g.Set(t.Context(), lease, []byte("x")); err != nil || lease.Fence() != (Fence{501}) {
		t.Errorf("with a floor: fence %v, %v", lease.Fence(), err)
	}
	release(t, lease)
	if lease := take(t, l, "a"); lease.Fence() != (Fence{502}) {
		t.Errorf("the repair did not last: %v", lease.Fence())
	}
}

// Where the guard is entered with the acquisition, a lost counter shows at once,
// and nothing is held.
func TestH13_EnteringShowsALostCounter(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	g := guardOf(t, l, "r")
	s.Do("set", "{r}:seen", "500:old")
	_, err := l.TryAcquire(t.Context(), "a", Entering(g))
	wantErr(t, "behind the guard", err, ErrStale)
	if n := s.Do("exists", "lock:{a}"); n != int64(0) {
		t.Error("the lock is held")
	}
}

// Names that are used once leave no counter for ever, and yet no number comes
// twice.
func TestH14_CountersMayExpire(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithExpiringFence(24*time.Hour))
	names := redistest.Rounds(500, 10000)
	for i := range names {
		release(t, take(t, l, fmt.Sprint("job-", i)))
	}
	for i := range names {
		key := fmt.Sprintf("lock:{job-%d}:fence", i)
		if ttl := s.Do("pttl", key).(int64); ttl <= 0 || ttl > 24*60*60*1000 {
			t.Fatalf("%s has the TTL %d", key, ttl)
		}
	}
	first := take(t, l, "a")
	release(t, first)
	s.Do("del", "lock:{a}:fence")
	if second := take(t, l, "a"); second.Fence().Compare(first.Fence()) <= 0 {
		t.Errorf("%v, and after the counter was gone %v", first.Fence(), second.Fence())
	}
	if _, err := New(l.send.rdb, WithExpiringFence(time.Hour)); err == nil {
		t.Error("a life of an hour was taken")
	}
}

// Redis does not roll a script back: if the number cannot be drawn, there must
// be no lock yet.
func TestH15_FenceBeforeLock(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		for what, spoil := range map[string][]any{
			"a list":      {"lpush", "lock:{a}:fence", "x"},
			"text":        {"set", "lock:{a}:fence", "x"},
			"the largest": {"set", "lock:{a}:fence", "9223372036854775807"},
		} {
			s.Do("flushall")
			s.Do(spoil...)
			lease, err := l.TryAcquire(t.Context(), "a", opts...)
			wantErr(t, what, err, ErrCorrupt)
			if lease != nil || s.Do("exists", "lock:{a}") != int64(0) {
				t.Errorf("the counter is %s: a lock without an owner is left", what)
			}
		}
	}
}

// A forced release ends the holder that was seen, nobody else, and puts it
// behind the guard at once.
func TestH16_ForceReleaseFences(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	g, far := guardOf(t, l, "r"), guardOf(t, onServer(t, redistest.Start(t).Addr), "far")
	a := take(t, l, "a")
	seen, err := l.Inspect(t.Context(), "a")
	if err != nil || seen.Holder.Token != a.Pass().Token || seen.Holder.Fence != a.Fence() {
		t.Fatalf("inspected %+v, %v", seen, err)
	}
	s.Do("del", "lock:{a}")
	b := take(t, l, "a")
	_, err = l.ForceRelease(t.Context(), "a", seen.Holder, g)
	wantErr(t, "the holder changed", err, ErrChanged)
	if !strings.HasPrefix(s.Do("get", "lock:{a}").(string), b.Pass().Token) {
		t.Fatal("B's lock was touched")
	}
	now, err := l.Inspect(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	raised, err := l.ForceRelease(t.Context(), "a", now.Holder, g, far)
	if err != nil || raised.Compare(b.Fence()) <= 0 {
		t.Fatalf("raised to %v, %v", raised, err)
	}
	wantErr(t, "the evicted holder's write", g.Set(t.Context(), b, []byte("B")), ErrStale)
	wantErr(t, "and far away", far.Set(t.Context(), b, []byte("B")), ErrStale)
	wantErr(t, "its renewal", b.Renew(t.Context()), ErrLost)
	c := take(t, l, "a")
	if c.Fence().Compare(raised) <= 0 || g.Set(t.Context(), c, []byte("C")) != nil {
		t.Errorf("the next holder has %v and is refused", c.Fence())
	}
	if _, err := l.ForceRelease(t.Context(), "none", seen.Holder); err == nil {
		t.Error("released nothing")
	}
}

// A fence is ordered, and comes from the server alone.
func TestH17_FencesAreOrderedAsTheyAreIssued(t *testing.T) {
	s := redistest.Start(t)
	var lockers []*Locker
	for range 4 {
		lockers = append(lockers, onServer(t, s.Addr))
	}
	last := Fence{}
	for range redistest.Rounds(200, 5000) {
		lease := take(t, lockers[rand.IntN(len(lockers))], "a")
		if lease.Fence().Compare(last) <= 0 {
			t.Fatalf("%v was issued after %v", lease.Fence(), last)
		}
		last = lease.Fence()
		release(t, lease)
	}
	for f := range reflect.TypeFor[Fence]().Fields() {
		if f.IsExported() {
			t.Errorf("anybody can make a Fence: field %s", f.Name)
		}
	}
	for _, text := range []string{"", "0", "-1", "01", "1e3", "7f3a", "18446744073709551616", "9d2e2b5c-5f4b-4f6e-9a57-0f3c1f0a8e11"} {
		if f, err := ParseFence(text); err == nil {
			t.Errorf("%q became the fence %v", text, f)
		}
	}
	if f, err := ParseFence("18446744073709551615"); err != nil || f.String() != "18446744073709551615" {
		t.Errorf("the largest: %v, %v", f, err)
	}
}
