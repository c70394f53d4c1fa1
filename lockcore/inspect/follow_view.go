package inspect

import (
	"fmt"
	"slices"
	"time"
)

// Watched is one lock as a Follower knows it: the facts of the last look, and
// what was learned by watching. It does not change; a newer one replaces it.
type Watched struct {
	Lock
	Seat *Seat // the same at every look, for as long as the Follower has the lock without a break
	// FirstSeen is when the present holder was first seen here, and Began says
	// that the very beginning of its hold was.
	FirstSeen time.Time
	Began     bool
	Beat      *Beat // what was learned of its renewals; nil: none was seen
	Missed    bool  // changes between two looks may have been missed under this holder
	// IdleBefore is for how many seconds nobody had read or written the key before
	// the first look at it; 0 where that is not known.
	IdleBefore int32
	// Unread is why the last look could not read it, safe to print; "": it could.
	// What is shown is then what was known before.
	Unread string
}

// Seat is for whoever shows the Views of a Follower: the place that it has given
// to a lock, so that it need not look for it at every View. The Follower itself
// leaves it alone.
type Seat struct{ N int32 }

// HeldSince is since when the present holder has it: what the lock itself says,
// else when it was first seen. exact is false where that is only a lower bound.
func (w *Watched) HeldSince() (since time.Time, exact bool) {
	if len(held(&w.Lock)) == 0 {
		return time.Time{}, false
	}
	if h := w.Holders[0]; len(w.Holders) == 1 && !h.Since.IsZero() {
		return h.Since, true
	}
	return w.FirstSeen, w.Began
}

// Reach says how a node is reached.
type Reach string

// Connecting: no answer yet. Live: it answers. Late: a question has had no
// answer for too long. Lost: the connection is gone, and is tried again.
const (
	Connecting Reach = "connecting"
	Live       Reach = "live"
	Late       Reach = "late"
	Lost       Reach = "lost"
)

// NodeStatus is how a node stands.
type NodeStatus struct {
	Addr    string
	DB      int
	Reach   Reach
	Heard   time.Time // when it last answered or told anything
	Err     string    // why it is lost; safe to print
	RetryAt time.Time // when it is tried again; zero unless lost
	RTT     time.Duration
	// Offset is the server's clock less this machine's, give or take half of
	// OffsetRTT; OffsetKnown is false where TIME is not permitted.
	Offset      time.Duration
	OffsetRTT   time.Duration
	OffsetKnown bool
	Source      Source
	Following   string // the source in words
	// Replica: it shows what its master sent, deletes nothing that is over by
	// itself, and judges deadlines by its own clock. MasterDown: and it has heard
	// nothing from its master of late.
	Replica, MasterDown bool
	// Scanning: a pass that somebody waits for is under way or paused, the first or
	// a deep one that was asked for.
	Scanning bool
	Coverage Coverage
	DeepAt   time.Time // when a deep pass ended that was asked for; zero: none was

	heard, heardBefore hearing
}

// hearing is a time in which the server told of changes.
type hearing struct{ from, to time.Time } // to: zero while it does

// View is all that a Follower knows at one moment. It does not change.
type View struct {
	Version  uint64
	Rows     []*Watched // in no order that means anything
	Nodes    []NodeStatus
	Coverage Coverage // of all nodes together
	Scanning bool
	Paused   bool
	DeepAt   time.Time // when the last deep pass that was asked for ended on every node
}

// View returns the present view; the same one where nothing has changed.
func (f *Follower) View() *View {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.view != nil && f.view.Version == f.version {
		return f.view
	}
	v := &View{Version: f.version}
	n := 0
	for _, t := range f.nodes {
		n += len(t.list)
	}
	v.Rows = make([]*Watched, 0, n)
	for i, t := range f.nodes {
		for _, r := range t.list {
			v.Rows = append(v.Rows, r.w)
		}
		v.Nodes = append(v.Nodes, t.status)
		v.Scanning = v.Scanning || t.status.Scanning
		v.Paused = v.Paused || t.paused
		if i == 0 {
			v.Coverage, v.DeepAt = t.status.Coverage.clone(), t.status.DeepAt
		} else {
			if t.status.DeepAt.Before(v.DeepAt) {
				v.DeepAt = t.status.DeepAt
			}
			v.Coverage.add(t.status.Coverage)
		}
	}
	f.view = v
	return v
}

// add counts another node's coverage in.
func (c *Coverage) add(o Coverage) {
	c.DBs = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.DBs, o.DBs))))
	c.OtherDBs = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.OtherDBs, o.OtherDBs))))
	c.OtherDBs = slices.DeleteFunc(c.OtherDBs, func(db int) bool { return slices.Contains(c.DBs, db) })
	c.OtherDBsKnown = c.OtherDBsKnown && o.OtherDBsKnown
	if o.Depth == ByName {
		c.Depth = ByName
	}
	c.Scanned += o.Scanned
	c.Keyspace += o.Keyspace
	c.Nodes += o.Nodes
	c.NodesScanned += o.NodesScanned
	c.Complete = c.Complete && o.Complete
	c.PossibleHidden += o.PossibleHidden
	c.Refused += o.Refused
	c.Errors = slices.Concat(c.Errors, o.Errors)
}

// Node returns the status of the node that a lock is on; nil if none is.
func (v *View) Node(l *Lock) *NodeStatus {
	i := slices.IndexFunc(v.Nodes, func(n NodeStatus) bool { return n.Addr == l.Node && n.DB == l.DB })
	if i < 0 {
		return nil
	}
	return &v.Nodes[i]
}

// Known is up to when what a row says is known to hold: while the server tells
// of changes, the moment it was last heard; where it has ceased to, that moment
// then; else the moment of the last look. A deadline that lies after it was not
// reached as far as anybody knows.
func (v *View) Known(w *Watched) time.Time {
	n := v.Node(&w.Lock)
	if n == nil || w.Unread != "" || n.Reach == Late && n.Err != "" {
		return w.SampledAt
	}
	if told := n.toldUntil(w.SampledAt); told.After(w.SampledAt) {
		return told
	}
	return w.SampledAt
}

// toldUntil is up to when every change was told to what was looked at then; zero
// where nothing was. A look from before a gap is not made surer by what is told
// after it.
func (n *NodeStatus) toldUntil(look time.Time) time.Time {
	switch {
	case n.Source != ByPolling && n.heard.to.IsZero() && !look.Before(n.heard.from):
		return n.Heard
	case !look.Before(n.heard.from):
		return n.heard.to
	case !look.Before(n.heardBefore.from):
		return n.heardBefore.to
	}
	return time.Time{}
}

// Words says how a node stands, for a header: "live, by tracking",
// "no answer for 2.3 s", "lost for 12 s: connection refused; next try in 3 s".
func (n *NodeStatus) Words(now time.Time) string {
	since := "since it was started"
	if !n.Heard.IsZero() {
		since = "for " + moment(now.Sub(n.Heard))
	}
	switch n.Reach {
	case Connecting:
		return "connecting"
	case Late:
		if n.Err != "" {
			return n.Err
		}
		return "no answer " + since
	case Lost:
		text := "lost " + since + ": " + n.Err
		if wait := n.RetryAt.Sub(now); !n.RetryAt.IsZero() && wait > 0 {
			text += "; next try in " + moment(wait)
		}
		return text
	}
	text := "live, " + n.Following
	if n.Replica {
		text += "; a replica: what is over stays until its master says so"
		if n.MasterDown {
			text += ", and it has lost its master"
		}
	}
	return text
}

// ClockWords says how far the server's clock is from this machine's; "" where it
// is not known, or as near as can be told.
func (n *NodeStatus) ClockWords() string {
	if !n.OffsetKnown || n.Offset.Abs() <= n.OffsetRTT/2+50*time.Millisecond {
		return ""
	}
	side := "ahead of"
	if n.Offset < 0 {
		side = "behind"
	}
	return fmt.Sprintf("the server's clock is %s %s this machine's", moment(n.Offset.Abs()), side)
}
