package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
)

// closer is what is asked about the panel's lock beside the lock itself.
type closer struct {
	foreseen []string // what of a release the server will refuse
	// Where an operator holds the lock: who says so, and how to lift it.
	note *inspect.HoldNote
	lift inspect.Plan
}

// closerMsg is the answer.
type closerMsg struct {
	question int
	closer
	at time.Time
}

// lookCloser asks whether an operator holds the lock, and what of a release this
// user may not do.
func (m root) lookCloser() (root, tea.Cmd) {
	p := &m.release
	ctx, cancel := m.bounded()
	in, q, seen, plan := m.opts.Inspector, p.question, p.seen, p.plan
	return m, func() tea.Msg {
		defer cancel()
		out := closerMsg{question: q}
		if len(plan.Steps) > 0 {
			out.foreseen = in.Foresee(ctx, &plan)
		}
		lift, note, err := in.PlanUnhold(ctx, seen)
		if err == nil {
			out.lift, out.note = lift, note
		}
		out.at = time.Now()
		return out
	}
}

func (c closerMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	p := &m.release
	if c.question == p.question && p.stage <= asking {
		m.now = later(m.now, c.at)
		p.closer = c.closer
	}
	return m, nil
}

// fresh is the panel's row as the list knows it now, where that is still of the
// holder that the panel asks about.
func (m root) fresh() *row {
	p := &m.release
	if now := m.feed.row(p.row.id); p.blocked == "" && now != nil && sameHolders(now.lock, &p.live) {
		return now
	}
	return p.row
}

// signs are what speaks for or against a living holder.
func (m root) signs() []inspect.Evidence { return m.evidenceOf(m.fresh()) }

// alive says in words what speaks for a living holder; "" where nothing does.
func (m root) alive() string { return aliveBy(m.fresh().watched, m.signs(), m.now) }

// aliveBy is alive of one lock. A renewal within the last lease speaks for a
// living holder also where no rhythm is known yet.
func aliveBy(w *inspect.Watched, signs []inspect.Evidence, now time.Time) string {
	for _, e := range signs {
		if e.For == inspect.Alive {
			return e.Says
		}
	}
	if b := w.Beat; b != nil && b.Renewals > 0 && b.Every == 0 && now.Sub(b.Last) < b.Lease {
		return b.Words(now)
	}
	return ""
}
