package inspect

import (
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// oneLock is the only lock at a key.
func oneLock(t *testing.T, in *Inspector, key string) Lock {
	t.Helper()
	locks, err := in.Look(t.Context(), 0, key)
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	return locks[0]
}

// carriedOut carries out a plan that was just made, and wants the word.
func carriedOut(t *testing.T, in *Inspector, want Word) func(Plan, error) Outcome {
	t.Helper()
	return func(p Plan, err error) Outcome {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		out := in.Run(t.Context(), p)
		if out.Word != want {
			t.Fatalf("%+v", out)
		}
		return out
	}
}

// A TTL that an operator has set is told as that, and is no sign that the holder
// lives.
func TestTTLByAnOperatorIsNoRenewal(t *testing.T) {
	t.Parallel()
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			n := nodeOf(s)
			redisson(s, "lock:ttl", holderA, 600_000)
			w := follow(t, n, Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			in := New(n)
			l := oneLock(t, in, "lock:ttl")
			out := carriedOut(t, in, TTLSet)(in.PlanTTL(l, 5*time.Minute))
			if c.source == ByPolling {
				w.f.Acted(&l, out)
			}
			if e := w.event(WasRenewed, "lock:ttl"); !strings.Contains(e.Note, "set by an operator") {
				t.Errorf("%+v", e)
			}
			if b := w.row("lock:ttl").Beat; b != nil {
				t.Errorf("the holder was seen to renew: %s", b.Words(time.Now()))
			}
			time.Sleep(forcedFor)
			s.Do("PEXPIRE", "lock:ttl", 600_000)
			w.until("a renewal by the holder", func(v *View) bool { r := w.row("lock:ttl"); return r != nil && r.Beat != nil })
		})
	}
}
