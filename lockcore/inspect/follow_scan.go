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
	case s.walk != nil && !s.walk.Done() && s.runID == t.counts.facts.runID && !s.deep: // go on
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
	s.walk, s.runID, s.wanted = w, t.counts.facts.runID, false
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
