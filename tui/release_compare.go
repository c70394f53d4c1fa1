package tui

import (
	"slices"
	"time"

	"fencepost/lockcore/inspect"
)

// review makes the plan from what was just read.
func (m root) review(l inspect.Lock) root {
	p := &m.release
	p.seen, p.live = l, l
	if !sameHolders(p.row.lock, &l) {
		p.news = "It changed hands since the list showed it: " + p.row.lock.HolderWords() + " had it there."
	}
	p.plan, p.off = m.offers(l)
	p.also = m.alsoOn(&l)
	return m
}

// alsoOn are other masters on which the same holder has a lock of this name: one
// Redlock lock is a row on each.
func (m root) alsoOn(l *inspect.Lock) []string {
	var nodes []string
	for _, r := range m.feed.slots {
		if r != nil && r.goneAt().IsZero() && r.lock.Node != l.Node && r.lock.RowID() == l.RowID() && sameHolders(r.lock, l) {
			nodes = append(nodes, r.lock.Node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// compare looks whether the lock is still what the panel asks about.
func (m root) compare(l inspect.Lock) root {
	p := &m.release
	p.live = l
	switch {
	case p.blocked != "":
	case !sameHolders(&p.seen, &l):
		m.block("It has changed hands since this panel opened; when it was read, " + l.HolderWords() + " had it.")
	case !movedOn(&p.plan, &p.seen, &l):
	case m.onlyRenewed(p.row.id, &p.seen, &l):
		p.seen = l // the plan is for the deadline that it has now
		p.plan, p.off = m.offers(l)
		if p.stage == filling {
			m = m.remake()
		}
	default:
		m.block("Its deadline has moved: renewed, or taken again by another of the same name. The holder's id does not tell.")
	}
	return m
}

// movedOn reports whether a deadline that a plan compares is not the one any more
// that was seen.
func movedOn(p *inspect.Plan, seen, now *inspect.Lock) bool {
	return p.Weak && p.Guard != inspect.ByFence && now.Deadline.Sub(seen.Deadline) > time.Second
}

// onlyRenewed reports whether a deadline has moved by the rhythm in which this
// holder was seen to renew. Another acquisition under the same id would have to
// fall into that rhythm by chance; of an id that is a constant nothing is believed.
func (m root) onlyRenewed(id string, seen, now *inspect.Lock) bool {
	r := m.feed.row(id)
	if r == nil || len(now.Holders) != 1 || now.Holders[0].ID == "" || !sameHolders(r.lock, now) {
		return false
	}
	w := r.watched
	if w.Beat == nil || w.Beat.Every == 0 || w.Missed || w.FirstSeen.After(seen.SampledAt) {
		return false
	}
	moved := now.Deadline.Sub(seen.Deadline)
	beats := moved.Round(w.Beat.Every)
	return beats > 0 && (moved-beats).Abs() <= max(w.Beat.Every/5, 300*time.Millisecond)
}

// block takes every offer back, and what was filled in for one; the reason that
// was typed is kept for the next.
func (m *root) block(why string) {
	p := &m.release
	if p.stage == filling || p.stage == picking {
		if reason := p.form.reason(); reason != "" {
			m.reason = reason
		}
		p.stage, p.top = asking, 0
		why += "\nNothing was changed."
	}
	p.blocked, p.focus = why, toCancel
}
