package inspect

import (
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

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
			locks, err := in.Look(t.Context(), 0, "lock:ttl")
			if err != nil || len(locks) != 1 {
				t.Fatal(locks, err)
			}
			plan, err := in.PlanTTL(locks[0], 5*time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			out := in.Run(t.Context(), plan)
			if out.Word != TTLSet {
				t.Fatalf("%+v", out)
			}
			if c.source == ByPolling {
				w.f.Acted(&locks[0], out)
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
