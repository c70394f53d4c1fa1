package cli

import (
	"context"
	"fmt"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

// watchVerb prints what happens to locks until it is interrupted.
func watchVerb() verb {
	return verb{
		name: "watch", short: "print lock events as they happen, until interrupted",
		long: "First a line for each lock that is there, then one for each event. What was concluded and not seen\n" +
			"is marked: (inferred). How changes are learned, and when they may have been missed, is said too.",
		target: needsTarget,
		flags:  []string{"match", "family", "possible", "deep", "names", "all-dbs", "scan-count", "scan-rate", "json"},
		run:    runWatch,
	}
}

func runWatch(ctx context.Context, inv *invocation) int {
	if _, err := inv.query(); err != nil { // before anything is connected to
		return inv.fail(err)
	}
	t, code := inv.open(ctx)
	if t == nil {
		return code
	}
	defer t.Close()
	q, err := inv.query()
	if err != nil {
		return inv.fail(err)
	}
	in, closing, err := inv.inspector(ctx, t)
	if err != nil {
		return inv.fail(err)
	}
	defer closing()
	for _, line := range t.Info.Unknown {
		fmt.Fprintln(inv.err, "fencepost:", wire.Clean(line))
	}
	f := in.Follow(ctx, q, inspect.FollowOptions{Snapshot: true})
	defer f.Stop()
	w := &watcher{inv: inv, f: f, several: len(in.Nodes()) > 1, began: time.Now()}
	if err := w.run(ctx); err != nil {
		return inv.fail(err)
	}
	return exitOK
}

// watcher prints what a Follower tells.
type watcher struct {
	inv     *invocation
	f       *inspect.Follower
	several bool // databases or nodes: events say which
	began   time.Time
	held    []inspect.Event // events that wait for the locks to be listed first
	listed  bool
	said    string // how the nodes stand, as it was said last
}

// listFirst is how long events wait for the first pass, so that what was there
// stands before what happened. A longer pass is not waited for.
const listFirst = time.Second

// pause is the least time between two looks at what is new.
const pause = 20 * time.Millisecond

func (w *watcher) run(ctx context.Context) error {
	tick := time.NewTicker(time.Second) // what says how old the data is changes by itself
	defer tick.Stop()
	defer keepMemoryBound()()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.f.Changed():
		case <-tick.C:
		}
		if err := w.print(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// print prints what is new.
func (w *watcher) print() error {
	v := w.f.View()
	events, lost := w.f.Drain()
	if lost > 0 {
		fmt.Fprintf(w.inv.err, "fencepost: %d events came too fast to be printed\n", lost)
	}
	now := time.Now()
	for _, e := range events {
		if !w.listed && e.Kind != inspect.WasThere {
			w.held = append(w.held, e)
			continue
		}
		if err := w.one(&e); err != nil {
			return err
		}
	}
	if !w.listed && (through(v) || now.Sub(w.began) > listFirst) {
		w.listed = true
		for i := range w.held {
			if err := w.one(&w.held[i]); err != nil {
				return err
			}
		}
		w.held = nil
	}
	w.status(v, now)
	return nil
}

// through reports whether the first pass has been over every node.
func through(v *inspect.View) bool {
	return v.Coverage.Nodes > 0 && v.Coverage.NodesScanned == v.Coverage.Nodes && !v.Scanning
}

// status says on standard error how the nodes stand, when that changes.
func (w *watcher) status(v *inspect.View, now time.Time) {
	said := ""
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case n.Reach != inspect.Live:
			said += string(n.Reach) + n.Addr
		case w.listed:
			said += n.Following + n.Addr
		}
	}
	if through(v) {
		said += "."
	}
	if said == w.said {
		return
	}
	w.said = said
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Reach == inspect.Live && !w.listed {
			continue
		}
		fmt.Fprintf(w.inv.err, "fencepost: %s: %s\n", wire.Clean(n.Addr), n.Words(now))
		if words := n.ClockWords(); words != "" {
			fmt.Fprintf(w.inv.err, "fencepost: %s: %s\n", wire.Clean(n.Addr), words)
		}
	}
	if through(v) {
		fmt.Fprintln(w.inv.err, "fencepost:", coverageLine(v.Coverage, len(v.Rows)))
	}
	for _, line := range v.Coverage.Errors {
		fmt.Fprintln(w.inv.err, "fencepost:", line)
	}
}
