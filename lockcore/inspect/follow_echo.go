package inspect

import (
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
)

// What is told of a key at which there was no lock before and is none now may be
// a lock that was taken and given up between two looks. It may also be an end
// that was found before it was told, or the end of a key that outlived its lock.
// The last two are known, so that the first is only said where nothing else is.

// companion is a key that belongs to a lock.
type companion struct {
	of   string    // the lock's main key
	ends time.Time // when its own TTL is over; zero: not known, or never
}

// companionEnds is when a companion's own TTL is over, by the look that found it.
func (l *Lock) companionEnds(key string) time.Time {
	if l.source == nil {
		return time.Time{}
	}
	sm := l.facts.Keys[key]
	if sm == nil || sm.PTTL < 0 {
		return time.Time{}
	}
	return deadlineAfter(l.SampledAt, sm.PTTL)
}

// outlived notes when the keys end that were looked at and are no lock (any more).
func (l *looked) outlived(samples []dated) {
	if len(l.locks) >= len(samples) {
		return
	}
	locks := make(map[string]bool, len(l.locks))
	for i := range l.locks {
		locks[string(l.locks[i].Key)] = true
	}
	for _, sm := range samples {
		if !sm.known() || sm.PTTL < 0 || locks[sm.Key] {
			continue
		}
		if l.ends == nil {
			l.ends = map[string]time.Time{}
		}
		l.ends[sm.Key] = deadlineAfter(sm.when.middle(), sm.PTTL)
	}
}

// missed is a key that the feed said had changed, and that is as it was.
func (t *tracker) missed(key string, m *mark, w *witness) {
	if t.rows[key] != nil || !family.NameCandidate(key, t.in.own...) || family.NamePart(key) {
		return // it changed and is as it was, or no lock has such a name
	}
	if slices.Contains(w.told, "rpush") || slices.Contains(w.told, "lpush") {
		return // a list, which beside locks is a queue or a signal
	}
	if len(w.told) > 0 && w.whole {
		t.f.record(diff(nil, nil, w)...)
		return
	}
	if !m.tracked || len(w.told) == 0 && t.feeds.notifies {
		return // what notifications tell of it comes first, and has been taken in
	}
	if at, ok := t.read.echoes[key]; ok && w.at.Sub(at) < tellTolerance {
		return // its end was found before it was told
	}
	if t.expired(key, w.end()) {
		return
	}
	t.echo(key, w.at)
	e := about(w.key, FeedGap)
	e.At, e.Source, e.Inferred, e.Note = w.at, w.source, true, "taken and given up between two looks: its holder was not seen"
	t.f.record(e)
}

// ended notes that a lock was found gone. What was told of it may have been a change
// before that, and the end is told in a moment.
func (t *tracker) ended(key string, w *witness) {
	if w.touched {
		t.echo(key, time.Now().Add(endTolerance-tellTolerance))
	} else {
		t.echo(key, w.at)
	}
}

// endTolerance is how much later than a look the end may be told that it saw, on a
// connection that tells.
const endTolerance = 50 * time.Millisecond

// echo notes that a key was found gone before that was told.
func (t *tracker) echo(key string, at time.Time) {
	note(&t.read.echoes, key, at, at.Add(-tellTolerance))
}

// survives notes that a key may still be there though its lock is gone.
func (t *tracker) survives(key string, ends, now time.Time) {
	if late := now.Add(-lateExpiry); ends.After(late) {
		note(&t.read.outlive, key, ends, late)
	}
}

// expired reports whether a key whose lock was gone before is gone now, as its
// TTL said, and forgets it then: only one end is explained by that.
func (t *tracker) expired(key string, told time.Time) bool {
	ends, ok := t.read.outlive[key]
	if !ok || told.Before(ends.Add(-earlyExpiry)) {
		return false
	}
	delete(t.read.outlive, key)
	return told.Before(ends.Add(lateExpiry))
}

// When an expiry is told, beside the moment that a look gave for it: a look may be
// off by half of its way to the server, and a server comes late to what nobody
// asks for.
const (
	earlyExpiry = 50 * time.Millisecond
	lateExpiry  = 10 * time.Second
)

// note puts a moment beside a key, in a map that is bounded: what is before old is
// dropped, and where that is not enough, anything.
func note(m *map[string]time.Time, key string, at, old time.Time) {
	if *m == nil {
		*m = map[string]time.Time{}
	}
	if len(*m) > keysKept/10 {
		for k, then := range *m {
			if then.Before(old) || len(*m) > keysKept/5 {
				delete(*m, k)
			}
		}
	}
	(*m)[key] = at
}
