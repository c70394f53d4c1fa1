package inspect

import (
	"context"
	"time"
)

// scanning is how a tracker finds locks: by one pass over all keys, and by
// others whenever keys have come or gone of which nothing told, at a small share
// of the time.
type scanning struct {
	walk     *Walk
	cancel   context.CancelFunc // of the pass that runs; nil: none does
	runID    string             // of the server when the pass began
	first    bool               // the first pass is through
	depth    Depth              // of the passes that nobody asks for
	deep     bool               // a deep pass is asked for
	asked    bool               // the pass that runs was
	wanted   bool               // another pass is wanted soon
	began    time.Time
	before   time.Time // when the pass before began, which was complete; zero: there was none
	ended    time.Time
	took     time.Duration
	sizeWas  int64 // when the last pass ended
	size     int64
	sizeNext time.Time
	sizing   bool
	retryAt  time.Time
	hintAt   time.Time
	sieve    *Walk // judges keys that were told of
	guess    *typeGuess
	ordinary ordinaryKeys
}

// keyCost is about what a key costs a polite scan.
const keyCost = 6 * time.Microsecond

// fresh is how long ago a pass may have begun so that what it did not see, and
// the next one does, counts as seen to begin.
const fresh = 5 * time.Second

// stop ends a pass where it is; it can go on later.
func (s *scanning) stop() {
	if s.cancel != nil {
		s.cancel()
	}
}

func (t *tracker) pause() {
	t.setPaused(true)
	t.scan.stop()
}

func (t *tracker) resume() { t.setPaused(false) }

func (t *tracker) rescanNow() {
	now := time.Now()
	t.scan.ordinary.forget()
	t.scan.wanted, t.scan.ended = true, time.Time{}
	t.rereadAll(now, "")
	if t.status.Reach == Lost {
		t.publish(func(s *NodeStatus) { s.RetryAt = now })
	}
}

func (t *tracker) deepen() {
	t.rescanNow()
	t.scan.deep = true
	t.scan.stop()
}

func (t *tracker) setPaused(paused bool) {
	t.f.mu.Lock()
	t.paused = paused
	t.f.bump()
	t.f.mu.Unlock()
}

// explore looks for locks that nobody told of.
func (t *tracker) explore(now time.Time, wake *earliest) {
	s := &t.scan
	t.askSize(now, wake)
	if s.cancel != nil || t.paused {
		return
	}
	switch {
	case s.walk != nil && !s.walk.Done() && s.runID == t.facts.runID && !s.deep: // go on
	case !s.first || s.walk == nil:
		t.newWalk()
	case s.wanted || s.size != s.sizeWas || now.Sub(s.ended) >= t.rescanEvery():
		soonest := s.ended.Add(max(rescanSoonest, rescanDuty*s.took))
		if now.Before(soonest) {
			wake.by(soonest)
			return
		}
		t.newWalk()
	default:
		wake.by(s.ended.Add(t.rescanEvery()))
		return
	}
	if now.Before(s.retryAt) {
		wake.by(s.retryAt)
		return
	}
	t.walkOn(now)
}

// rescanEvery is after what time another pass is begun though nothing hints at
// new locks. Where nobody tells of changes it is the only way to find them.
func (t *tracker) rescanEvery() time.Duration {
	if t.status.Source == ByPolling {
		return rescanSoonest
	}
	return rescanEvery
}

// newWalk begins another pass. Only the first goes at the operator's speed.
func (t *tracker) newWalk() {
	s := &t.scan
	q := t.f.q
	q.Depth = s.depth
	if s.first && q.Rate == 0 {
		q.Rate = -1
	}
	s.asked, s.deep = s.deep, false
	if s.asked {
		q.Depth, q.Rate = Deep, t.f.q.Rate
	}
	w := t.in.NewWalk(q)
	w.known, w.ordinary, w.catch = t.isKnown, s.ordinary.add, t.f.catch
	f := t.survey
	if s.first {
		f.keys = s.size
	} else {
		s.size = f.keys
	}
	w.surveyed = &f
	now := time.Now()
	w.unhinted = now.Before(s.hintAt)
	if !w.unhinted {
		s.hintAt = now.Add(rescanEvery / 2)
	}
	s.walk, s.runID, s.wanted = w, t.facts.runID, false
	s.sizeWas = s.size
	s.ordinary.tidy(now)
}

// isKnown reports whether a key needs no look by a scan.
func (t *tracker) isKnown(key string) bool {
	if t.scan.ordinary.has(key) {
		return true
	}
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	_, companion := t.companions[key]
	return companion || t.rows[key] != nil
}

// walkOn runs the pass beside the loop.
func (t *tracker) walkOn(now time.Time) {
	s := &t.scan
	ctx, cancel := context.WithCancel(t.ctx)
	s.cancel, s.began = cancel, now
	walk, first := s.walk, !s.first || s.asked
	t.publish(func(st *NodeStatus) { st.Scanning = first })
	t.side.Go(func() {
		defer t.f.catch()
		err := walk.Run(ctx, func(p Progress) bool {
			if ctx.Err() != nil {
				return false
			}
			t.report(func() { t.scanned(p, first) })
			return ctx.Err() == nil
		})
		t.report(func() { t.walked(err) })
	})
}

// scanned takes in one page. What the first pass comes upon, or one that looks
// closer than those before, was there all the while.
func (t *tracker) scanned(p Progress, first bool) {
	now := time.Now()
	t.answered(now)
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

// found takes in one lock that a scan came upon. Where changes are told, one that
// is new is looked at once more first: what was told of it is on its way.
func (t *tracker) found(l *Lock, first bool, now time.Time) {
	key := string(l.Key)
	switch r := t.rowOf(l); {
	case r != nil:
		if l.SampledAt.After(r.w.SampledAt) {
			t.mark(key, now)
		}
		return
	case t.goneSince(l), !first && t.status.Source != ByPolling:
		t.mark(key, now).found = true
		return
	}
	w := &witness{at: now, source: t.status.Source, rescan: true, within: t.sinceScan(now)}
	var events []Event
	if !first {
		events = diff(nil, l, w)
	}
	t.enter(l, events, w)
	if first {
		t.snap(l, now)
	}
	if !t.toldOf(l) {
		t.mark(key, now) // it may have changed since, before anybody would have told
	}
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

// walked ends a pass, or notes where it was interrupted.
func (t *tracker) walked(err error) {
	s := &t.scan
	s.cancel = nil
	now := time.Now()
	cov := s.walk.Coverage()
	if err != nil || !s.walk.Done() {
		s.retryAt = now.Add(pulse)
		if len(cov.Errors) > 0 && (!s.first || s.asked) {
			t.publish(func(st *NodeStatus) { st.Coverage = cov })
		}
		return
	}
	first := !s.first || s.asked
	if !s.asked {
		s.depth = cov.Depth
	}
	s.first, s.ended, s.before = true, now, s.began
	s.took = min(now.Sub(s.began), 50*time.Millisecond+time.Duration(s.size)*keyCost) // a server that hung meanwhile is no reason to wait
	t.publish(func(st *NodeStatus) {
		if !first { // what was found ordinary before is not counted again
			cov.PossibleHidden = st.Coverage.PossibleHidden
			if was := st.Coverage; cov.Refused == 0 && was.Refused > 0 {
				cov.Refused, cov.Errors, cov.Complete = was.Refused, was.Errors, was.Complete
			}
		}
		st.Coverage, st.Scanning = cov, false
		if s.asked {
			st.DeepAt = now
		}
	})
}

// askSize looks at how many keys there are: where that has changed, some came or
// went. It is also a sign of life.
func (t *tracker) askSize(now time.Time, wake *earliest) {
	s := &t.scan
	if s.sizing {
		return
	}
	if now.Before(s.sizeNext) {
		wake.by(s.sizeNext)
		return
	}
	s.sizing = true
	s.sizeNext = now.Add(sizePulse)
	if t.status.Source == ByPolling {
		s.sizeNext = now.Add(pulse)
	}
	t.asked(now)
	t.beside(func(ctx context.Context) func() {
		n, err := t.node.Client.DBSize(ctx).Result()
		return func() {
			s.sizing = false
			if err != nil {
				t.failed(err)
				return
			}
			t.answered(time.Now())
			t.sized(n)
		}
	})
}

// sized takes in how many keys there are. Notifications keep silent about a
// flush; that there are fewer keys than locks shows it.
func (t *tracker) sized(n int64) {
	t.scan.size = n
	if t.status.Source == ByNotification && n < int64(len(t.rows)) {
		t.rereadAll(time.Now(), "")
	}
}
