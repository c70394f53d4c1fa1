package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/tui/table"
)

// list is the first screen: every lock in a row.
type list struct {
	rows      []*row // those that show, in order
	all       []*row // the same without the filter
	filter    field
	texts     haystacks // what the filter looks through
	filtering bool      // the filter is being typed
	order     order
	reverse   bool
	wide      bool
	table     table.State
	moved     bool // the operator has moved the cursor
	height    int  // lines for rows
	// The widest key and holder, so that a wide screen wastes no room on them.
	keyWidth, holderWidth int
	frozen                time.Time // since when the rows stay as they are; zero while they live
}

func newList() list { return list{order: byAttention} }

// order is what the rows are sorted by.
type order int

const (
	byAttention order = iota // what needs a look first, then by key
	byKey
	byExpiry
	byHolder
	byFamily
	byFence
	byWaiters
)

// orders are the choices of the sort menu.
func orders() []string {
	return []string{"what needs a look first", "key", "when it expires", "holder", "family", "fencing token", "waiters"}
}

// sync puts the rows in order after anything has changed, and keeps the cursor
// on its lock.
func (l list) sync(m root) list {
	l.height = max(1, m.listHeight())
	if l.frozen.IsZero() {
		l.all = l.ordered(m.feed.slots)
	}
	l.rows, l.texts = l.filtered()
	l.keyWidth, l.holderWidth = 0, 0
	for _, r := range l.rows {
		l.keyWidth, l.holderWidth = max(l.keyWidth, int(r.nameWidth)), max(l.holderWidth, int(r.holderWidth))
	}
	l.table = l.table.Sync(tableRows{l.rows, nil}, l.height)
	return l
}

// ordered are the rows that belong on the screen, in order. Those that have not
// changed since before are in order already; the others are sorted and put
// between them, so that a hundred thousand rows cost no more than a look each.
func (l list) ordered(slots []*row) []*row {
	compare := l.compare
	kept := make([]*row, 0, len(slots))
	placed := make([]bool, len(slots))
	for _, b := range l.all {
		if int(b.slot) < len(slots) && slots[b.slot] == b {
			kept, placed[b.slot] = append(kept, b), true
		}
	}
	var moved []*row
	for i, r := range slots {
		if r != nil && !placed[i] {
			moved = append(moved, r)
		}
	}
	slices.SortFunc(moved, compare)
	if len(kept) == 0 {
		return moved
	}
	out := make([]*row, 0, len(kept)+len(moved))
	for _, r := range moved {
		i, _ := slices.BinarySearchFunc(kept, r, compare)
		out = append(append(out, kept[:i]...), r)
		kept = kept[i:]
	}
	return append(out, kept...)
}

// reorder puts all rows in order, after the order itself has changed.
func (l list) reorder() list {
	l.all = slices.SortedFunc(slices.Values(l.all), l.compare)
	return l
}

// compare orders two rows; equal rows stand by key, so that none jumps about.
func (l list) compare(a, b *row) int {
	c := l.order.compare(a, b)
	if l.reverse {
		c = -c
	}
	return cmp.Or(c, strings.Compare(a.id, b.id))
}

func (o order) compare(a, b *row) int {
	switch o {
	case byExpiry:
		return cmp.Compare(expiryRank(a), expiryRank(b))
	case byHolder:
		return strings.Compare(holderText(a.lock), holderText(b.lock))
	case byFamily:
		return strings.Compare(a.lock.Family, b.lock.Family)
	case byFence:
		return cmp.Or(cmp.Compare(len(a.lock.Fence), len(b.lock.Fence)), strings.Compare(a.lock.Fence, b.lock.Fence))
	case byWaiters:
		return cmp.Compare(waiterCount(b), waiterCount(a))
	case byKey:
		return strings.Compare(a.id, b.id)
	}
	return cmp.Compare(attention(a), attention(b))
}

// expiryRank sorts by the deadline; what has none stands behind all that have.
func expiryRank(r *row) int64 {
	if r.lock.Deadline.IsZero() || r.lock.TTL >= practicallyForever {
		return 1 << 62
	}
	return r.lock.Deadline.UnixMilli()
}

func waiterCount(r *row) int64 {
	if r.lock.Waiters == nil {
		return -1
	}
	return r.lock.Waiters.Count
}

// attention puts the rows with a warning before the others.
func attention(r *row) int {
	if flagged(r) {
		return 0
	}
	return 1
}

// flagged reports whether an operator should look at a lock: it has a warning,
// or its library takes it for free already.
func flagged(r *row) bool { return len(r.lock.Warnings) > 0 || r.lock.State == family.Lapsed }

// current is the row under the cursor.
func (l list) current() (*row, bool) {
	if len(l.rows) == 0 {
		return nil, false
	}
	return l.rows[l.table.Cursor()], true
}

// listKey does what a key means on the list.
func (m root) listKey(id keymap.ID) (root, tea.Cmd) {
	l := &m.list
	if l.filtering {
		return m.filterKey(id), nil
	}
	switch id {
	case keymap.Filter:
		l.filtering = true
	case keymap.ClearFilter:
		l.filter = field{}
	case keymap.SortMenu:
		m.sort.choice = int(l.order)
		return m.open(atSort), nil
	case keymap.SortReverse:
		l.reverse = !l.reverse
		m.list = l.reorder()
	case keymap.Wide:
		l.wide = !l.wide
	case keymap.Freeze:
		m = m.freeze()
	case keymap.Refresh:
		return m.askNow()
	case keymap.ScanPause:
		return m.pauseScan()
	case keymap.ScanDeep:
		return m.scanDeep()
	case keymap.Mark, keymap.Unmark:
		return m.markKey(id), nil
	case keymap.OpenDetail, keymap.OpenRelease, keymap.Copy, keymap.CopyCommands:
		return m.rowKey(id)
	case keymap.OpenEvents:
		m.events = eventsScreen{}
		return m.open(atEvents), nil
	case keymap.OpenLab:
		return m.openLab()
	default:
		l.table, l.moved = moved(l.table, id, tableRows{l.rows, nil}, l.height), true
		return m, nil
	}
	m.list = m.list.sync(m)
	return m, nil
}

func (m root) filterKey(id keymap.ID) root {
	if id == keymap.Abandon {
		m.list.filter = field{}
	}
	m.list.filtering = false
	m.list = m.list.sync(m)
	return m
}

// rowKey does what a key means for the lock under the cursor.
func (m root) rowKey(id keymap.ID) (root, tea.Cmd) {
	if id == keymap.OpenRelease && len(m.marks) > 0 {
		return m.openBulk()
	}
	r, ok := m.list.current()
	if !ok {
		return m.say(fine, "there is no lock here to choose"), nil
	}
	switch id {
	case keymap.OpenDetail:
		return m.openDetail(r)
	case keymap.OpenRelease:
		return m.openRelease(r)
	case keymap.CopyCommands:
		return m.copyCommands(r)
	}
	return m, m.copyKey(r)
}

// moved moves a cursor.
func moved(s table.State, id keymap.ID, rows table.Rows, height int) table.State {
	switch id {
	case keymap.Up:
		return s.Move(rows, -1, height)
	case keymap.Down:
		return s.Move(rows, 1, height)
	case keymap.PageUp:
		return s.Move(rows, -height, height)
	case keymap.PageDown:
		return s.Move(rows, height, height)
	case keymap.HalfUp:
		return s.Move(rows, -height/2, height)
	case keymap.HalfDown:
		return s.Move(rows, height/2, height)
	case keymap.Top:
		return s.To(rows, 0, height)
	case keymap.Bottom:
		return s.To(rows, rows.Len()-1, height)
	}
	return s
}

// freeze holds the screen still, or lets it go on. Facts are gathered all the
// while.
func (m root) freeze() root {
	if !m.list.frozen.IsZero() {
		m.list.frozen = time.Time{}
		return m
	}
	m.list.frozen = m.now
	return m
}

// askNow has all known locks looked at, and the keys walked over again; a server
// that is lost is tried at once.
func (m root) askNow() (root, tea.Cmd) {
	return m.say(fine, "asking again: the locks that are known, then all keys"), m.tell((*inspect.Follower).Rescan)
}

// pauseScan stops the search for new locks where it is, or lets it go on.
func (m root) pauseScan() (root, tea.Cmd) {
	if m.feed.view.Paused {
		return m.say(fine, "the search for new locks goes on"), m.tell((*inspect.Follower).Resume)
	}
	return m.say(fine, "the search for new locks stops here; the locks that are known are followed on"), m.tell((*inspect.Follower).Pause)
}

// scanDeep has the shape of every key looked at, once.
func (m root) scanDeep() (root, tea.Cmd) {
	return m.say(fine, "looking at the shape of every key once, whatever its name"), m.tell(func(f *inspect.Follower) {
		f.Resume()
		f.Deepen()
	})
}
