package tui

import (
	"slices"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

// row is one lock on the screen: what the Follower knows of it, and what the
// screen adds. It does not change, for the goroutine that follows and the one
// that draws both read it; a newer one takes its place. There may be a hundred
// thousand, so what few of them have stands apart.
type row struct {
	watched *inspect.Watched
	lock    *inspect.Lock // of watched
	id      string
	whole   int64  // the largest TTL seen of this holder, ms: the bar's full length
	past    *past  // what was seen to happen to it; nil: nothing
	name    string // it and the widths are worked out once: every change of the list needs them of every row
	slot    int32  // its place in feed.slots

	nameWidth, holderWidth uint16 // cells
	sited                  bool   // others of its name may be on other nodes
}

// past is what was seen to happen to a lock.
type past struct {
	came   time.Time // when this holder came; zero: it was there when the console looked first
	before string    // the holder before this one
	gone   time.Time // when the server said that it is gone; zero while it is there
}

// cameAt is when this holder was seen to come; the zero time: it was there when
// the console looked first.
func (r *row) cameAt() time.Time { return r.seen().came }

// goneAt is when the server said that the lock is gone; zero while it is there.
func (r *row) goneAt() time.Time { return r.seen().gone }

// holderBefore is who held it before, where the console saw that.
func (r *row) holderBefore() string { return r.seen().before }

func (r *row) seen() past {
	if r.past == nil {
		return past{}
	}
	return *r.past
}

// newRow is the row of a lock that was not on the screen. came says that it is
// known not to have been there before.
func newRow(w *inspect.Watched, came, sited bool) *row {
	r := &row{watched: w, lock: &w.Lock, id: rowID(&w.Lock), whole: lease(w), sited: sited}
	if came {
		r.past = &past{came: w.FirstSeen}
	}
	return r.dressed()
}

// next is the row after a new look at its lock.
func (r *row) next(w *inspect.Watched) *row {
	n := *r
	n.watched, n.lock = w, &w.Lock
	switch {
	case !r.goneAt().IsZero() || !w.FirstSeen.Equal(r.watched.FirstSeen):
		n.past, n.whole = &past{came: w.FirstSeen, before: r.lock.HolderWords()}, lease(w)
	case !sameHolders(r.lock, n.lock): // of several, some came and went
		n.past, n.whole = &past{came: w.SampledAt, before: r.holderBefore()}, max(r.whole, lease(w))
	default:
		n.whole = max(r.whole, lease(w))
	}
	return n.dressed()
}

// lost is the row of a lock that the server says is gone.
func (r *row) lost(at time.Time) *row {
	n, p := *r, r.seen()
	p.gone = at
	n.past = &p
	return &n
}

// lease is the longest time that a lock's holder is known to have been given, in
// milliseconds.
func lease(w *inspect.Watched) int64 {
	if w.Beat == nil {
		return w.TTL
	}
	return max(w.TTL, w.Beat.Lease.Milliseconds())
}

// widest is the width from which a cell takes all the room that there is.
const widest = 1 << 10

// dressed fills in what is worked out once.
func (r *row) dressed() *row {
	r.name = nameOf(r.lock)
	if r.sited {
		r.name += " @" + wire.Clean(r.lock.Node)
	}
	r.nameWidth = uint16(min(theme.Width(r.name), widest))
	r.holderWidth = uint16(min(theme.Width(holderCell(r.lock, theme.Glyphs{}, widest)), widest))
	return r
}

// sameHolders reports whether a lock is held by the same acquisitions, as far as
// ids and the fencing token tell.
func sameHolders(a, b *inspect.Lock) bool {
	same := func(x, y family.Holder) bool { return x.ID == y.ID && x.Mode == y.Mode }
	if a.Fence != b.Fence || len(a.Holders) != len(b.Holders) {
		return false
	}
	return slices.EqualFunc(a.Holders, b.Holders, same) || slices.EqualFunc(sortedHolders(a), sortedHolders(b), same)
}

func sortedHolders(l *inspect.Lock) []family.Holder {
	return slices.SortedFunc(slices.Values(l.Holders), func(a, b family.Holder) int {
		if a.ID != b.ID {
			return map[bool]int{true: -1, false: 1}[a.ID < b.ID]
		}
		return map[bool]int{true: -1, false: 1}[a.Mode < b.Mode]
	})
}

// rowID names a row for ever: RowID, and the node where several are looked at.
func rowID(l *inspect.Lock) string { return l.Node + "/" + l.RowID() }
