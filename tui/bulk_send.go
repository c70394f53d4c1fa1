package tui

import (
	"fmt"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

// sendAll begins to release them, one after the other.
func (m root) sendAll() (root, tea.Cmd) {
	b := &m.bulk
	if b.blocked != "" || (m.server.Guarded && !b.armed) {
		return m, nil
	}
	m = m.used()
	if reason := b.form.reason(); reason != "" {
		m.reason = reason
	}
	b.stage, b.at, b.top = sending, -1, 0
	return m.sendNext()
}

// bulkSentMsg is what came of one of them.
type bulkSentMsg struct {
	question int
	outcome  inspect.Outcome
	warnings []string
	at       time.Time
}

// sendNext releases the next one, or ends.
func (m root) sendNext() (root, tea.Cmd) {
	b := &m.bulk
	b.at++
	for b.at < len(b.items) && b.items[b.at].left != "" {
		b.at++
	}
	if b.at >= len(b.items) {
		return m.bulkEnds()
	}
	it := &b.items[b.at]
	var signs []inspect.Evidence
	if r := m.feed.row(it.id); r != nil && sameHolders(r.lock, &it.seen) {
		signs = m.evidenceOf(r)
	}
	act, q := m.acting(it.plan, "release", b.form.reason(), signs), b.question
	return m, func() tea.Msg {
		o, warnings := act()
		return bulkSentMsg{q, o, warnings, time.Now()}
	}
}

// bulkEnds shows the report.
func (m root) bulkEnds() (root, tea.Cmd) {
	m.bulk.stage = done
	return m, nil
}

// untouched is how many of them were to be released and were not tried.
func (b *bulk) untouched() int {
	n := 0
	for _, it := range b.items {
		if it.left == "" && !it.done {
			n++
		}
	}
	return n
}

// summary is the report in one line.
func (b *bulk) summary() string {
	words := map[inspect.Word]int{}
	for _, it := range b.items {
		if it.done {
			words[it.outcome.Word]++
		}
	}
	text := ""
	for _, w := range slices.Sorted(maps.Keys(words)) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", words[w], wire.Clean(string(w)))
	}
	if b.stopped != "" {
		text += ". " + b.stopped
	}
	return text
}

func (b *bulk) tone() tone {
	if b.stopped != "" {
		return bad
	}
	return fine
}
