package inspect

import (
	"math"
	"time"

	"fencepost/lockcore/inspect/family"
)

// enter adds a lock that was not known.
func (t *tracker) enter(l *Lock, events []Event, w *witness) {
	r := &row{at: len(t.list)}
	seen := &Watched{Lock: *l, Seat: &r.seat, FirstSeen: w.at, IdleBefore: idleBefore(l)}
	for _, e := range events {
		seen.Began = seen.Began || e.Kind == WasAcquired && !e.Inferred
	}
	t.pasts.warn(seen, w.at)
	key := string(l.Key)
	r.next = t.rows[key]
	t.rows[key] = r
	t.list = append(t.list, r)
	t.adopt(r, seen)
	if !w.rescan && seen.Type != family.None && r.next == nil {
		t.scan.sizeWas++ // one key more that is known of
	}
	if len(t.list) == fullRows+1 {
		t.slimAll()
	}
	t.f.record(events...)
	t.feeds.lacking = t.feeds.lacking || !t.covered(l)
	if t.feeds.single != nil && w.rescan {
		t.mark(key, w.at) // so that the server tracks it
	}
}

// idleBefore is for how many seconds nobody had touched a key before it was read.
func idleBefore(l *Lock) int32 {
	if l.source == nil || !l.facts.Main.HasIdle {
		return 0
	}
	return int32(min(l.facts.Main.Idle, math.MaxInt32))
}

// slimAll slims what was kept in full while the list was short.
func (t *tracker) slimAll() {
	for _, r := range t.list {
		if r.w.source != nil {
			slim := *r.w
			slim.source = nil
			r.w = &slim
		}
	}
}

// covered reports whether changes to a lock and its companions are told.
func (t *tracker) covered(l *Lock) bool {
	if t.feeds.cur == nil || t.feeds.single != nil || t.feeds.covered == nil {
		return true
	}
	if !t.feeds.covered.covers(string(l.Key)) {
		return false
	}
	for _, c := range l.Companions {
		if !t.feeds.covered.covers(string(c)) {
			return false
		}
	}
	return true
}

// adopt makes w what is known of a row.
func (t *tracker) adopt(r *row, w *Watched) {
	main := string(w.Key)
	if r.w != nil {
		for _, c := range r.w.Companions {
			delete(t.companions, string(c))
		}
	}
	for _, c := range w.Companions {
		if string(c) != main {
			t.companions[string(c)] = companion{of: main, ends: w.companionEnds(string(c))}
		}
	}
	r.learnSource(&w.Lock)
	t.sharpen(r, w)
	t.slim.take(&w.Lock, len(t.list))
	r.w = w
	t.due.schedule(r, time.Now())
}

// sharpen has a lock looked at again whose deadline is less sure than the way to
// the server explains: the look was made on a new connection, or was held up.
func (t *tracker) sharpen(r *row, w *Watched) {
	if _, ends := w.ends(); !ends || w.Uncertainty <= t.survey.rtt*3/4+5*time.Millisecond {
		r.vague = 0
		return
	}
	if r.vague++; r.vague <= mostVague {
		t.mark(string(w.Key), w.SampledAt)
	}
}

// mostVague is how often that is tried.
const mostVague = 2

// remove drops a lock that is gone.
func (t *tracker) remove(r *row) {
	key := string(r.w.Key)
	if r.w.Type != family.None && !r.w.HasField {
		t.scan.sizeWas-- // so that another key in its place is noticed
	}
	for _, c := range r.w.Companions {
		delete(t.companions, string(c))
	}
	if t.rows[key] == r {
		if r.next == nil {
			delete(t.rows, key)
		} else {
			t.rows[key] = r.next
		}
	} else {
		for x := t.rows[key]; x != nil; x = x.next {
			if x.next == r {
				x.next = r.next
			}
		}
	}
	last := t.list[len(t.list)-1]
	t.list[r.at], last.at = last, r.at
	t.list[len(t.list)-1] = nil
	t.list = t.list[:len(t.list)-1]
	r.due = 0
}

// empty notes that a key was found without a lock while a scan is under way: a
// page that was read before may still come.
func (t *tracker) empty(key string, at time.Time) {
	note(&t.read.absent, key, at, at.Add(-2*stepTimeout))
}

// judge notes changes that the feed did not tell of. It may still be about to,
// so it is given a moment.
func (t *tracker) judge(key string, events []Event, w *witness) {
	if t.feeds.cur == nil || t.status.Source == ByPolling || len(events) == 0 {
		return
	}
	if w.touched {
		delete(t.read.doubts, key)
		return
	}
	for _, e := range events {
		// An expiry may be told late, and notifications never tell of a flush.
		if e.Kind == WasExpired || e.Kind == WasFlushed || w.flushed || w.gap != "" || w.rescan || w.at.Sub(t.feeds.swapped) < 2*tellTolerance {
			return
		}
	}
	if t.read.doubts == nil {
		t.read.doubts = map[string]time.Time{}
	}
	t.read.doubts[key] = w.at
}

// settleDoubts strikes a feed that never told of what was found.
func (t *tracker) settleDoubts(now time.Time, wake *earliest) {
	for key, at := range t.read.doubts {
		if limit := at.Add(tellTolerance); now.Before(limit) {
			wake.by(limit)
			continue
		}
		delete(t.read.doubts, key)
		t.strike(now)
	}
}

// clockGuess is how far a server's clock is from this machine's, by the look
// that was answered fastest of the last few.
type clockGuess struct {
	looks [clockSamples]struct{ offset, rtt time.Duration }
	n     int
}

func (c *clockGuess) learn(l *Lock) {
	if l.facts == nil || l.facts.Now.IsZero() {
		return
	}
	c.looks[c.n%clockSamples] = struct{ offset, rtt time.Duration }{l.facts.Now.Sub(l.SampledAt), 2 * l.Uncertainty}
	c.n++
}

func (c *clockGuess) best() (offset, rtt time.Duration, known bool) {
	for i := range min(c.n, clockSamples) {
		if x := c.looks[i]; !known || x.rtt < rtt {
			offset, rtt, known = x.offset, x.rtt, true
		}
	}
	return offset, rtt, known
}
