package tui

import (
	"fmt"
	"maps"
	"slices"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
)

// marks are the locks that were chosen, by row id, each as it was when it was
// marked. The map is replaced, never written to.
type marks map[string]inspect.Lock

// markKey marks the lock under the cursor and goes on to the next, or takes
// marks away.
func (m root) markKey(id keymap.ID) root {
	if id == keymap.Unmark {
		m.marks = nil
		return m.say(fine, "nothing is marked")
	}
	r, ok := m.list.current()
	if !ok {
		return m.say(fine, "there is no lock here to mark")
	}
	next := maps.Clone(m.marks)
	if next == nil {
		next = marks{}
	}
	if _, marked := next[r.id]; marked {
		delete(next, r.id)
	} else {
		next[r.id] = *r.lock
	}
	m.marks = next
	m.list.table, m.list.moved = moved(m.list.table, keymap.Down, tableRows{m.list.rows, nil}, m.list.height), true
	return m
}

// marked reports whether row i is marked.
func (t tableRows) marked(i int) bool {
	_, ok := t.m.marks[t.rows[i].id]
	return ok
}

// markWords say on the second line what is marked, also where a filter hides it;
// "" where nothing is.
func (m root) markWords() string {
	if len(m.marks) == 0 {
		return ""
	}
	hidden := 0
	for id := range m.marks {
		if !slices.ContainsFunc(m.list.rows, func(r *row) bool { return r.id == id }) {
			hidden++
		}
	}
	text := fmt.Sprintf("%d marked", len(m.marks))
	if hidden > 0 {
		text += fmt.Sprintf(", %d of them not in view", hidden)
	}
	keys := ""
	if b, ok := m.keys.Get(keymap.OpenRelease); ok {
		keys += " (" + b.Names() + " reviews them"
	}
	if b, ok := m.keys.Get(keymap.Unmark); ok {
		keys += ", " + b.Names() + " clears)"
	}
	return text + keys
}
