package tui

import (
	"maps"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
	"fencepost/tui/table"
)

// scanState is a walk through the keyspace: running, or when the next begins.
type scanState struct {
	running bool
	next    time.Time
	pages   <-chan inspect.Progress
	now     inspect.Coverage // of the walk that runs
}

// scanMsg is what a walk has found since the last one.
type scanMsg struct {
	found    []inspect.Lock
	coverage inspect.Coverage
	done     bool
	at       time.Time
}

// startScan walks the keyspace for locks. One command walks, the other waits
// for what it finds; both end when the walk does or the console is left.
func (m root) startScan() (root, tea.Cmd) {
	pages := make(chan inspect.Progress, 64)
	m.feed.scan = scanState{running: true, pages: pages}
	ctx, in, q := m.ctx, m.opts.Inspector, m.opts.Query
	walk := func() tea.Msg {
		defer close(pages)
		_, _ = in.Scan(ctx, q, func(p inspect.Progress) bool { // what fails stands in the coverage
			select {
			case pages <- p:
				return true
			case <-ctx.Done():
				return false
			}
		})
		return nil
	}
	return m, tea.Batch(walk, m.awaitPage())
}

// awaitPage waits for what a walk finds next, and takes all that lies ready.
func (m root) awaitPage() tea.Cmd {
	pages := m.feed.scan.pages
	return func() tea.Msg {
		var out scanMsg
		p, ok := <-pages
		for ok {
			out.found = append(out.found, p.Found...)
			out.coverage = p.Coverage
			select {
			case p, ok = <-pages:
			default:
				out.at = time.Now()
				return out
			}
		}
		out.done, out.at = true, time.Now()
		return out
	}
}

func (s scanMsg) apply(m root) (root, tea.Cmd) {
	m.now = later(m.now, s.at)
	if m.feed.scanned.IsZero() && !m.list.moved {
		m.list.table = table.State{} // while the first rows come in, the cursor waits at the top
	}
	if s.coverage.Nodes > 0 {
		m.feed.scan.now = s.coverage
	}
	m.feed = m.feed.found(s.found, s.at)
	var cmd tea.Cmd
	if s.done {
		m.feed = m.feed.walked(s.at)
	} else {
		cmd = m.awaitPage()
	}
	m.list = m.list.sync(m)
	return m, cmd
}

// found adds locks that a walk has met. What is known is left to refreshes,
// unless this look is newer.
func (f feed) found(locks []inspect.Lock, at time.Time) feed {
	if len(locks) == 0 {
		return f
	}
	rows := maps.Clone(f.rows)
	if rows == nil {
		rows = map[string]*row{}
	}
	for _, l := range locks {
		id := rowID(&l)
		old := rows[id]
		rows[id] = old.next(l, at)
		if old == nil && !f.scanned.IsZero() {
			rows[id].since = at // it was not there at the first walk
		}
	}
	f.rows = rows
	f.link = f.link.ok(at)
	return f
}

// walked ends a walk. One that reached no node says nothing of the keys; whether
// the server is lost, or only forbids walking, the refreshes tell.
func (f feed) walked(at time.Time) feed {
	cov := f.scan.now
	f.scan = scanState{next: at.Add(rescanEvery), now: cov}
	f.coverage = cov
	if cov.NodesScanned > 0 || len(cov.Errors) == 0 {
		f.link = f.link.ok(at)
		f.scanned = at
		return f
	}
	if !f.link.ever {
		f.link = f.link.failed(at, cov.Errors[0])
	}
	f.scan.next = at.Add(max(time.Second, f.link.backoff()))
	return f
}
