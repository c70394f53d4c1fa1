package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Beat is what was learned of a lock's renewals under its present holder. It is
// evidence: a rhythm shows that something renews, not that the work goes on. A
// nil Beat is that of a lock without renewals.
type Beat struct {
	Renewals int       // seen or concluded since the hold began, or was first seen
	Last     time.Time // of the last one; zero: none
	// About says that Last was worked out from the deadline, and not seen.
	About  bool
	Every  time.Duration // the rhythm; 0: not learned
	Spread time.Duration // how far from it the renewals came
	Lease  time.Duration // the time that a renewal gives
}

// Overdue is by how much the next renewal is late at now; false where it is
// not, or no rhythm is known. What is late by less than the rhythm's own spread
// is on time.
func (b *Beat) Overdue(now time.Time) (time.Duration, bool) {
	if b == nil || b.Every == 0 {
		return 0, false
	}
	late := now.Sub(b.Last) - b.Every
	grace := max(b.Every/5, 3*b.Spread, 300*time.Millisecond)
	return late, late > grace
}

// Words says the rhythm: "renewed 3.1 s ago, every 10 s, 14 times", and
// "overdue by 4 s" where it is; "" where no renewal is known.
func (b *Beat) Words(now time.Time) string {
	if b == nil || b.Renewals == 0 {
		return ""
	}
	about := ""
	if b.About {
		about = "about "
	}
	parts := []string{"renewed " + about + moment(now.Sub(b.Last)) + " ago"}
	if b.Every > 0 {
		parts = append(parts, "every "+moment(round(b.Every)))
	}
	parts = append(parts, times(b.Renewals))
	if late, ok := b.Overdue(now); ok {
		parts = append(parts, "overdue by "+moment(late))
	}
	return strings.Join(parts, ", ")
}

// moment is a span as one reads it at a glance: 412 ms, 3.1 s, then as Span.
func moment(d time.Duration) string {
	d = max(d, 0)
	if d < time.Second || d >= time.Minute {
		return SpanOf(d)
	}
	return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + " s"
}

// round takes off what is noise in a rhythm.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(10 * time.Millisecond)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return thousands(n) + " times"
}

// thousands writes a number with commas: 1,150.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// beats is how many intervals the rhythm is learned from.
const beats = 16

// rhythm learns a Beat. The distance between two deadlines is the distance
// between the renewals that set them, to the millisecond and however late they
// were noticed, as long as each gives the same time.
type rhythm struct {
	beat      Beat
	intervals [beats]time.Duration
	n         int           // intervals seen so far
	coarse    time.Duration // between two looks, where renewals were found by looking
}

// renewed notes that a renewal moved the deadline from before to after. seen is
// when the server told of it; zero: it was found by a look at sampled, so long
// (apart) after the one before.
func (r *rhythm) renewed(before, after, sampled, seen time.Time, apart time.Duration) {
	b := &r.beat
	b.Renewals++
	left := after.Sub(sampled)
	if !seen.IsZero() {
		left = after.Sub(seen)
	}
	if seen.IsZero() {
		r.coarse = max(r.coarse, apart)
	}
	b.Lease = max(b.Lease, left)
	last := after.Add(-b.Lease)
	if !seen.IsZero() {
		last = seen
	}
	gap := after.Sub(before)
	if before.IsZero() || gap <= 0 {
		gap = last.Sub(b.Last)
	}
	if !before.IsZero() && gap > 0 {
		r.intervals[r.n%beats] = gap
		r.n++
		r.learn()
	}
	if b.Every > 0 && seen.IsZero() {
		b.Renewals += int((gap+b.Every/2)/b.Every) - 1 // several between two looks
	}
	b.Last, b.About = last, seen.IsZero()
}

// learn works out the rhythm: the smallest interval is one beat, the others are
// one or, where a renewal was not noticed, several of it. Intervals that fit no
// such grid have no rhythm, and what comes faster than it is looked at shows
// none.
func (r *rhythm) learn() {
	r.beat.Every = 0
	if r.n < 2 {
		return
	}
	all := r.intervals[:min(r.n, beats)]
	base := slices.Min(all)
	if base < r.coarse*3/2 {
		return
	}
	ones := make([]time.Duration, len(all))
	single := 0
	for i, d := range all {
		k := max(1, (d+base/2)/base)
		ones[i] = d / k
		if k == 1 {
			single++
		}
	}
	every, spread := median(ones), make([]time.Duration, len(all))
	fit := 0
	for i, d := range all {
		k := max(1, (d+every/2)/every)
		spread[i] = (d - k*every).Abs()
		if spread[i] <= max(every/7, 30*time.Millisecond) {
			fit++
		}
	}
	if 2*single >= len(all) && 4*fit >= 3*len(all) {
		r.beat.Every, r.beat.Spread = every, median(spread)
	}
}

// median sorts what it is given.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// HeldWords says for how long a lock is held, and through how many renewals:
// "held for 3 h 12 min, renewed 1,150 times". at least stands where the hold
// was there before it was watched.
func (w *Watched) HeldWords(now time.Time) string {
	since, exact := w.HeldSince()
	if since.IsZero() || !exact && now.Sub(since) < time.Second {
		return ""
	}
	text := "held for "
	if !exact {
		text += "at least "
	}
	text += SpanOf(max(0, now.Sub(since)))
	if w.Beat != nil && w.Beat.Renewals > 0 {
		text += fmt.Sprintf(", renewed %s", times(w.Beat.Renewals))
	}
	return text
}
