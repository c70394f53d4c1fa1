package inspect

import (
	"fmt"
	"time"
)

// scanned takes in one page. What the first pass comes upon, or one that looks
// closer than those before, was there all the while.
func (t *tracker) scanned(p Progress, first bool) {
	now := time.Now()
	if !p.end {
		t.answered(now)
	}
	if first {
		t.publish(func(s *NodeStatus) { s.Coverage = p.Coverage })
	}
	if len(p.Found) == 0 {
		return
	}
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	for i := range p.Found {
		if l := &p.Found[i]; l.Node != t.node.Addr {
			t.handOver(l)
		} else {
			t.found(l, first, now)
		}
	}
	t.f.bump()
}

// found takes in one lock that a scan came upon. One that is new is looked at once
// more first: what was told of it is on its way, and where nothing is told, what
// the server counts is asked for as its hold begins.
func (t *tracker) found(l *Lock, first bool, now time.Time) {
	key := string(l.Key)
	switch r := t.rowOf(l); {
	case r != nil:
		if l.SampledAt.After(r.w.SampledAt) {
			t.mark(key, now)
		}
		return
	case t.goneSince(l):
		t.comeUpon(key, now)
		return
	case !first:
		if m := t.comeUpon(key, now); t.status.Source == ByPolling {
			m.lock = l
		}
		return
	}
	t.enter(l, nil, &witness{at: now, source: t.status.Source, rescan: true})
	t.snap(l, now)
	if !t.toldOf(l) {
		t.mark(key, now) // it may have changed since, before anybody would have told
	}
}

// comeUpon marks a key as found by a scan. How long the pass before has been over
// is noted here: by the time the mark is settled, this pass may be.
func (t *tracker) comeUpon(key string, now time.Time) *mark {
	m := t.mark(key, now)
	if !m.found {
		m.found, m.within = true, t.sinceScan(now)
	}
	return m
}

// begin takes in a lock as a scan saw it, where nobody tells whether that was
// still so a moment later.
func (t *tracker) begin(m *mark) {
	if m == nil || m.lock == nil || t.rowOf(m.lock) != nil {
		return
	}
	w := &witness{at: m.first, source: ByPolling, rescan: true, within: m.within}
	t.enter(m.lock, diff(nil, m.lock, w), w)
}

// sinceScan is how long ago the pass before this one began, which did not see
// what this one does; 0 where there was none lately.
func (t *tracker) sinceScan(now time.Time) time.Duration {
	if since := now.Sub(t.scan.before); !t.scan.before.IsZero() && since < fresh {
		return since
	}
	return 0
}

// goneSince reports whether a key was found empty after a scan had seen a lock
// in it.
func (t *tracker) goneSince(l *Lock) bool {
	at, ok := t.read.absent[string(l.Key)]
	return ok && at.After(l.SampledAt)
}

// toldOf reports whether any change to a lock since it was read has been told,
// or will be; where nothing is told, it is looked at all the time.
func (t *tracker) toldOf(l *Lock) bool {
	f := &t.feeds
	return f.chosen && (f.cur == nil || f.single == nil && l.SampledAt.After(f.swapped) && t.covered(l))
}

// snap tells that a lock was there from the beginning, where that is wanted.
func (t *tracker) snap(l *Lock, now time.Time) {
	if !t.f.opt.Snapshot {
		return
	}
	e := about(l, WasThere)
	e.At, e.Source, e.TTL = now, t.status.Source, l.leftMS(now)
	if len(l.Holders) > 0 {
		e.Holder = who(l.Holders[0].ID)
	}
	if n := len(l.Holders); n > 1 {
		e.Note = fmt.Sprintf("and %d more hold it", n-1)
	}
	t.f.found = append(t.f.found, e)
}

// rowOf is the row of a lock; nil if it is not known.
func (t *tracker) rowOf(l *Lock) *row {
	for r := t.rows[string(l.Key)]; r != nil; r = r.next {
		if r.w.Field == l.Field && r.w.HasField == l.HasField {
			return r
		}
	}
	return nil
}
