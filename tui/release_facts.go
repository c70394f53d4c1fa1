package tui

import (
	"fmt"
	"strings"
	"time"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// reviewFacts are what an operator needs to decide, the most needed first. They
// stay live as long as they are of the holder that is asked about.
func (m root) reviewFacts() []fact {
	p, now, th := m.release, m.now, m.theme
	l := &p.seen
	if p.blocked == "" {
		l = &p.live
	}
	var holders []string
	for _, h := range p.seen.Holders {
		holders = append(holders, inspect.HolderText(h, now))
	}
	ends := "" // what changed hands or is gone runs down no more
	if p.blocked == "" {
		at, heard := m.asHeard(l, p.row.id)
		ends = endWords(l, m.alive() != "", at) + heard
	}
	facts := []fact{
		{"target", m.reviewTarget(), th.Text},
		{"lock", p.seen.Name() + m.familyWords(), th.Strong},
		{"holder", strings.Join(holders, "\n"), th.Strong},
		{"on hold", m.holdWords(), th.Warn},
		{"also on", m.alsoWords(), th.Warn},
		{"ends", ends, th.Text},
	}
	var signs []string
	for _, e := range m.signs() {
		if l.Waiters == nil || e.How != l.Waiters.How { // those stand below
			signs = append(signs, signText(e))
		}
	}
	if len(signs) == 0 {
		signs = []string{p.seen.Evidence(now)}
	}
	facts = append(facts, fact{"evidence", strings.Join(signs, "\n"), th.Text})
	return append(facts,
		fact{"waiters", m.reviewWaiters(l), th.Text},
		fact{"fence", p.seen.Fence, th.Fence})
}

// familyWords say whose lock it is, and how sure that is.
func (m root) familyWords() string {
	l := &m.release.seen
	return fmt.Sprintf("  (%s %s, %s)", wire.Clean(l.Label), l.Kind, l.Confidence)
}

// alsoWords say that the lock is kept on other masters too, and how to reach all.
func (m root) alsoWords() string {
	if len(m.release.also) == 0 {
		return ""
	}
	mark, _ := m.keys.Get(keymap.Mark)
	return strings.Join(m.release.also, ", ") + ": this is for one of them; mark all its rows (" + keymap.Name(mark.Keys[0]) + ") to act on each"
}

// holdWords say who has put the lock on hold, and why.
func (m root) holdWords() string {
	n := m.release.closer.note
	if n == nil {
		return ""
	}
	return fmt.Sprintf("by %s, since %s, until %s: %s", n.By, n.Since.UTC().Format("15:04:05"), n.Until.UTC().Format("15:04:05 UTC"), n.Reason)
}

// reviewWaiters say who waits, and how that is known.
func (m root) reviewWaiters(l *inspect.Lock) string {
	var parts []string
	if l.Waiters != nil {
		parts = append(parts, waitersInFull(l.Waiters))
	}
	for _, s := range m.contentionOf(m.release.row) {
		if l.Waiters == nil || s.How != l.Waiters.How {
			parts = append(parts, s.Says+" ("+s.How+")")
		}
	}
	return strings.Join(parts, "\n")
}

// otherFacts are what an operator may want to know besides.
func (m root) otherFacts(plan inspect.Plan) []fact {
	p, th := m.release, m.theme
	var out []fact
	for _, text := range append(plan.Said, p.closer.foreseen...) {
		out = append(out, fact{"note", text, th.Warn})
	}
	out = append(out, fact{"guard", plan.Guard.String(), th.Text}, fact{"afterwards", plan.Afterwards(), th.Text})
	if m.exam.id == p.row.id {
		for _, text := range m.exam.look.Unknown {
			out = append(out, fact{"not known", text, th.Muted})
		}
	}
	return out
}

// dangerWords say how careful one has to be with a target; "" where nobody has
// said anything of it.
func (s Server) dangerWords() string {
	switch {
	case s.Sandbox:
		return "the sandbox: no harm can be done"
	case s.Env != "":
		return "environment " + s.Env
	case s.Guarded:
		return "no environment: guarded as production"
	}
	return ""
}

func (m root) reviewTarget() string {
	s := m.server
	parts := []string{s.Name, fmt.Sprintf("db %d", m.release.seen.DB)}
	if s.Role != "" {
		parts = append(parts, s.Role)
	}
	if danger := s.dangerWords(); danger != "" {
		parts = append(parts, danger)
	}
	if len(m.feed.view.Nodes) > 1 {
		parts[0] = m.release.seen.Node
	}
	return strings.Join(parts, ", ")
}

// endWords say when the lock ends by itself, and that waiting may be safer.
func endWords(l *inspect.Lock, alive bool, now time.Time) string {
	text := l.Expiry(now)
	left, expires := l.Left(now)
	switch {
	case l.State == family.Free:
		return "" // there is no hold that could end
	case l.Persistent && l.Deadline.IsZero():
		return "NO EXPIRY: only a release ends it"
	case expires && alive:
		return text + ", unless it is renewed again"
	case expires && left > 0 && left < time.Minute && l.State == family.Held:
		return text + "; if nobody renews it, it ends by itself: waiting is safer"
	}
	return text
}
