package inspect

import (
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/redistest"
)

// What one look cannot show: a TTL that runs out again and again, a fence that
// goes back. A lock that is released as it should be is not warned of.
func TestWarningsOfAPast(t *testing.T) {
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			lease := 600
			if c.source == ByPolling {
				lease = 2500 // else it is over before it is found
			}
			for i := range 3 {
				s.Do("SET", "lock:short", tokenA, "PX", lease)
				s.Do("SET", "lock:well", tokenA, "PX", 60_000)
				s.Do("SET", "lock:well:fence", 10+i)
				w.event(WasAcquired, "lock:short")
				w.until("both are there", func(*View) bool { r := w.row("lock:well"); return r != nil && r.Fence != "" })
				s.Do("DEL", "lock:well")
				if e := w.event(WasExpired, "lock:short"); (e.Note != "") != (i > 0) || i > 0 && !strings.Contains(e.Note, "shorter than the work") {
					t.Errorf("%d: %q", i, e.Note)
				}
				w.until("it is gone", func(*View) bool { return w.row("lock:well") == nil })
			}
			s.Do("SET", "lock:short", tokenA, "PX", 60_000)
			s.Do("SET", "lock:well", tokenA, "PX", 60_000)
			w.until("both are there", func(*View) bool { return w.row("lock:short") != nil && w.row("lock:well") != nil })
			if l := &w.row("lock:short").Lock; !strings.Contains(warned(l, family.ShortTTL), "of the last 3 holds that were seen whole, 3 ended") {
				t.Errorf("%v", l.Warnings)
			}
			if l := &w.row("lock:well").Lock; warned(l, family.ShortTTL) != "" || warned(l, family.FenceBackwards) != "" {
				t.Errorf("%v", l.Warnings)
			}
			s.Do("SET", "lock:well:fence", 4)
			s.Do("PEXPIRE", "lock:well", 90_000)
			w.until("its fence goes back", func(*View) bool {
				return strings.Contains(warned(&w.row("lock:well").Lock, family.FenceBackwards), "its fence is 4, and 12 was seen before")
			})
		})
	}
}

func TestHeldLongThoughRenewed(t *testing.T) {
	began := time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC)
	hold := func(kind family.Kind, renewals int, lease time.Duration) *Watched {
		l := aLock(0, "A", 30_000)
		l.Kind = kind
		return &Watched{Lock: *l, FirstSeen: began, Began: true, Beat: &Beat{Renewals: renewals, Lease: lease, Every: lease / 3}}
	}
	for _, c := range []struct {
		name string
		w    *Watched
		held time.Duration
		want bool
	}{
		{"an hour in renewals of half a minute", hold(family.Mutex, 360, 30*time.Second), time.Hour, true},
		{"a few minutes", hold(family.Mutex, 30, 30*time.Second), 5 * time.Minute, false},
		{"renewed a few times", hold(family.Mutex, 3, 30*time.Minute), 2 * time.Hour, false},
		{"a long lease", hold(family.Mutex, 30, time.Hour), 10 * time.Hour, false},
		{"a leader's lease", hold(family.Lease, 360, 30*time.Second), time.Hour, false},
	} {
		var p pasts
		p.warn(c.w, began.Add(c.held))
		if text := warned(&c.w.Lock, family.HeldLong); (text != "") != c.want || c.want && !strings.Contains(text, "more than 1 h, though renewed") {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}

// The pasts of locks are few, however many locks there are.
func TestPastsAreBounded(t *testing.T) {
	var p pasts
	for i := range 2 * mostPasts {
		p.of(string(rune(i + 1000)))
	}
	if len(p) > mostPasts {
		t.Errorf("%d", len(p))
	}
}
