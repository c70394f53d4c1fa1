package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
)

// bulkMsg is what a look at all of them found, in their order.
type bulkMsg struct {
	question int
	found    []*inspect.Lock // nil: it is not there any more
	err      error
	at       time.Time
}

func (m root) lookAll() (root, tea.Cmd) {
	m.bulk.looking = true
	ctx, cancel := m.bounded()
	in, q, items := m.opts.Inspector, m.bulk.question, m.bulk.items
	return m, func() tea.Msg {
		defer cancel()
		out := bulkMsg{question: q}
		for _, it := range items {
			l, _, err := readAgain(ctx, in, it.marked)
			if err != nil {
				out.err = err
				break
			}
			out.found = append(out.found, l)
		}
		out.at = time.Now()
		return out
	}
}

func (b bulkMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	p := &m.bulk
	if b.question != p.question || p.stage > filling {
		return m, nil
	}
	m.now = later(m.now, b.at)
	p.looking, p.nextLook = false, b.at.Add(refreshEvery)
	switch {
	case b.err != nil:
		p.blocked = "They cannot be read now: " + cleanError(b.err)
	case p.stage == reading:
		p.drawn = b.at
		m = m.reviewAll(b.found)
	default:
		m = m.compareAll(b.found)
	}
	return m, nil
}

// reviewAll makes a plan for each, or says why it is left out.
func (m root) reviewAll(found []*inspect.Lock) root {
	p := &m.bulk
	p.blocked, p.stage = "", filling
	p.items = slices.Clone(p.items)
	for i := range p.items {
		it := &p.items[i]
		l := found[i]
		switch {
		case l == nil:
			it.left, it.over = "it is gone", true
			continue
		case !sameHolders(&it.marked, l):
			it.seen, it.left = *l, "it changed hands since it was marked; when it was read, "+l.HolderWords()+" had it"
			continue
		}
		it.seen = *l
		var err error
		if it.plan, err = m.opts.Inspector.PlanRelease(*l); err != nil {
			it.left = refusalText(err)
		}
		it.alive = m.aliveOf(it)
	}
	switch n := p.count(); {
	case m.server.ReadOnly != "":
		p.block("Nothing may be changed here: " + m.server.ReadOnly)
	case m.server.Role == replica:
		p.block("This server is a replica: act on its master.")
	case n == 0:
		p.block("Nothing of what is marked can be released.")
	default:
		p.form = m.bulkForm(n)
	}
	return m
}

// aliveOf says what speaks for a living holder, by what the list has seen.
func (m root) aliveOf(it *bulkItem) string {
	if r := m.feed.row(it.id); r != nil && sameHolders(r.lock, &it.seen) {
		return aliveBy(r.watched, m.evidenceOf(r), m.now)
	}
	return ""
}

// compareAll looks whether all of them are still as the list shows them.
func (m root) compareAll(found []*inspect.Lock) root {
	b := &m.bulk
	b.items = slices.Clone(b.items)
	for i := range b.items {
		it, l := &b.items[i], found[i]
		switch {
		case b.stage != filling || it.left != "":
		case l == nil:
			b.block(it.name + " is gone by now.\nNothing was changed.")
		case !sameHolders(&it.seen, l):
			b.block(it.name + " has changed hands; when it was read, " + l.HolderWords() + " had it.\nNothing was changed.")
		case !movedOn(&it.plan, &it.seen, l):
		case m.onlyRenewed(it.id, &it.seen, l):
			if plan, err := m.opts.Inspector.PlanRelease(*l); err == nil {
				it.seen, it.plan = *l, plan
			}
		default:
			b.block(it.name + ": its deadline has moved; it was renewed, or taken again by another of the same name.\nNothing was changed.")
		}
	}
	return m
}
