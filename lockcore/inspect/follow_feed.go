package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
)

// How feeds are kept.
const (
	rearmSoonest  = 200 * time.Millisecond
	rearmEvery    = time.Minute      // where nothing can be followed, it is tried again
	distrustFor   = 10 * time.Minute // a source that kept silent about a change
	strikesOut    = 2
	settingEvery  = 10 * time.Second // notifications may be switched off at any time
	floodRate     = 5000             // needless tidings a second, for floodSeconds
	floodSeconds  = 3
	feedMark      = "p"
	tellTolerance = time.Second // a change may be found a little before it is told
)

// feeding is how a tracker learns of changes.
type feeding struct {
	cur      *feed
	single   *redis.Client // reads that make the server track the keys read; nil: not so
	hold     *leash        // of single
	arming   bool
	chosen   bool // a source has been chosen once
	notifies bool // keyspace notifications come, all kinds of them
	swapped  time.Time
	covered  prefixSet
	lacking  bool      // a lock is known that no prefix covers
	armAt    time.Time // not before
	backoff  time.Duration
	lostAt   time.Time
	pinged   time.Time // an answer is awaited since then
	sure     time.Time // when it was last asked what it has answered
	pingAt   time.Time
	setAt    time.Time // when the notification setting is looked at next

	distrust map[Source]time.Time
	strikes  int
	needless int // tidings of keys that nobody wants, in this second
	flooded  int // seconds in a row
	floodAt  time.Time
	flooding bool
}

func (f *feeding) closeAll() {
	if f.cur != nil {
		f.cur.close()
	}
	if f.single != nil {
		f.hold.cutAll()
		_ = f.single.Close()
	}
	f.cur, f.single, f.pinged = nil, nil, time.Time{}
}

// may reports whether a source is allowed and trusted.
func (t *tracker) may(s Source, now time.Time) bool {
	return !slices.Contains(t.f.opt.Without, s) && now.After(t.feeds.distrust[s])
}

// follow keeps the best feed that the server allows.
func (t *tracker) follow(now time.Time, wake *earliest) {
	f := &t.feeds
	t.countFlood(now)
	if f.cur != nil {
		t.pingFeed(now, wake)
	}
	if (f.cur == nil || f.lacking) && !f.arming {
		if now.Before(f.armAt) {
			wake.by(f.armAt)
			return
		}
		t.arm(now)
	}
}

// pingFeed sees to it that a feed which died silently is noticed.
func (t *tracker) pingFeed(now time.Time, wake *earliest) {
	f := &t.feeds
	switch {
	case !f.pinged.IsZero() && now.Sub(f.pinged) > feedSilence:
		t.feedLost(now, errors.New("no answer for "+moment(now.Sub(f.pinged))))
		return
	case f.pinged.IsZero() && !now.Before(f.pingAt):
		f.pinged, f.pingAt = now, now.Add(pulse)
		if err := f.cur.ping(t.ctx, feedMark); err != nil {
			t.feedLost(now, err)
			return
		}
		t.asked(now)
	}
	wake.by(f.pingAt)
	if f.notifies && t.status.Source == ByNotification && !now.Before(f.setAt) {
		f.setAt = now.Add(settingEvery)
		t.beside(func(ctx context.Context) func() {
			level := notifications(ctx, t.node)
			return func() { t.checkSetting(level) }
		})
	}
}

// checkSetting gives notifications up when they were switched off.
func (t *tracker) checkSetting(level notifyLevel) {
	if level != t.level && t.feeds.cur != nil {
		t.level = level
		t.untold(true)
		t.feedLost(time.Now(), errors.New("notifications were switched off or cut down"))
	}
}

// armed takes a feed over, or learns that there is none.
func (t *tracker) armed(f *feed, single *redis.Client, hold *leash, covered prefixSet, err error) {
	fs := &t.feeds
	fs.arming = false
	now := time.Now()
	if t.status.Reach != Live && t.status.Reach != Late {
		late := feeding{cur: f, single: single, hold: hold}
		late.closeAll()
		return
	}
	if err != nil {
		fs.backoff = min(lastRetry, max(rearmSoonest, 2*fs.backoff))
		fs.armAt = now.Add(fs.backoff)
		if fs.cur == nil {
			t.choose(now, nil, nil, nil)
		}
		return
	}
	fs.backoff, fs.armAt = 0, now.Add(rearmSoonest)
	if f.tracks != nil && single == nil && f.notifies != nil {
		f.close()
		fs.armAt = now.Add(rearmEvery)
		t.choose(now, nil, nil, nil)
		return
	}
	old := feeding{cur: fs.cur, single: fs.single, hold: fs.hold}
	had, replaced := fs.covered, fs.cur != nil
	fs.single, fs.hold = single, hold
	t.choose(now, f, single, covered)
	old.closeAll()
	if replaced {
		t.catchUp(now, had)
	}
	for _, r := range t.list { // found while this feed was being opened
		fs.lacking = fs.lacking || !t.covered(&r.w.Lock)
	}
}

// catchUp reads again what the feed before did not tell of.
func (t *tracker) catchUp(now time.Time, had prefixSet) {
	for key := range t.rows {
		if t.feeds.single != nil || !had.covers(key) {
			t.mark(key, now)
		}
	}
}

// choose makes a feed the present one, or none, and says so.
func (t *tracker) choose(now time.Time, f *feed, single *redis.Client, covered prefixSet) {
	fs := &t.feeds
	untold := fs.cur == nil && f != nil // what changed since the last look, nobody told
	t.read.behind = ""
	fs.cur, fs.covered, fs.pinged, fs.pingAt, fs.swapped, fs.sure = f, covered, time.Time{}, now, now, now
	t.box.follow(f)
	source, words := ByPolling, "by polling"
	fs.notifies = false
	if f != nil {
		fs.notifies = f.notifies == nil && t.level == notifyAll
		switch {
		case f.tracks == nil && fs.notifies:
			source, words = ByTracking, "by tracking and notifications"
		case f.tracks == nil:
			source, words = ByTracking, "by tracking"
		case single != nil:
			source, words = ByTracking, "by tracking of each known lock"
		case fs.notifies:
			source, words = ByNotification, "by notifications"
		case f.notifies == nil:
			words = "by polling and some notifications"
		}
	}
	changed := fs.chosen && source != t.status.Source
	first := !fs.chosen
	fs.chosen = true
	why := ""
	if !fs.lostAt.IsZero() {
		why = "what told of changes was lost"
		if d := now.Sub(fs.lostAt); d >= 100*time.Millisecond {
			why = "nothing was told for " + moment(d)
		}
		fs.lostAt = time.Time{}
	}
	t.publish(func(s *NodeStatus) {
		if source != ByPolling && (untold || s.Source == ByPolling) {
			s.heardBefore, s.heard = s.heard, hearing{from: now}
		}
		s.Source, s.Following = source, words
	})
	if changed {
		t.f.mu.Lock()
		t.f.record(Event{
			At: now, Kind: SourceChanged, DB: t.node.DB, Node: t.node.Addr, Source: source,
			TTL: family.Gone, PrevTTL: family.Gone, Note: t.sourceNote(source, words),
		})
		t.f.mu.Unlock()
	}
	switch {
	case why != "":
		t.gap(now, why)
	case first || changed || untold:
		t.rereadAll(now, "")
	}
	t.read.pollAt = now
}

func (t *tracker) sourceNote(s Source, words string) string {
	if s == ByPolling {
		return "followed " + words + " now: what comes and goes between two looks is missed"
	}
	return "followed " + words + " now"
}

// untold notes that nothing is told from now on, and up to when all was: to what
// the feed has last answered. One that kept silent had told of nothing for sure.
func (t *tracker) untold(silent bool) {
	sure := t.feeds.sure
	t.publish(func(s *NodeStatus) {
		switch {
		case silent:
			s.heard.to, s.heardBefore = s.heard.from, hearing{}
		case s.Source != ByPolling && s.heard.to.IsZero():
			s.heard.to = sure
		}
	})
}

// feedLost drops a feed; the next one is asked for at once.
func (t *tracker) feedLost(now time.Time, err error) {
	t.feeds.lostAt = now
	if h := t.status.Heard; !h.IsZero() && !t.feeds.pinged.IsZero() {
		t.feeds.lostAt = h
	}
	t.untold(false)
	t.feeds.closeAll()
	t.box.follow(nil)
	t.trouble = err
	t.feeds.armAt = now
}

// strike notes that a change was found of which the feed kept silent. One that
// does so again is not believed for a while.
func (t *tracker) strike(now time.Time) {
	fs := &t.feeds
	fs.strikes++
	if fs.strikes < strikesOut || fs.cur == nil {
		return
	}
	fs.strikes = 0
	if fs.distrust == nil {
		fs.distrust = map[Source]time.Time{}
	}
	fs.distrust[t.status.Source] = now.Add(distrustFor)
	if fs.notifies { // they kept silent too
		fs.distrust[ByNotification] = now.Add(distrustFor)
	}
	t.untold(true)
	t.feedLost(now, errors.New("changes were not told"))
}

// countFlood sees whether a prefix covers much that is written all the time and
// is no lock: then only the known locks are tracked.
func (t *tracker) countFlood(now time.Time) {
	f := &t.feeds
	if now.Sub(f.floodAt) < time.Second {
		return
	}
	if f.needless > floodRate {
		f.flooded++
	} else {
		f.flooded = 0
	}
	f.needless, f.floodAt = 0, now
	if f.flooded >= floodSeconds && !f.flooding {
		f.flooding, f.lacking, f.armAt = true, true, now
	}
}
