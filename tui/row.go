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
// that draws both read it; a newer one takes its place.
type row struct {
	watched *inspect.Watched
	lock    *inspect.Lock // of watched
	id      string
	slot    int32     // its place in feed.slots
	since   time.Time // when this holder came; the zero time: it was there when the console looked first
	whole   int64     // the largest TTL seen of this holder, ms: the bar's full length
	before  string    // the holder before this one, where the console saw it
	gone    time.Time // when the server said that it is gone; zero while it is there
	// What the list needs of every row at every change, worked out once: the
	// row's name, and widths in cells.
	name                   string
	nameWidth, holderWidth uint16
	sited                  bool // others of its name may be on other nodes
}

// newRow is the row of a lock that was not on the screen. came says that it is
// known not to have been there before.
func newRow(w *inspect.Watched, came, sited bool) *row {
	r := &row{watched: w, lock: &w.Lock, id: rowID(&w.Lock), whole: lease(w), sited: sited}
	if came {
		r.since = w.FirstSeen
	}
	return r.dressed()
}

// next is the row after a new look at its lock.
func (r *row) next(w *inspect.Watched) *row {
	n := *r
	n.watched, n.lock, n.gone = w, &w.Lock, time.Time{}
	switch {
	case !r.gone.IsZero() || !w.FirstSeen.Equal(r.watched.FirstSeen):
		n.since, n.whole, n.before = w.FirstSeen, lease(w), r.lock.HolderWords()
	case !sameHolders(r.lock, n.lock): // of several, some came and went
		n.since, n.whole = w.SampledAt, max(r.whole, lease(w))
	default:
		n.whole = max(r.whole, lease(w))
	}
	return n.dressed()
}

// lost is the row of a lock that the server says is gone.
func (r *row) lost(at time.Time) *row {
	n := *r
	n.gone = at
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
