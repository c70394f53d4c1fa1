package inspect

import (
	"slices"
	"strings"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// open takes in what a feed told.
func (t *tracker) open(news told) {
	now := time.Now()
	if !news.heard.IsZero() {
		t.heard(news.heard)
	}
	if !news.flushed.IsZero() {
		t.flushed(news.flushed)
	}
	t.receipts(news.keys)
	for key, what := range news.keys {
		t.told(key, what)
	}
	if news.all {
		t.rereadAll(now, "more changes were told than could be kept")
		t.scan.wanted = true
	}
	for _, mark := range news.pongs { // last: an answer comes after all that was told before it
		if mark == feedMark {
			if at := t.feeds.pinged; !at.IsZero() {
				t.feeds.sure = at
			}
			t.feeds.pinged = time.Time{}
			t.answered(news.heard)
		} else {
			t.barrier(mark)
		}
	}
	if t.feeds.cur != nil && slices.Contains(news.failed, t.feeds.cur) {
		t.feedLost(now, news.why)
	}
}

// receipts notes what was done by this program, here or elsewhere: it leaves a
// receipt, or a note that an operator holds the lock. That comes in one step with
// the change of the lock's own key; the end of a receipt, a minute later, comes
// alone.
func (t *tracker) receipts(keys map[string]*tidings) {
	for key, what := range keys {
		if !isReceipt(key) {
			continue
		}
		lock, _, _ := strings.Cut(strings.TrimSuffix(key, holdMark), receiptMark)
		if bare := strings.TrimSuffix(strings.TrimPrefix(lock, "{"), "}"); t.rows[lock] == nil && t.rows[bare] != nil {
			lock = bare
		}
		if keys[lock] != nil || t.read.marks[lock] != nil || slices.Contains(what.names, toldSet) {
			t.force(lock, t.holdersAt(lock))
		}
	}
}

// told files what was told of one key: of a known lock, of one of its
// companions, or of a key that may be a new lock.
func (t *tracker) told(key string, what *tidings) {
	if isReceipt(key) {
		return
	}
	delete(t.read.doubts, key)
	if c, ok := t.companions[key]; ok && t.rows[key] == nil {
		t.mark(c.of, what.first).tell(what)
		return
	}
	if t.rows[key] == nil && !t.interesting(key) {
		t.feeds.needless++
		return
	}
	m := t.mark(key, what.first)
	m.tell(what)
	m.late = m.late || t.read.behind != ""
	m.names = append(m.names, what.names...)
	m.more = m.more || what.more
	if len(m.names) > namesKept {
		m.names, m.more = m.names[:namesKept], true
	}
}

// interesting reports whether a key that changed may be a lock that is not
// known yet.
func (t *tracker) interesting(key string) bool {
	if !matchAny(t.f.q.Match, key) || t.scan.ordinary.has(key) {
		return false
	}
	return t.status.Coverage.Depth == Deep || family.NameCandidate(key, t.in.own...)
}

// flushed is that a database was emptied, or, on a replica, that all was sent
// anew: every lock is looked at again.
func (t *tracker) flushed(at time.Time) {
	for key := range t.rows {
		t.mark(key, at).flushed = true
	}
	t.scan.wanted = true
	t.scan.ordinary.forget()
}

// act is something that this program did to a lock.
type act struct {
	at    time.Time
	of    []wire.Raw // whose hold it was about; nil: not known
	spent bool       // what it did was found
}

// about reports whether the act was about this holder's hold.
func (a *act) about(id wire.Raw) bool {
	return a != nil && (a.of == nil || slices.Contains(a.of, id))
}

// force notes that what becomes of these holders is by an act of ours.
func (t *tracker) force(key string, of []wire.Raw) {
	now := time.Now()
	for k, a := range t.read.forced {
		if now.Sub(a.at) > forcedFor {
			delete(t.read.forced, k)
		}
	}
	if t.read.forced == nil {
		t.read.forced = map[string]*act{}
	}
	t.read.forced[key] = &act{at: now, of: of}
	if t.rows[key] != nil {
		t.mark(key, now) // to be looked at; what the server tells of it is still to come
	}
}

// acted is force for who did it, which may come after its receipt was told, and
// after what it did was found.
func (t *tracker) acted(key string, of []wire.Raw) {
	if a := t.read.forced[key]; a == nil || time.Since(a.at) > forcedFor {
		t.force(key, of)
	}
}

// holdersAt are those who hold the locks at a key, as far as is known; nil where
// nobody is.
func (t *tracker) holdersAt(key string) []wire.Raw {
	var of []wire.Raw
	for r := t.rows[key]; r != nil; r = r.next {
		of = append(of, holderIDs(&r.w.Lock)...)
	}
	return of
}

func holderIDs(l *Lock) []wire.Raw {
	var of []wire.Raw
	for _, h := range held(l) {
		of = append(of, h.ID)
	}
	return of
}

// forcedFor is for how long an end may be put down to a release of ours.
const forcedFor = 2 * time.Second
