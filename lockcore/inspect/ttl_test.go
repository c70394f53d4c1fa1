package inspect_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

func ttlPlan(t testing.TB, in *inspect.Inspector, key string, ttl time.Duration) inspect.Plan {
	t.Helper()
	p, err := in.PlanTTL(one(t, in, key), ttl)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A lock gets an expiry, or a shorter or a longer one, if it is still as it was
// seen; who waits is told where it ends sooner than they have read.
func TestTTL(t *testing.T) {
	s := redistest.Start(t)
	in, l := at(t, s.Addr), s.Listen()
	const channel = "redisson_lock__channel:{order-lock}"
	for _, c := range []struct {
		name, given, then string
		want              inspect.Word
		told              bool
	}{
		{"give one", "hset order-lock " + threadA + " 1", "", inspect.TTLSet, true},
		{"shorten", "hset order-lock " + threadA + " 1;pexpire order-lock 600000", "", inspect.TTLSet, true},
		{"extend", "hset order-lock " + threadA + " 1;pexpire order-lock 20000", "", inspect.TTLSet, false},
		{"another holder", "hset order-lock " + threadA + " 1", "del order-lock;hset order-lock " + threadB + " 1", inspect.Changed, false},
		{"gone", "hset order-lock " + threadA + " 1", "del order-lock", inspect.Gone, false},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			give(s, "flushall")
			give(s, strings.Split(c.given, ";")...)
			p := ttlPlan(t, in, "order-lock", time.Minute)
			if c.then != "" {
				give(s, strings.Split(c.then, ";")...)
			}
			l.Heard()
			o := carryOut(t, in, p)
			expectOutcome(t, o, p, c.want)
			left := s.Do("pttl", "order-lock").(int64)
			if set := left > 55000 && left <= 60000; set != (c.want == inspect.TTLSet) {
				t.Errorf("it expires in %d ms", left)
			}
			if heard := l.Heard(); (len(heard) == 1) != c.told || c.told && heard[0] != (redistest.Message{Channel: channel, Payload: "0"}) {
				t.Errorf("heard %v", heard)
			}
		})
	}
}

// Where who waits may not be told, the TTL is set all the same, and both are said.
func TestTTLWithoutChannels(t *testing.T) {
	s := redistest.Start(t)
	user(s, "nochan", "~*", "resetchannels", "+@all")
	in := at(t, s.Addr, as("nochan"))
	give(s, "hset order-lock "+threadA+" 1")
	p := ttlPlan(t, in, "order-lock", time.Minute)
	if said := in.Foresee(t.Context(), &p); len(said) != 1 || !strings.Contains(said[0], "may not publish") {
		t.Errorf("foreseen: %q", said)
	}
	o := carryOut(t, in, p)
	expectOutcome(t, o, p, inspect.TTLSet)
	if o.Told != wire.ToldFailed || !strings.Contains(o.Detail(&p), "could not be told") {
		t.Errorf("told %d: %s", o.Told, o.Detail(&p))
	}
}

// Redis takes 0 and less as an order to delete: refused, with the reason, and so
// is what is no lease, or what no TTL can do.
func TestTTLRefused(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	give(s, "set lock:a "+tokenA, "hset huey.results.app app.lock.nightly 1")
	for ttl, text := range map[time.Duration]string{
		0: "delete", -time.Second: "delete", time.Millisecond: "as good as deleting", 999 * time.Millisecond: "as good as deleting",
		400 * 24 * time.Hour: "more than a year", time.Duration(1<<63 - 1): "more than a year",
	} {
		if _, err := in.PlanTTL(one(t, in, "lock:a"), ttl); !errors.Is(err, inspect.ErrTTL) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %v", ttl, err)
		}
	}
	if _, err := in.PlanTTL(one(t, in, "huey.results.app"), time.Minute); !errors.Is(err, inspect.ErrTTL) {
		t.Errorf("a field of a hash: %v", err)
	}
	if left := s.Do("pttl", "lock:a"); left != int64(-1) {
		t.Errorf("it expires in %v ms", left)
	}
}

// The operator takes the holder's place, in the family's own form and with a TTL
// of its own: the evicted holder cannot let it go, nobody else gets it, and
// lifting it frees the lock and tells who waits.
func TestHold(t *testing.T) {
	s := redistest.Start(t)
	l := s.Listen()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			give(s, "flushall")
			in, o := at(t, s.Addr), owner{t, s.Client(), f}
			o.eval(f.take, f.id(1), 20*time.Second)
			before := one(t, in, raced)
			p, err := in.PlanHold(before, time.Minute, "ana@ops", "looking")
			if err != nil {
				t.Fatal(err)
			}
			l.Heard()
			got := carryOut(t, in, p)
			expectOutcome(t, got, p, inspect.Held)
			if heard := l.Heard(); len(heard) > 0 {
				t.Errorf("told %v though it is not free", heard)
			}
			held := one(t, in, raced)
			if held.Family != before.Family || held.Kind != before.Kind || len(held.Holders) != 1 || held.Holders[0].ID == before.Holders[0].ID {
				t.Errorf("it reads as %s %s, held by %s", held.Family, held.Kind, held.HolderWords())
			}
			if left := s.Do("pttl", raced).(int64); left < 55000 || left > 60000 {
				t.Errorf("held for %d ms", left)
			}
			if o.eval(f.leave, f.id(1), 0) != 0 || o.eval(f.take, f.id(2), time.Second) != 0 {
				t.Error("the evicted holder let it go, or another got it")
			}
			note, err := in.HoldOf(t.Context(), &held)
			if err != nil || note == nil || note.By != "ana@ops" || note.Reason != "looking" || len(note.Evicted) != 1 {
				t.Errorf("the note: %+v, %v", note, err)
			}
			lift, _, err := in.PlanUnhold(t.Context(), held)
			if err != nil {
				t.Fatal(err)
			}
			expectOutcome(t, carryOut(t, in, lift), lift, inspect.Released)
			left := s.Dump()
			for k := range left {
				if !strings.Contains(k, ":fencepost:receipt:") {
					t.Errorf("left %s", k)
				}
			}
			if o.eval(f.take, f.id(2), time.Second) != 1 {
				t.Error("nobody can take it")
			}
		})
	}
}

// Only a hold is lifted: a lock of anybody else, or one that was taken since, is not.
func TestUnholdOfWhatIsNotOnHold(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	give(s, "set lock:a "+tokenA+" px 60000")
	if _, _, err := in.PlanUnhold(t.Context(), one(t, in, "lock:a")); !errors.Is(err, inspect.ErrNotOnHold) {
		t.Errorf("a lock that was never held: %v", err)
	}
	p, err := in.PlanHold(one(t, in, "lock:a"), time.Minute, "ana@ops", "looking")
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, carryOut(t, in, p), p, inspect.Held)
	give(s, "set lock:a "+tokenB+" px 60000") // by force, or after the hold
	if _, _, err := in.PlanUnhold(t.Context(), one(t, in, "lock:a")); !errors.Is(err, inspect.ErrNotOnHold) {
		t.Errorf("a lock that was taken since: %v", err)
	}
}

func TestNoHold(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	give(s, "hset huey.results.app app.lock.nightly 1", "hset rw mode read "+threadA+" 1", "set lock:a "+tokenA+" px 60000")
	for key, text := range map[string]string{"huey.results.app": "no name", "rw": "for reading"} {
		if _, err := in.PlanHold(one(t, in, key), time.Minute, "ana", ""); !errors.Is(err, inspect.ErrNoHold) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", key, err)
		}
	}
	for _, life := range []time.Duration{0, -1, time.Second, 48 * time.Hour} {
		if _, err := in.PlanHold(one(t, in, "lock:a"), life, "ana", ""); !errors.Is(err, inspect.ErrNoHold) {
			t.Errorf("for %v: %v", life, err)
		}
	}
}

// Who takes the lock next is seen, how soon, and whether it is the same one.
func TestWatchAfter(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	in := at(t, s.Addr)
	for name, next := range map[string]string{"another": tokenB, "the same": tokenA, "nobody": ""} {
		give(s, "flushall", "set lock:a "+tokenA+" px 60000")
		p := releasePlan(t, in, "lock:a")
		o := carryOut(t, in, p)
		if next != "" {
			time.AfterFunc(60*time.Millisecond, func() { s.Client().Set(context.Background(), "lock:a", next, time.Minute) })
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		after, err := in.WatchAfter(ctx, &p, &o)
		cancel()
		if err != nil || (after.Next != nil) != (next != "") || after.Same != (next == tokenA) {
			t.Errorf("%s: %+v, %v", name, after, err)
		}
		if next != "" && (after.Within < 50*time.Millisecond || after.Within > 400*time.Millisecond || after.Next.Holders[0].ID != wire.Raw(next)) {
			t.Errorf("%s: within %v by %v", name, after.Within, after.Next.HolderWords())
		}
		if want := map[string]string{"another": "by " + tokenB, "the same": "same holder", "nobody": "nobody took it"}[name]; !strings.Contains(after.Text(), want) {
			t.Errorf("%s: %s", name, after.Text())
		}
	}
}

// A reader that stays is not who takes the lock next.
func TestWatchAfterOneOfTwoReaders(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	give(s, "hset l mode read "+threadA+" 1 "+threadB+" 1", "pexpire l 60000")
	p := releasePlan(t, in, "l", threadA)
	o := carryOut(t, in, p)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	if after, err := in.WatchAfter(ctx, &p, &o); err != nil || after.Next != nil {
		t.Errorf("%+v, %v", after, err)
	}
	if !slices.ContainsFunc(o.Now, func(l inspect.Lock) bool { return len(l.Holders) == 1 }) {
		t.Errorf("now %+v", o.Now)
	}
}

// An own lock is held and lifted like any other, and its fence raised each time.
func TestHoldOwnLock(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	k, err := wire.NewKeys(wire.DefaultPrefix, "orders")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(c wire.Call) any {
		argv := c.Argv()
		args := make([]any, len(argv))
		for i, a := range argv {
			args[i] = a
		}
		return s.Do(args...)
	}
	const tok = "bq1TnEJm0zYw2xkR9sVfQA"
	ask(wire.Acquire{Keys: k, Token: tok, TTLMS: 20000, About: wire.About{Host: "web-1"}.String()}.Call())

	p := ttlPlan(t, in, k.Lock, time.Minute)
	expectOutcome(t, carryOut(t, in, p), p, inspect.TTLSet)
	if left := s.Do("pttl", k.Lock).(int64); left < 55000 {
		t.Errorf("it expires in %d ms", left)
	}
	p, err = in.PlanHold(one(t, in, k.Lock), time.Minute, "ana@ops", "looking")
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, carryOut(t, in, p), p, inspect.Held)
	held := one(t, in, k.Lock)
	if held.Family != "fencepost" || held.Fence != "2" || held.Holders[0].ID == tok {
		t.Errorf("held as %s, fence %s, by %s", held.Family, held.Fence, held.HolderWords())
	}
	if r, err := wire.ParseOwned(ask(wire.Renew(k, tok, 1000))); err != nil || r.Status != wire.NotYours {
		t.Errorf("the evicted holder renews: %+v, %v", r, err)
	}
	lift, _, err := in.PlanUnhold(t.Context(), held)
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, carryOut(t, in, lift), lift, inspect.Released)
	if s.Do("get", k.Counter) != "3" || s.Do("exists", k.Lock) != int64(0) {
		t.Errorf("left %q", s.Dump())
	}
}
