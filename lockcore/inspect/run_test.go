package inspect_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// A24, B13: the waiters of a Redisson lock sleep until they are told. A release
// tells them; where this user may not, the lock is gone all the same, and both
// facts are said.
func TestReleaseTellsTheWaiters(t *testing.T) {
	s := redistest.Start(t)
	l := s.Listen()
	user(s, "nochan", "~*", "resetchannels", "+@all")
	for name, in := range map[string]*inspect.Inspector{"default": at(t, s.Addr), "nochan": at(t, s.Addr, as("nochan"))} {
		give(s, "hset order-lock "+threadA+" 1", "pexpire order-lock 60000")
		l.Heard()
		p := releasePlan(t, in, "order-lock")
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, inspect.Released)
		if s.Do("exists", "order-lock") != int64(0) {
			t.Errorf("%s: it is still there", name)
		}
		heard := l.Heard()
		if name == "default" && (!slices.Equal(heard, []redistest.Message{{Channel: "redisson_lock__channel:{order-lock}", Payload: "0"}}) || o.Told != 1) {
			t.Errorf("heard %v, told %d", heard, o.Told)
		}
		if name == "nochan" && (o.Told != wire.ToldFailed || !strings.Contains(o.Detail(&p), "could not be told") || len(heard) > 0) {
			t.Errorf("without a channel: %s %s, heard %v", o.Word, o.Detail(&p), heard)
		}
	}
}

// What became of a release, for what stood there when it came.
func TestOutcomes(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	for _, c := range []struct {
		name  string
		then  []string // between look and act
		want  inspect.Word
		why   wire.Why
		texts []string
	}{
		{"as it was", nil, inspect.Released, "", []string{tokenA}},
		{"gone", []string{"del lock:a"}, inspect.Gone, "", []string{"no longer held", "nobody holds it"}},
		{"another holder", []string{"set lock:a " + tokenB + " px 60000"}, inspect.Changed, wire.WhyHolder, []string{"somebody else", "now held by " + tokenB}},
		{"another type", []string{"del lock:a", "hset lock:a " + threadA + " 1"}, inspect.Changed, wire.WhyType, []string{"another type", threadA}},
		{"renewed", []string{"pexpire lock:a 600000"}, inspect.Released, "", nil},
	} {
		give(s, "flushall", "set lock:a "+tokenA+" px 60000")
		p := releasePlan(t, in, "lock:a")
		give(s, c.then...)
		before := s.Dump()
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, c.want)
		if o.Why != c.why {
			t.Errorf("%s: why %q", c.name, o.Why)
		}
		for _, text := range c.texts {
			if !strings.Contains(o.Detail(&p), text) {
				t.Errorf("%s: %s", c.name, o.Detail(&p))
			}
		}
		if c.want != inspect.Released && !maps.Equal(s.Dump(), before) {
			t.Errorf("%s: it was changed: %q", c.name, s.Dump())
		}
	}
}

// A holder whose id can come again is told from a later acquisition by its
// deadline, or by its fence where there is one.
func TestWeakGuards(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	for _, c := range []struct {
		name        string
		given, then []string
		guard       inspect.Guard
		want        inspect.Word
		why         wire.Why
	}{
		{"a thread", []string{"hset l " + threadA + " 1", "pexpire l 30000"}, nil, inspect.ByDeadline, inspect.Released, ""},
		{"a thread again", []string{"hset l " + threadA + " 1", "pexpire l 30000"}, []string{"pexpire l 33000"}, inspect.ByDeadline, inspect.Changed, wire.WhyDeadline},
		{"a thread without expiry", []string{"hset l " + threadA + " 1"}, nil, inspect.ByNothing, inspect.Released, ""},
		{"a thread that has an expiry now", []string{"hset l " + threadA + " 1"}, []string{"pexpire l 30000"}, inspect.ByNothing, inspect.Changed, wire.WhyDeadline},
		{"a fenced thread, renewed", []string{"hset l " + threadA + " 1", "pexpire l 30000", "set redisson_lock_token:{l} 34"}, []string{"pexpire l 60000"}, inspect.ByFence, inspect.Released, ""},
		{"a fenced thread again", []string{"hset l " + threadA + " 1", "pexpire l 30000", "set redisson_lock_token:{l} 34"}, []string{"incr redisson_lock_token:{l}"}, inspect.ByFence, inspect.Changed, wire.WhyFence},
	} {
		give(s, append([]string{"flushall"}, c.given...)...)
		p := releasePlan(t, in, "l")
		if !p.Weak || p.Guard != c.guard || p.Guard.String() == "" {
			t.Errorf("%s: guard %v %q", c.name, p.Guard, p.Guard)
		}
		give(s, c.then...)
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, c.want)
		if o.Why != c.why {
			t.Errorf("%s: why %q", c.name, o.Why)
		}
		if fence := s.Do("get", "redisson_lock_token:{l}"); strings.Contains(c.name, "fenced") && fence == nil {
			t.Errorf("%s: the fence counter was touched", c.name)
		}
	}
}

// One holder of several, or all of them and no others.
func TestOneHolderOrAll(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	readers := []string{"flushall", "hset l mode read " + threadA + " 1 " + threadB + " 1", "pexpire l 30000"}

	give(s, readers...)
	p := releasePlan(t, in, "l", threadA)
	expectOutcome(t, carryOut(t, in, p), p, inspect.Released)
	if left := s.Do("hkeys", "l").([]any); len(left) != 2 || !slices.Contains(left, any(threadB)) {
		t.Errorf("left %v", left)
	}

	give(s, readers...)
	p = releasePlan(t, in, "l")
	expectOutcome(t, carryOut(t, in, p), p, inspect.Released)
	if s.Do("exists", "l") != int64(0) {
		t.Error("all were to go, and some are there")
	}

	give(s, readers...)
	p = releasePlan(t, in, "l")
	give(s, "hset l 0c7a1f00-1111-4222-8333-94445555c66d:1 1")
	o := carryOut(t, in, p)
	expectOutcome(t, o, p, inspect.Changed)
	if o.Why != wire.WhyOthers || s.Do("hlen", "l") != int64(4) {
		t.Errorf("one more came: %s, %v fields left", o.Why, s.Do("hlen", "l"))
	}

	if _, err := in.PlanRelease(one(t, in, "l"), "nobody"); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a holder that is none: %v", err)
	}
}

// All, and exactly these: who joins them after the look is a surprise.
func TestExactlyTheseHolders(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	soon := strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10)
	a, b, c := symfonyToken(1), symfonyToken(2), symfonyToken(3)
	for name, join := range map[string]string{"nobody joins": "", "one joins": "zadd config " + soon + " " + c} {
		give(s, "flushall", "zadd config "+soon+" "+a+" "+soon+" "+b)
		p := releasePlan(t, in, "config").Exactly()
		want := inspect.Released
		if join != "" {
			give(s, join)
			want = inspect.Changed
		}
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, want)
		if n := s.Do("zcard", "config"); want == inspect.Changed && (n != int64(3) || o.Why != wire.WhyOthers) {
			t.Errorf("%s: %v left, why %q", name, n, o.Why)
		}
	}
}

// Permits are given back one by one, each with a receipt of its own: one receipt
// for both would make the second look as if it had been done.
func TestEveryStepIsDone(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	p1, p2 := strings.Repeat("a", 31)+"1", strings.Repeat("a", 31)+"2"
	give(s, "set sem 3", "zadd {sem}:timeout 922337203685477 "+p1+" 922337203685477 "+p2)
	p := releasePlan(t, in, "{sem}:timeout")
	if len(p.Steps) != 2 {
		t.Fatalf("%d steps: %v", len(p.Steps), p.Lines())
	}
	expectOutcome(t, carryOut(t, in, p), p, inspect.Released)
	if s.Do("get", "sem") != "5" || s.Do("exists", "{sem}:timeout") != int64(0) {
		t.Errorf("left %q", s.Dump())
	}

	give(s, "flushall", "set sem 3", "zadd {sem}:timeout 922337203685477 "+p1+" 922337203685477 "+p2)
	p = releasePlan(t, in, "{sem}:timeout")
	give(s, "zrem {sem}:timeout "+p1, "incr sem")
	o := carryOut(t, in, p)
	if o.Word != inspect.Released || s.Do("get", "sem") != "5" {
		t.Errorf("one was given back by its holder: %s, free %v", o.Word, s.Do("get", "sem"))
	}
}

// What shows only by its companions is found by its name, and read again.
func TestLocksThatOnlyCompanionsShow(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	give(s, "set sem 3", "zadd {sem}:timeout 922337203685477 "+strings.Repeat("a", 32),
		"rpush redisson_lock_queue:{fair} "+threadA, "zadd redisson_lock_timeout:{fair} 1600000000000 "+threadA)
	for _, key := range []string{"sem", "fair"} {
		locks, err := in.LookKey(t.Context(), 0, key)
		if err != nil || len(locks) != 1 || string(locks[0].Key) != key {
			t.Errorf("%s: %d locks, %v", key, len(locks), err)
			continue
		}
		if again, err := in.Refresh(t.Context(), locks); err != nil || len(again) != 1 {
			t.Errorf("%s, again: %d locks, %v", key, len(again), err)
		}
	}
	// A25: nobody holds it and the head waited out; only that is cleaned up.
	give(s, "rpush redisson_lock_queue:{fair} "+threadB, "zadd redisson_lock_timeout:{fair} 33300000000000 "+threadB)
	locks, _ := in.LookKey(t.Context(), 0, "fair")
	p, err := in.PlanRelease(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	expectOutcome(t, carryOut(t, in, p), p, inspect.Released)
	if left := s.Do("lrange", "redisson_lock_queue:{fair}", 0, -1).([]any); len(left) != 1 || left[0] != threadB {
		t.Errorf("left %v", left)
	}
	if locks, err := in.LookKey(t.Context(), 0, "nothing"); err != nil || len(locks) != 0 {
		t.Errorf("nothing: %d locks, %v", len(locks), err)
	}
}

// Who may do less gets an answer that says what was done, and it was.
func TestOutcomesByPermission(t *testing.T) {
	s := redistest.Start(t)
	for _, c := range []struct {
		name  string
		rules []any
		given string
		want  inspect.Word
		texts []string
	}{
		{"read-only", []any{"~*", "&*", "+@read", "+ping", "+info", "+time"}, "set lock:a " + tokenA + " px 60000", inspect.Refused, []string{"nothing was changed"}},
		{"no-dangerous", []any{"~*", "&*", "+@all", "-@dangerous"}, "set lock:a " + tokenA + " px 60000", inspect.Released, nil},
		{"eval-only", []any{"~lock:*", "+@read", "+ping", "+eval", "+get", "+del", "+time"}, "set lock:a " + tokenA + " px 60000", inspect.Released, nil},
		{"no-del", []any{"~*", "&*", "+@all", "-del"}, "set lock:a " + tokenA + " px 60000", inspect.Refused, []string{"nothing was changed", "ACL SETUSER"}},
		{"no-eval", []any{"~*", "&*", "+@all", "-eval", "-evalsha"}, "set lock:a " + tokenA + " px 60000", inspect.Released, nil},
		{"no-eval-hash", []any{"~*", "&*", "+@all", "-eval", "-evalsha"}, "hset lock:a " + threadA + " 1", inspect.Released, []string{"no listener"}},
		{"no-eval-no-chan", []any{"~*", "resetchannels", "+@all", "-eval", "-evalsha"}, "hset lock:a " + threadA + " 1", inspect.Released, []string{"could not be told"}},
		{"no-eval-no-multi", []any{"~*", "&*", "+@all", "-eval", "-multi"}, "set lock:a " + tokenA + " px 60000", inspect.Refused, []string{"EVAL", "nothing was changed"}},
		{"no-scripting", []any{"~*", "&*", "+@all", "-@scripting"}, "set lock:a " + tokenA + " px 60000", inspect.Released, nil},
		{"keys", []any{"~lock:a", "&*", "+@all"}, "set lock:a " + tokenA + " px 60000", inspect.Released, nil},
		{"read-keys", []any{"%R~lock:*", "&*", "+@all"}, "set lock:a " + tokenA + " px 60000", inspect.Refused, []string{"nothing was changed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			give(s, "flushall", c.given)
			user(s, c.name, c.rules...)
			in := at(t, s.Addr, as(c.name))
			p := releasePlan(t, in, "lock:a")
			o := carryOut(t, in, p)
			expectOutcome(t, o, p, c.want)
			if held := s.Do("exists", "lock:a") == int64(1); held != (c.want == inspect.Refused) {
				t.Errorf("%s, and the lock is there: %v", o.Word, held)
			}
			for _, text := range c.texts {
				if text == "no listener" {
					if o.Told != 0 || !o.Steps[0].Plainly {
						t.Errorf("told %d, plainly %v", o.Told, o.Steps[0].Plainly)
					}
				} else if !strings.Contains(o.Detail(&p), text) {
					t.Errorf("does not say %q: %s", text, o.Detail(&p))
				}
			}
		})
	}
}

// A fair lock's queue needs a script: without one it is refused clearly.
func TestNoScriptsNoFairRelease(t *testing.T) {
	s := redistest.Start(t)
	user(s, "op", "~*", "&*", "+@all", "-@scripting")
	give(s, "hset l "+threadA+" 1", "pexpire l 30000", "rpush redisson_lock_queue:{l} "+threadB, "zadd redisson_lock_timeout:{l} 33300000000000 "+threadB)
	in := at(t, s.Addr, as("op"))
	p := releasePlan(t, in, "l")
	o := carryOut(t, in, p)
	expectOutcome(t, o, p, inspect.Refused)
	if !strings.Contains(o.Detail(&p), "+eval") || s.Do("exists", "l") != int64(1) {
		t.Error(o.Detail(&p))
	}
}

// A server that refuses writes has changed nothing, and says why.
func TestServersThatRefuse(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		set  [][]any
		want inspect.Word
		text string
	}{
		{"too few replicas", nil, [][]any{{"config", "set", "min-replicas-to-write", "3"}}, inspect.Refused, "replicas"},
		{"out of memory", nil, [][]any{{"config", "set", "maxmemory", "1"}}, inspect.Released, ""},
		{"del is renamed", []string{"--rename-command", "DEL", "zzdel"}, nil, inspect.Refused, "renamed"},
		{"eval is disabled", []string{"--rename-command", "EVAL", ""}, nil, inspect.Released, ""},
		{"a busy script", nil, nil, inspect.Refused, "busy running a script"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			s := redistest.Start(t, c.args...)
			give(s, "set lock:a "+tokenA+" px 600000")
			in := at(t, s.Addr)
			p := releasePlan(t, in, "lock:a")
			for _, args := range c.set {
				s.Do(args...)
			}
			if c.text == "busy running a script" {
				s.Do("config", "set", "busy-reply-threshold", "1")
				loop(t, s)
			}
			o := carryOut(t, in, p)
			if c.text == "busy running a script" {
				s.Do("script", "kill")
				s.Until("the script has ended", func() bool { _, err := s.Try("ping"); return err == nil })
				if o.NowErr == nil {
					t.Error("a server that answered nothing was said to have no lock")
				}
			}
			expectOutcome(t, o, p, c.want)
			if !strings.Contains(o.Detail(&p), c.text) {
				t.Errorf("does not say %q: %s", c.text, o.Detail(&p))
			}
			if held := s.Do("exists", "lock:a") == int64(1); held != (c.want == inspect.Refused) {
				t.Errorf("%s, and the lock is there: %v", o.Word, held)
			}
		})
	}
}

// loop keeps a server busy with a script until SCRIPT KILL.
func loop(t *testing.T, s *redistest.Server) {
	c := client(t, s.Addr, func(o *redis.Options) { o.ReadTimeout = 20 * time.Second })
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = c.Eval(ctx, "while true do end", nil).Err() // ends with SCRIPT KILL
	}()
	s.Until("the script runs", func() bool {
		_, err := s.Try("ping")
		return err != nil
	})
}

// A replica is not acted on, writable or not: what it says may be old, and what
// it changes is lost.
func TestReplicasAreRefused(t *testing.T) {
	s := redistest.Start(t)
	give(s, "set lock:a "+tokenA+" px 600000")
	replica := redistest.StartReplica(t, s)
	replica.Until("the lock is there", func() bool { return replica.Do("get", "lock:a") == tokenA })
	in := at(t, replica.Addr)
	p := releasePlan(t, in, "lock:a")
	for _, readOnly := range []string{"yes", "no"} {
		replica.Do("config", "set", "replica-read-only", readOnly)
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, inspect.Refused)
		if !strings.Contains(o.Detail(&p), "master") || replica.Do("get", "lock:a") != tokenA {
			t.Errorf("read-only %s: %s", readOnly, o.Detail(&p))
		}
	}
}
