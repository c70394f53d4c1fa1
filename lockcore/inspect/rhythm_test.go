package inspect

import (
	"testing"
	"time"

	"fencepost/lockcore/inspect/family"
)

const lease = 30 * time.Second

// renewEvery renews n times by the clock of a watchdog that is late by jitter
// now and then, seen or found by polling.
func renewEvery(every time.Duration, n int, poll time.Duration, missEach int) (*rhythm, time.Time) {
	r := &rhythm{}
	at, deadline := t0, t0.Add(lease)
	for i := 1; i <= n; i++ {
		at = at.Add(every + time.Duration(i%3)*10*time.Millisecond)
		next := at.Add(lease)
		if missEach > 0 && i%missEach == 0 {
			continue
		}
		if poll == 0 {
			r.renewed(deadline, next, at.Add(time.Millisecond), at, every)
		} else {
			r.renewed(deadline, next, at.Truncate(poll).Add(poll), time.Time{}, poll)
		}
		deadline = next
	}
	return r, at
}

func TestRhythmIsLearned(t *testing.T) {
	for _, c := range []struct {
		name string
		r    func() (*rhythm, time.Time)
		want string
		late string
	}{
		{"seen", func() (*rhythm, time.Time) { return renewEvery(10*time.Second, 14, 0, 0) },
			"renewed 3.1 s ago, every 10 s, 14 times", "renewed 14.1 s ago, every 10 s, 14 times, overdue by 4.1 s"},
		{"found by polling", func() (*rhythm, time.Time) { return renewEvery(10*time.Second, 14, 700*time.Millisecond, 0) },
			"renewed about 3 s ago, every 10 s, 14 times", "renewed about 14.1 s ago, every 10 s, 14 times, overdue by 4 s"},
		{"some were not noticed", func() (*rhythm, time.Time) { return renewEvery(10*time.Second, 14, 700*time.Millisecond, 4) },
			"renewed about 3 s ago, every 10 s, 14 times", "renewed about 14.1 s ago, every 10 s, 14 times, overdue by 4 s"},
		{"fast", func() (*rhythm, time.Time) { return renewEvery(200*time.Millisecond, 40, 0, 0) },
			"renewed 3.1 s ago, every 210 ms, 40 times, overdue by 2.9 s", ""},
		{"faster than it is looked at", func() (*rhythm, time.Time) { return renewEvery(300*time.Millisecond, 40, time.Second, 2) },
			"renewed about 3.3 s ago, 20 times", ""},
		{"once", func() (*rhythm, time.Time) { return renewEvery(10*time.Second, 1, 0, 0) },
			"renewed 3.1 s ago, once", "renewed 14.1 s ago, once"},
	} {
		r, last := c.r()
		if got := r.beat.Words(last.Add(3100 * time.Millisecond)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := r.beat.Words(last.Add(14100 * time.Millisecond)); c.late != "" && got != c.late {
			t.Errorf("%s: %q, want %q", c.name, got, c.late)
		}
	}
}

func TestNoRhythmWhereThereIsNone(t *testing.T) {
	r := &rhythm{}
	at, deadline := t0, t0.Add(lease)
	for _, gap := range []time.Duration{3, 11, 4, 19, 7, 3, 17, 5, 13} {
		at = at.Add(gap * time.Second)
		r.renewed(deadline, at.Add(lease), at, at, 0)
		deadline = at.Add(lease)
	}
	if r.beat.Every != 0 {
		t.Errorf("a rhythm of %v ± %v was found", r.beat.Every, r.beat.Spread)
	}
	if r.beat.Renewals != 9 {
		t.Errorf("%d renewals", r.beat.Renewals)
	}
}

// A22: a lock that is renewed for ever looks as alive as any by its TTL. How
// long it has been held, and through how many renewals, is what shows it.
func TestHoldTimeGoesOnThroughRenewals(t *testing.T) {
	w := &Watched{Lock: *aLock(0, "A", 30_000), FirstSeen: t0, Began: true, Beat: &Beat{Renewals: 1150}}
	now := t0.Add(3*time.Hour + 12*time.Minute)
	if got := w.HeldWords(now); got != "held for 3 h 12 min, renewed 1,150 times" {
		t.Error(got)
	}
	w.Began, w.Beat = false, nil
	if got := w.HeldWords(now); got != "held for at least 3 h 12 min" {
		t.Error(got)
	}
	w.Holders[0].Since = t0.Add(-time.Hour)
	if got := w.HeldWords(now); got != "held for 4 h 12 min" {
		t.Error(got)
	}
	w.State = family.Free
	if got := w.HeldWords(now); got != "" {
		t.Error(got)
	}
}

// Two looks at one lease are two measurements of one moment: the countdown does
// not twitch, and gets better.
func TestDeadlineIsSteady(t *testing.T) {
	prev, cur := aLock(0, "A", 10_000), aLock(1, "A", 9_000)
	prev.Uncertainty, cur.Uncertainty = 50*time.Millisecond, 5*time.Millisecond
	cur.Deadline = prev.Deadline.Add(20 * time.Millisecond)
	better := cur.Deadline
	steady(prev, cur)
	if d := cur.Deadline.Sub(better).Abs(); d > 6*time.Millisecond || cur.Uncertainty > 5*time.Millisecond {
		t.Errorf("off by %v ± %v from the better look", d, cur.Uncertainty)
	}
	next := aLock(2, "A", 8_000)
	next.Uncertainty = 50 * time.Millisecond
	next.Deadline = cur.Deadline.Add(30 * time.Millisecond) // a worse look says something else
	steady(cur, next)
	if d := next.Deadline.Sub(cur.Deadline).Abs(); d > 2*time.Millisecond {
		t.Errorf("a worse look moved it by %v", d)
	}
}
