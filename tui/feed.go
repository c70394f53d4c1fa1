package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
	"fencepost/tui/table"
)

// feed is what is known of the locks: the last view of the Follower, and its
// rows.
type feed struct {
	view    *inspect.View // never nil
	slots   []*row        // every row by its slot; nil: none. It is replaced, never written to
	events  []inspect.Event
	missed  uint64 // events that came too fast to be kept
	through bool   // the first pass has been over every node
	gap     gap    // the last time in which changes may have been missed

	identifiedAt time.Time // when the server was last asked what it is
	identifying  bool
}

// refreshEvery is how often a panel reads the lock that it asks about.
const refreshEvery = time.Second

// eventsKept is how many events the console keeps for its own screen of them;
// those of one lock the Follower has.
const eventsKept = 5000

// row is the row of a lock as it is now; nil where none is known.
func (f feed) row(id string) *row {
	for _, r := range f.slots {
		if r != nil && r.id == id {
			return r
		}
	}
	return nil
}

// passed reports whether a pass has been over every node and none is under way.
// It may still be incomplete: keys may be refused.
func passed(v *inspect.View) bool {
	return !v.Scanning && v.Coverage.Nodes > 0 && v.Coverage.NodesScanned == v.Coverage.Nodes
}

// known is up to when what a row says is known to hold, and live whether its
// node answers.
func (f feed) known(r *row) (at time.Time, live bool) {
	if !r.goneAt().IsZero() {
		return r.goneAt(), true
	}
	n := f.view.Node(r.lock)
	return f.view.Known(r.watched), n == nil || n.Reach == inspect.Live
}

func (n newsMsg) apply(m root) (root, tea.Cmd) {
	m.now = later(m.now, n.at)
	f := &m.feed
	if n.changed && !f.through && !m.list.moved {
		m.list.table = table.State{} // while the first rows come in, the cursor waits at the top
	}
	f.view, f.slots = n.view, n.slots
	f.through = f.through || passed(n.view)
	f.events, f.missed = appended(f.events, n.events), f.missed+n.lost
	m = m.announce(n.events)
	if n.changed {
		m.list = m.list.sync(m)
	}
	m, cmd := m.syncDetail(n.events)
	return m, tea.Batch(cmd, m.await())
}

// appended adds events to those that are kept.
func appended(kept, more []inspect.Event) []inspect.Event {
	if len(kept)+len(more) > 2*eventsKept {
		kept = append([]inspect.Event(nil), kept[max(0, len(kept)-eventsKept):]...)
	}
	return append(kept, more...)
}

// identifyEvery is how often the server is asked what it is: a failover makes a
// replica of it.
const identifyEvery = 10 * time.Second

// identifiedMsg is what the server is now.
type identifiedMsg struct {
	server Server
	err    error
}

// identify asks the server what it is, where that is due.
func (m root) identify() (root, tea.Cmd) {
	f := &m.feed
	if m.opts.Identify == nil || f.identifying || m.now.Sub(f.identifiedAt) < identifyEvery || !m.firstLive() {
		return m, nil
	}
	f.identifying, f.identifiedAt = true, m.now
	ctx, cancel := m.bounded()
	ask := m.opts.Identify
	return m, func() tea.Msg {
		defer cancel()
		s, err := ask(ctx)
		return identifiedMsg{s, err}
	}
}

func (i identifiedMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	m.feed.identifying = false
	if i.err == nil { // where it fails, the header says how the server is reached
		m.server = i.server
	}
	return m, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
