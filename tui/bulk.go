package tui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
)

// maxBulk is how many locks are released together at most: as many as can be
// read one by one.
const maxBulk = 20

// bulk is the panel that reviews the release of all locks that are marked. It
// reads them again every second, and as soon as one is not any more as the list
// shows it, nothing of the list is offered.
type bulk struct {
	stage    stage
	items    []bulkItem
	armed    bool
	form     form
	blocked  string
	drawn    time.Time
	top      int
	at       int // the item that is being released
	stopped  string
	looking  bool
	nextLook time.Time
	question int
}

// bulkItem is one of them.
type bulkItem struct {
	id, name string
	marked   inspect.Lock // as it was when it was marked
	seen     inspect.Lock // as the panel first read it
	plan     inspect.Plan
	left     string // why it is left out; "" where it is not
	over     bool   // it is not there any more
	alive    string // what speaks for a living holder
	done     bool
	outcome  inspect.Outcome
	warnings []string
}

// openBulk opens the panel for all that is marked.
func (m root) openBulk() (root, tea.Cmd) {
	if n := len(m.marks); n > maxBulk {
		return m.say(warn, fmt.Sprintf("%d are marked; no more than %d are released together", n, maxBulk)), nil
	}
	b := bulk{question: m.bulk.question + 1, armed: !m.server.Guarded || m.armed.After(m.now)}
	for _, id := range slices.Sorted(maps.Keys(m.marks)) {
		l := m.marks[id]
		b.items = append(b.items, bulkItem{id: id, name: nameOf(&l), marked: l})
	}
	m.bulk, m.notice = b, notice{}
	return m.open(atBulk).lookAll()
}

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

// bulkForm asks for the number of locks, which proves that the list was read.
func (m root) bulkForm(n int) form {
	f := form{act: toRelease, opened: m.now}
	if m.server.Guarded && !m.bulk.armed {
		f.lines = append(f.lines, m.armingLine())
	}
	f.lines = append(f.lines, formLine{kind: countLine, ask: "Type how many locks these are", want: strconv.Itoa(n)})
	reason := formLine{kind: reasonLine, ask: "Reason (may be left out)", text: field{}.insert([]rune(m.reason))}
	if m.server.Guarded || slices.ContainsFunc(m.bulk.items, func(it bulkItem) bool { return it.alive != "" }) {
		reason.kind, reason.ask = mustReason, "Reason, for the audit"
	}
	f.lines = append(f.lines, reason)
	return f
}

// count is how many of them are to be released.
func (b *bulk) count() int {
	n := 0
	for _, it := range b.items {
		if it.left == "" {
			n++
		}
	}
	return n
}

func (b *bulk) block(why string) {
	b.stage, b.blocked, b.form = asking, why, form{}
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

// typing reports whether a line of the form has the focus.
func (b *bulk) typing() bool { return b.stage == filling && len(b.form.lines) > 0 }

func (m root) tickBulk() (root, tea.Cmd) {
	b := m.bulk
	if !slices.Contains(m.stack, atBulk) || b.stage > filling || b.looking || m.now.Before(b.nextLook) {
		return m, nil
	}
	return m.lookAll()
}

// bulkKey does what a key means in the panel.
func (m root) bulkKey(id keymap.ID) (root, tea.Cmd) {
	b := &m.bulk
	switch {
	case b.stage == sending:
		return m, nil // what runs cannot be called back
	case id == keymap.Close, id == keymap.FormLeave:
		return m.leaveBulk(), nil
	case id == keymap.Confirm && b.stage == done:
		return m.leaveBulk(), nil // the list says the outcome once more
	case b.stage == reading, m.now.Sub(b.drawn) < quiet:
		return m, nil
	case id == keymap.Confirm:
		return m.leaveBulk(), nil
	case id == keymap.Refresh:
		return m.back().openBulk()
	case id == keymap.FormNext:
		b.form.move(1)
		return m, nil
	case id == keymap.FormPrev:
		b.form.move(-1)
		return m, nil
	case id == keymap.FormDone:
		return m.bulkDone()
	}
	b.top = scrolled(b.top, id, len(m.bulkText()), m.bulkRoom())
	return m, nil
}

func (m root) bulkDone() (root, tea.Cmd) {
	b := &m.bulk
	switch b.form.enter(m.now) {
	case armsNow:
		b.armed = true
		m.armed = m.now.Add(armedFor)
	case complete:
		return m.sendAll()
	}
	return m, nil
}

// leaveBulk closes the panel. What was released loses its mark.
func (m root) leaveBulk() root {
	b := m.bulk
	m.bulk.question++ // late answers are dropped
	if b.stage != done {
		return m.back().say(fine, "nothing was changed")
	}
	next := maps.Clone(m.marks)
	for _, it := range b.items {
		if it.over || it.done && (it.outcome.Word.Done() || it.outcome.Word == inspect.Gone) {
			delete(next, it.id)
		}
	}
	m.marks = next
	return m.back().say(b.tone(), b.summary())
}

func (s bulkSentMsg) apply(m root) (root, tea.Cmd) {
	b := &m.bulk
	if s.question != b.question {
		return m, nil
	}
	m.now = later(m.now, s.at)
	b.items = slices.Clone(b.items)
	it := &b.items[b.at]
	it.done, it.outcome, it.warnings = true, s.outcome, s.warnings
	if w := s.outcome.Word; w.Done() || w == inspect.Gone {
		return m.sendNext()
	}
	b.stopped = "Stopped at the first surprise"
	switch n := b.untouched(); n {
	case 0:
	case 1:
		b.stopped += ": 1 more was not touched"
	default:
		b.stopped += fmt.Sprintf(": %d more were not touched", n)
	}
	return m.bulkEnds()
}
