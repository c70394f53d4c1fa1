package inspect

import (
	"cmp"
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// mostTries is how often a look is repeated because changes came in between.
const mostTries = 4

// settle compares what a job found with what was known. complete says that all
// notifications of what happened before the look have come.
func (t *tracker) settle(job *readJob, complete bool) {
	r := &t.read
	r.job = nil
	now := time.Now()
	r.nextAt = now.Add(max(readRest, readDuty*job.done.Sub(job.began)))
	if len(job.locks) > 0 {
		t.clock.learn(&job.locks[0])
	}
	t.tally(job.counts, now)
	byKey, away := map[string][]*Lock{}, map[string]string{}
	for i := range job.locks {
		l := &job.locks[i]
		if l.Node != t.node.Addr { // its slot is another node's
			away[string(l.Key)] = l.Node
			t.handOver(l)
			continue
		}
		byKey[string(l.Key)] = once(byKey[string(l.Key)], l)
	}
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	for _, key := range job.keys {
		m := job.marks[key]
		if why := job.unread[key]; why != "" {
			t.unread(key, why, now)
			delete(byKey, key)
			continue
		}
		if to := away[key]; to != "" && t.rows[key] != nil {
			if m == nil {
				m = &mark{}
			}
			m.gap = "its slot was moved to " + to
		}
		switch {
		case complete && m != nil && m.tries < mostTries && t.stirred(key, m):
			m.tries++
			t.merge(key, m) // something happened while we looked: look again
		case len(byKey[key]) == 0 && t.ahead(key, m):
			again := t.mark(key, now)
			again.tries++ // why it is gone is on its way: look again
		default:
			t.settleKey(job, key, byKey[key], m, complete)
		}
		delete(byKey, key)
	}
	for key, locks := range byKey { // met by a companion
		if t.rows[key] != nil {
			t.mark(key, now) // what was told of its own key is perhaps on its way: a look of its own waits for that
			continue
		}
		t.settleKey(job, key, locks, nil, false)
	}
	t.status.Offset, t.status.OffsetRTT, t.status.OffsetKnown = t.clock.best()
	t.f.bump()
	t.due.tidy(len(t.list))
}

// once adds a lock to those at its key. One job may meet a lock twice, by its key
// and by a companion: what was read last counts.
func once(locks []*Lock, l *Lock) []*Lock {
	i := slices.IndexFunc(locks, func(x *Lock) bool { return x.Field == l.Field && x.HasField == l.HasField })
	switch {
	case i < 0:
		return append(locks, l)
	case l.SampledAt.After(locks[i].SampledAt):
		locks[i] = l
	}
	return locks
}

// unread notes that what is at a key is not known: its rows stay as they were,
// with the age of their facts, and are looked at again after a while.
func (t *tracker) unread(key, why string, now time.Time) {
	for r := t.rows[key]; r != nil; r = r.next {
		if r.w.Unread != why {
			same := *r.w
			same.Unread = why
			r.w = &same
		}
		t.due.again(r, now.Add(unreadRest))
	}
}

// unreadRest is after what time a key is tried again that could not be read.
const unreadRest = 2 * time.Second

// ahead reports whether a look that found a lock gone came before what is told of
// that: by tracking, a flush is told on another connection than the one that looks.
func (t *tracker) ahead(key string, m *mark) bool {
	if t.status.Source != ByTracking || t.feeds.notifies || t.rows[key] == nil {
		return false
	}
	return m != nil && !m.tracked && !m.flushed && !m.zero && m.gap == "" && m.tries == 0
}

// stirred reports whether more was told of a key since it was read, so that what
// was found there cannot be put in order with what was told. Renewals can: each
// counts, whether it came before the look or after.
func (t *tracker) stirred(key string, told *mark) bool {
	m := t.read.marks[key]
	return m != nil && len(m.names) > 0 && !(len(told.names) > 0 && onlyRenewals(told.names) && onlyRenewals(m.names))
}

// settleKey compares the locks at one key with those that were known there.
func (t *tracker) settleKey(job *readJob, key string, locks []*Lock, m *mark, complete bool) {
	t.begin(m)
	w := t.witness(job, key, m, complete)
	quiet := true
	if len(locks) == 0 && t.scan.cancel != nil {
		t.empty(key, job.began)
	}
	if ends, there := job.ends[key]; there && len(locks) == 0 {
		t.survives(key, ends, job.done)
	}
	for r := t.rows[key]; r != nil; {
		next := r.next
		i := slices.IndexFunc(locks, func(l *Lock) bool { return l.Field == r.w.Field && l.HasField == r.w.HasField })
		var cur *Lock
		if i >= 0 {
			cur = locks[i]
			locks = slices.Delete(locks, i, i+1)
		}
		quiet = !t.change(r, cur, w) && quiet
		r = next
	}
	for _, l := range locks {
		t.enter(l, diff(nil, l, w), w)
		quiet = false
	}
	if w.forced != nil && !quiet {
		w.forced.spent = true
	}
	if quiet && m != nil {
		t.missed(key, m, w)
	}
}

// witness is under which circumstances a job found what it did.
func (t *tracker) witness(job *readJob, key string, m *mark, complete bool) *witness {
	w := &witness{at: job.done, source: t.status.Source}
	if r := t.rows[key]; r != nil {
		w.evicted = t.maybeEvicted(job, r, m)
		if t.status.Source != ByTracking { // which tells of it
			w.emptied, w.perhaps = t.counts.flushes.ended(r.w)
		}
	}
	w.key = &Lock{DB: t.node.DB, Node: t.node.Addr, Key: wire.Raw(key), State: family.Free}
	if a := t.read.forced[key]; a != nil && !a.spent && job.done.Sub(a.at) < forcedFor {
		w.forced = a
	}
	if job.held[key] {
		w.hold = true
		w.forced = cmp.Or(w.forced, &act{at: job.done})
	}
	if m == nil {
		return w
	}
	w.touched, w.flushed, w.gap, w.seen = m.tracked, m.flushed, m.gap, m.seen
	if next := t.read.marks[key]; next != nil && len(next.names) > 0 {
		next.seen, w.ahead = true, true
	}
	switch {
	case m.tracked:
		w.at, w.last = m.first, m.last
	case m.found:
		w.rescan, w.within = true, m.within
	}
	if len(m.names) > 0 {
		w.told, w.source = m.names, ByNotification
		w.whole = complete && !m.more && !m.late && m.gap == "" && !m.flushed && m.tries < mostTries && m.first.After(t.feeds.swapped)
	}
	return w
}

// onlyRenewals reports whether nothing but renewals was told.
func onlyRenewals(told []string) bool {
	return !slices.ContainsFunc(told, func(name string) bool { return name != toldExpire })
}

// change replaces what is known of a lock; false where nothing happened to it.
func (t *tracker) change(r *row, cur *Lock, w *witness) bool {
	prev := &r.w.Lock
	if cur != nil {
		lastBeat(prev, cur)
	}
	events := diff(prev, cur, w)
	t.judge(string(prev.Key), events, w)
	t.pasts.ended(r.w, cur, events)
	if cur == nil {
		t.pasts.note(events, nil, t.pasts.lints(&Watched{Lock: *prev}, w.at))
		t.f.record(events...)
		t.ghost(string(prev.Key), w.at)
		t.ended(string(prev.Key), w)
		for _, c := range prev.Companions { // they went with it, and nobody told yet, or go later
			t.echo(string(c), w.at)
			t.survives(string(c), t.companions[string(c)].ends, w.at)
		}
		t.remove(r)
		return true
	}
	next := t.watched(r, cur, events, w)
	t.pasts.warn(next, w.at)
	t.pasts.note(events, r.w.Warnings, next.Warnings)
	t.f.record(events...)
	t.adopt(r, next)
	return len(events) > 0
}

// watched is what is known of a lock after a look: under the same holder,
// what was learned of it goes on.
func (t *tracker) watched(r *row, cur *Lock, events []Event, w *witness) *Watched {
	old := r.w
	next := &Watched{Lock: *cur, Seat: &r.seat,
		FirstSeen: old.FirstSeen, Began: old.Began, Beat: old.Beat, Missed: old.Missed, IdleBefore: old.IdleBefore}
	if !sameHold(&old.Lock, cur) || slices.ContainsFunc(events, func(e Event) bool { return e.Kind.begins() }) && len(cur.Holders) == 1 {
		r.learn = nil
		next.FirstSeen, next.Began, next.Beat, next.Missed, next.IdleBefore = w.at, false, nil, false, 0
		for _, e := range events {
			next.Began = next.Began || e.Kind.begins() && !e.Inferred
		}
		return next
	}
	next.Missed = next.Missed || w.gap != ""
	renewals := 0
	for _, e := range events {
		if e.Kind == WasRenewed {
			renewals++
		}
	}
	switch {
	case renewals == 0:
		steady(&old.Lock, &next.Lock)
		return next
	case slices.ContainsFunc(holderIDs(cur), w.forced.about):
		return next // an operator set its time: that is no sign of its holder
	}
	t.beat(r, &old.Lock, cur, renewals, w)
	beat := r.learn.beat
	next.Beat = &beat
	return next
}

// begins reports whether a holder's hold begins with such an event.
func (k EventKind) begins() bool {
	return k == WasAcquired || k == HandedOver || k == Overwritten || k == OperatorHolds
}

// sameHold reports whether the same holders hold a lock.
func sameHold(a, b *Lock) bool {
	x, y := held(a), held(b)
	if len(x) != len(y) {
		return len(x) > 1 && len(y) > 1 // of many, some come and go
	}
	for i := range x {
		if !slices.ContainsFunc(y, func(h family.Holder) bool { return sameHolder(h, x[i]) }) {
			return len(x) > 1
		}
	}
	return true
}

// beat teaches the rhythm what a look found.
func (t *tracker) beat(r *row, prev, cur *Lock, renewals int, w *witness) {
	if r.learn == nil {
		r.learn = &rhythm{}
	}
	before, _ := prev.ends()
	after, _ := cur.ends()
	seen := time.Time{}
	if w.touched {
		seen = w.at
	}
	for i := range renewals { // several between two looks: evenly, as far as anybody knows
		step := after.Sub(before) / time.Duration(renewals-i)
		last := before.Add(step)
		if i == renewals-1 {
			last = after
		}
		r.learn.renewed(before, last, cur.SampledAt.Add(last.Sub(after)), later(seen, last.Sub(after)), cur.SampledAt.Sub(prev.SampledAt))
		before = last
	}
}

// later moves a moment, where there is one.
func later(at time.Time, d time.Duration) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(d)
}

// steady keeps a deadline from twitching: two looks at one lease are two
// measurements of one moment, which lies where both allow it to.
func steady(prev, cur *Lock) {
	a, ok1 := prev.ends()
	b, ok2 := cur.ends()
	if !ok1 || !ok2 || slices.ContainsFunc(cur.Holders, func(h family.Holder) bool { return h.HasTTL }) {
		return // what holders have of their own is as unsure as this look
	}
	drift := max(0, cur.SampledAt.Sub(prev.SampledAt)) / 10_000
	ua, ub := prev.Uncertainty+time.Millisecond+drift, cur.Uncertainty+time.Millisecond
	from, to := a.Add(-ua), a.Add(ua)
	if lo := b.Add(-ub); lo.After(from) {
		from = lo
	}
	if hi := b.Add(ub); hi.Before(to) {
		to = hi
	}
	if to.Before(from) {
		return // they disagree: the newer one counts
	}
	cur.Deadline = from.Add(to.Sub(from) / 2)
	cur.Uncertainty = max(0, to.Sub(from)/2-time.Millisecond)
}
