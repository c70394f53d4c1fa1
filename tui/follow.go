package tui

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
)

const (
	// newsEvery is the least time between two messages of what is new: nobody reads
	// faster, and each draws the screen.
	newsEvery = 80 * time.Millisecond
	// lookAgain is after what time the rows are put in order though nothing is new:
	// those that are gone leave the screen.
	lookAgain = 500 * time.Millisecond
	// goneShown is for how long a lock that is gone is shown as gone.
	goneShown = 4 * time.Second
)

// following makes rows of what a Follower knows. What it keeps from one time to
// the next belongs to the one command that waits for news: the model only starts
// that command, and gets its messages.
type following struct {
	f      *inspect.Follower
	told   time.Time     // when the last message was sent
	view   *inspect.View // of the last message
	quiet  bool          // that view was of a time when no pass was under way
	slots  []*row        // every row by its slot; nil: the slot is free
	seen   []uint64      // by slot: in which round its lock was last there
	free   []int32
	round  uint64
	leaves int // rows that are gone and still shown
	sited  bool
	dirty  bool   // rows have changed since the last message
	sent   []*row // the slots of the last message
}

// follow begins to follow the locks that the console is for.
func follow(ctx context.Context, o *Options) *following {
	f := o.Inspector.Follow(ctx, o.Query, inspect.FollowOptions{Crash: o.Crash.Report})
	return &following{f: f, sited: sited(o.Inspector.Nodes())}
}

// sited reports whether one key may be on several nodes, as where independent
// masters make up one lock; in a Cluster each is on one.
func sited(nodes []inspect.Node) bool {
	return slices.ContainsFunc(nodes, func(n inspect.Node) bool { return !n.Cluster && n.Addr != nodes[0].Addr })
}

// stop ends the following; it takes well under a second, whatever the servers do.
func (fw *following) stop() {
	if fw != nil {
		fw.f.Stop()
	}
}

// newsMsg is what a Follower knows, and what happened since the last one.
type newsMsg struct {
	view    *inspect.View
	slots   []*row          // all rows, in no order that means anything; some are nil
	changed bool            // they are others than in the last message
	events  []inspect.Event // oldest first
	lost    uint64          // events that came too fast
	at      time.Time
}

// await waits for news. There is only ever one of these commands under way.
func (m root) await() tea.Cmd {
	fw, ctx := m.following, m.ctx
	if fw == nil {
		return nil
	}
	return func() tea.Msg {
		for {
			if !fw.wait(ctx) {
				return nil
			}
			if news, ok := fw.news(time.Now()); ok {
				return news
			}
		}
	}
}

// wait returns when there may be something to show, and false at the end.
func (fw *following) wait(ctx context.Context) bool {
	select {
	case <-fw.f.Changed():
	case <-time.After(lookAgain):
	case <-ctx.Done():
		return false
	}
	if rest := newsEvery - time.Since(fw.told); rest > 0 {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// news is what the Follower knows now; false where nothing is new.
func (fw *following) news(now time.Time) (newsMsg, bool) {
	events, lost := fw.f.Drain()
	v := fw.f.View()
	if v == fw.view && len(events) == 0 && fw.leaves == 0 {
		return newsMsg{}, false
	}
	fw.take(v, now)
	changed := fw.dirty
	if changed {
		fw.sent, fw.dirty = slices.Clone(fw.slots), false
	}
	fw.told = time.Now()
	return newsMsg{view: v, slots: fw.sent, changed: changed, events: events, lost: lost, at: now}, true
}

// take makes the rows those of a view. A fact that is the same pointer as before
// has not changed, so most rows cost one look at their slot.
func (fw *following) take(v *inspect.View, now time.Time) {
	fw.round++
	// What a pass comes upon was there before the console looked; what is new
	// while none is under way has come.
	quiet := passed(v)
	came := quiet && fw.quiet && v.DeepAt.Equal(fw.view.DeepAt) // a deep pass may begin and end between two views
	var unseated []*inspect.Watched
	for _, w := range v.Rows {
		if w.Seat == nil || w.Seat.N == 0 {
			unseated = append(unseated, w)
			continue
		}
		fw.look(fw.slots[w.Seat.N-1], w)
	}
	fw.seat(unseated, came)
	fw.view, fw.quiet = v, quiet
	fw.leave(now)
}

// look notes that a row's lock is there, and as it was found.
func (fw *following) look(r *row, w *inspect.Watched) {
	fw.seen[r.slot] = fw.round
	if r.watched == w && r.goneAt().IsZero() {
		return
	}
	fw.slots[r.slot], fw.dirty = r.next(w), true
}

// seat gives rows to locks that have none: one that went and came again gets
// what is left of its row, so that it is known who had it before.
func (fw *following) seat(locks []*inspect.Watched, came bool) {
	if len(locks) == 0 {
		return
	}
	left := map[string]*row{}
	for i, r := range fw.slots {
		if r != nil && fw.seen[i] != fw.round {
			left[r.id] = r
		}
	}
	for _, w := range locks {
		r := left[rowID(&w.Lock)]
		if r == nil {
			r = newRow(w, came || w.Began, fw.sited)
			r.slot = fw.slot()
			fw.slots[r.slot], fw.dirty = r, true
		}
		fw.look(r, w)
		if w.Seat != nil {
			w.Seat.N = r.slot + 1
		}
	}
}

// leave shows the locks that were not there as gone, and lets them leave after a
// while.
func (fw *following) leave(now time.Time) {
	fw.leaves = 0
	for i, r := range fw.slots {
		if r == nil || fw.seen[i] == fw.round {
			continue
		}
		if r.goneAt().IsZero() {
			r = r.lost(now)
			fw.slots[i], fw.dirty = r, true
		}
		if now.Sub(r.goneAt()) < goneShown {
			fw.leaves++
			continue
		}
		if seat := r.watched.Seat; seat != nil {
			seat.N = 0
		}
		fw.slots[i], fw.dirty = nil, true
		fw.free = append(fw.free, int32(i))
	}
}

// slot is a place for one more row.
func (fw *following) slot() int32 {
	if n := len(fw.free); n > 0 {
		i := fw.free[n-1]
		fw.free = fw.free[:n-1]
		return i
	}
	fw.slots, fw.seen = append(fw.slots, nil), append(fw.seen, 0)
	return int32(len(fw.slots) - 1)
}

// tell has the Follower do something. Its trackers take orders one by one, so
// that is for a command.
func (m root) tell(order func(*inspect.Follower)) tea.Cmd {
	fw := m.following
	if fw == nil {
		return nil
	}
	return func() tea.Msg {
		order(fw.f)
		return nil
	}
}
