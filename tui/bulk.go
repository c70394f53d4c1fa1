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

// bulkForm asks for the number of locks, which proves that the list was read.
func (m root) bulkForm(n int) form {
	f := form{act: toRelease, opened: m.now}
	if m.server.Guarded && !m.bulk.armed {
		f.lines = append(f.lines, m.armingLine())
	}
	f.lines = append(f.lines, formLine{kind: countLine, ask: "Type how many locks these are", want: strconv.Itoa(n)})
	reason := formLine{kind: reasonLine, ask: "Reason (may be left out)", text: offer(m.reason)}
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
