package wire_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// send runs a call on a real server, by its text.
func send(t *testing.T, s *redistest.Server, c wire.Call) any {
	t.Helper()
	argv := c.Argv()
	args := make([]any, len(argv))
	for i, a := range argv {
		args[i] = a
	}
	return s.Do(args...)
}

func acquire(t *testing.T, s *redistest.Server, a wire.Acquire) wire.AcquireReply {
	t.Helper()
	r, err := wire.ParseAcquire(send(t, s, a.Call()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func owned(t *testing.T, s *redistest.Server, c wire.Call) wire.OwnedReply {
	t.Helper()
	r, err := wire.ParseOwned(send(t, s, c))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func keysOf(t *testing.T, name string) wire.Keys {
	t.Helper()
	k, err := wire.NewKeys(wire.DefaultPrefix, name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAcquireRenewUnlock(t *testing.T) {
	s := redistest.Start(t)
	k := keysOf(t, "orders")
	about := wire.About{Host: "web-1", PID: 4242, Label: "nightly", Text: "batch \"7\""}
	a := wire.Acquire{Keys: k, Token: "tA", TTLMS: 10000, About: about.String()}
	s.Do("set", k.Counter, "33")
	if got := acquire(t, s, a); got.Status != wire.Granted || got.Fence != "34" {
		t.Fatalf("got %+v", got)
	}
	value, ok := wire.ParseValue(s.Do("get", k.Lock).(string))
	if !ok || value.Token != "tA" || value.Fence != "34" || value.About != about {
		t.Errorf("the value reads %+v, %v", value, ok)
	}
	if d := time.Since(value.Since); d < -time.Second || d > time.Minute {
		t.Errorf("since is %v ago", d)
	}
	b := a
	b.Token = "tB"
	got := acquire(t, s, b)
	if got.Status != wire.Occupied || string(got.Holder) != s.Do("get", k.Lock) || got.WaitMS < 9000 || got.WaitMS > 10000 {
		t.Errorf("the second got %+v", got)
	}
	if r := owned(t, s, wire.Renew(k, "tB", 20000)); r.Status != wire.NotYours || r.Holder != got.Holder {
		t.Errorf("a stranger's renewal: %+v", r)
	}
	if r := owned(t, s, wire.Renew(k, "tA", 20000)); r.Status != wire.Done {
		t.Errorf("renewal: %+v", r)
	}
	if left := s.Do("pttl", k.Lock).(int64); left <= 10000 || left > 20000 {
		t.Errorf("PTTL after renewal: %d", left)
	}
	for range 2 { // asked again it answers alike
		if r := owned(t, s, wire.Unlock(k, "tB", 10000, k.Channel(0))); r.Status != wire.NotYours {
			t.Errorf("a stranger's release: %+v", r)
		}
	}
	for range 2 {
		if r := owned(t, s, wire.Unlock(k, "tA", 10000, k.Channel(0))); r.Status != wire.Done {
			t.Errorf("release: %+v", r)
		}
	}
	if r := owned(t, s, wire.Renew(k, "tA", 20000)); r.Status != wire.NoLock {
		t.Errorf("renewal of nothing: %+v", r)
	}
	if got := acquire(t, s, a); got.Status != wire.Forbidden {
		t.Errorf("a late request after its release: %+v", got)
	}
	if n := s.Do("exists", k.Lock); n != int64(0) {
		t.Error("the late request took the lock")
	}
	if ttl := s.Do("pttl", k.Counter); ttl != int64(-1) {
		t.Errorf("the counter has a TTL: %v", ttl)
	}
}

func TestAcquireFloorClockAndLife(t *testing.T) {
	s := redistest.Start(t)
	k := keysOf(t, "n")
	take := func(a wire.Acquire) wire.AcquireReply {
		a.Keys, a.TTLMS = k, 10000
		r := acquire(t, s, a)
		s.Do("del", k.Lock)
		return r
	}
	if r := take(wire.Acquire{Token: "a", Floor: "500"}); r.Fence != "501" {
		t.Errorf("with a floor of 500: %+v", r)
	}
	if r := take(wire.Acquire{Token: "b", Floor: "7"}); r.Fence != "502" {
		t.Errorf("a floor below the counter: %+v", r)
	}
	r := take(wire.Acquire{Token: "c", Clock: true, CounterLifeMS: 60000})
	us, _ := strconv.ParseInt(r.Fence, 10, 64)
	if d := time.Since(time.UnixMicro(us)); d < -time.Second || d > time.Minute {
		t.Errorf("a clock's number is %v old: %+v", d, r)
	}
	if ttl := s.Do("pttl", k.Counter).(int64); ttl <= 0 || ttl > 60000 {
		t.Errorf("the counter's life: %d", ttl)
	}
}

func TestAcquireEntersAGuard(t *testing.T) {
	s := redistest.Start(t)
	for _, fair := range []*wire.Fair{nil, {WindowMS: 100, Channel: "c"}} {
		s.Do("flushall")
		k := keysOf(t, "g")
		a := wire.Acquire{Keys: k, Token: "tA", TTLMS: 10000, Guard: "seen:{g}", Fair: fair}
		if r := acquire(t, s, a); r.Fence != "1" || s.Do("get", "seen:{g}") != "1:tA" {
			t.Errorf("got %+v, the guard %v", r, s.Do("get", "seen:{g}"))
		}
		s.Do("del", k.Lock)
		s.Do("set", "seen:{g}", "500:old")
		a.Token = "tB"
		if r := acquire(t, s, a); r.Status != wire.Behind || r.Fence != "500" || s.Do("exists", k.Lock) != int64(0) {
			t.Errorf("behind the guard: %+v", r)
		}
		a.Floor = "500"
		if r := acquire(t, s, a); r.Fence != "501" || s.Do("get", "seen:{g}") != "501:tB" {
			t.Errorf("repaired: %+v", r)
		}
	}
}

func TestGuardCalls(t *testing.T) {
	s := redistest.Start(t)
	pass := func(fence, token string) wire.Pass { return wire.Pass{Seen: "seen", Fence: fence, Token: token} }
	guard := func(c wire.Call) wire.GuardReply {
		r, err := wire.ParseGuard(send(t, s, c))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	add := wire.NewGuarded("add", "return redis.call('INCRBY', KEYS[1], ARGV[1])")
	for _, step := range []struct {
		call wire.Call
		want wire.GuardReply
	}{
		{pass("9", "a").Enter(), wire.GuardReply{Status: wire.Accepted}},
		{pass("9", "a").Write("v", "1"), wire.GuardReply{Status: wire.Accepted}},
		{pass("10", "b").Write("v", "2"), wire.GuardReply{Status: wire.Accepted}},
		{pass("9", "a").Write("v", "3"), wire.GuardReply{Status: wire.Stale, Seen: "10"}},
		{pass("10", "c").Write("v", "4"), wire.GuardReply{Status: wire.Split, Seen: "10"}},
		{pass("10", "b").Run(add, []string{"v"}, "40"), wire.GuardReply{Status: wire.Accepted, Result: int64(42)}},
		{pass("9007199254740993", "d").Enter(), wire.GuardReply{Status: wire.Accepted}},
		{pass("9007199254740992", "e").Run(add, []string{"v"}, "1"), wire.GuardReply{Status: wire.Stale, Seen: "9007199254740993"}},
	} {
		if got := guard(step.call); got != step.want {
			t.Errorf("%s: got %+v, want %+v", step.call.Brief(), got, step.want)
		}
	}
	if v := s.Do("get", "v"); v != "42" {
		t.Errorf("the value is %v", v)
	}
	if ttl := s.Do("pttl", "seen"); ttl != int64(-1) {
		t.Errorf("the guard's TTL: %v", ttl)
	}
	p := pass("9007199254740994", "f")
	p.LifeMS = 5000
	guard(p.Enter())
	if ttl := s.Do("pttl", "seen").(int64); ttl <= 0 || ttl > 5000 {
		t.Errorf("the guard's TTL: %v", ttl)
	}
}

func TestForceRelease(t *testing.T) {
	s := redistest.Start(t)
	k := keysOf(t, "f")
	take := func(token string) wire.Value {
		acquire(t, s, wire.Acquire{Keys: k, Token: token, TTLMS: 10000})
		v, ok := wire.ParseValue(s.Do("get", k.Lock).(string))
		if !ok {
			t.Fatal("no value")
		}
		return v
	}
	force := func(v wire.Value, life int64) wire.ForceReply {
		r := wire.Release{Receipt: wire.Receipt{Key: k.Lock + ":receipt", LifeMS: life}}
		reply, err := wire.ParseForceRelease(send(t, s, r.ForceRelease(k, v, wire.Fair{WindowMS: 100, Channel: k.Channel(0)}, 10000, "seen:{f}")))
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	s.Do("set", "seen:{f}", "1:x")
	a := take("tA")
	s.Do("del", k.Lock)
	b := take("tB")
	if r := force(a, 0); r.Status != wire.ReleaseChanged || !strings.HasPrefix(string(r.Now), "tB:2:") {
		t.Errorf("it changed hands: %+v", r)
	}
	if r := force(b, 5000); r.Status != wire.ReleaseDone || r.Raised != "3" || r.Told != 0 {
		t.Errorf("done: %+v", r)
	}
	if s.Do("get", "seen:{f}") != "3:raised" || s.Do("exists", k.Lock) != int64(0) {
		t.Error("the guard was not raised, or the lock is still there")
	}
	if r := force(b, 5000); r.Status != wire.ReleaseDone {
		t.Errorf("asked again: %+v", r)
	}
	if r := force(b, 0); r.Status != wire.ReleaseGone {
		t.Errorf("gone: %+v", r)
	}
	if r := owned(t, s, wire.Unlock(k, "tB", 10000, k.Channel(0))); r.Status != wire.NotYours {
		t.Errorf("the evicted holder's release: %+v", r)
	}
	s.Do("del", k.Counter)
	c := take("tC")
	s.Do("set", k.Counter, "no number")
	if _, err := s.Try(anys(wire.Release{}.ForceRelease(k, c, wire.Fair{WindowMS: 1}, 10))...); err == nil || s.Do("exists", k.Lock) != int64(1) {
		t.Errorf("a key that is no counter: %v", err)
	}
}

func anys(c wire.Call) []any {
	argv := c.Argv()
	args := make([]any, len(argv))
	for i, a := range argv {
		args[i] = a
	}
	return args
}

func TestFairQueue(t *testing.T) {
	s := redistest.Start(t)
	k := keysOf(t, "q")
	fair := &wire.Fair{WindowMS: 150, Channel: k.Channel(0), Wait: true}
	ask := func(token string) wire.AcquireReply {
		return acquire(t, s, wire.Acquire{Keys: k, Token: token, TTLMS: 10000, About: "label=" + token, Fair: fair})
	}
	end := func(token string) wire.OwnedReply { return owned(t, s, wire.UnlockFair(k, token, 10000, *fair)) }
	if r := ask("A"); r.Fence != "1" {
		t.Fatalf("free: %+v", r)
	}
	for i, token := range []string{"B", "C", "D"} {
		if r := ask(token); r.Status != wire.Occupied || r.Place != int64(i) {
			t.Errorf("%s: %+v", token, r)
		}
	}
	if r := ask("C"); r.Place != 1 {
		t.Errorf("C keeps its place: %+v", r)
	}
	end("A")
	if r := ask("C"); r.Status != wire.Occupied || r.Holder != "" || r.WaitMS > 150 {
		t.Errorf("C before its turn: %+v", r)
	}
	if r := ask("B"); r.Fence != "2" {
		t.Errorf("B: %+v", r)
	}
	if _, about, ok := wire.ParseWaiter(s.Do("hget", k.Alive, "D").(string)); !ok || about.Label != "D" {
		t.Errorf("about D: %+v", about)
	}
	end("D") // gives up while it waits
	end("B")
	time.Sleep(200 * time.Millisecond) // C does not come in its window
	if r := ask("E"); r.Fence != "3" {
		t.Errorf("E after C was missed: %+v", r)
	}
	if n := s.Do("exists", k.Queue, k.Alive); n != int64(0) {
		t.Error("the queue was not cleaned up")
	}
	never := *fair
	never.Wait = false
	if r := acquire(t, s, wire.Acquire{Keys: k, Token: "F", TTLMS: 1000, Fair: &never}); r.Place != -1 || s.Do("exists", k.Queue) != int64(0) {
		t.Errorf("a try takes no place: %+v", r)
	}
}
