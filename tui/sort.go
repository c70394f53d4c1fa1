package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
)

// sortMenu chooses the order of the rows.
type sortMenu struct{ choice int }

func (m root) sortKey(id keymap.ID) (root, tea.Cmd) {
	switch id {
	case keymap.Up:
		m.sort.choice = max(0, m.sort.choice-1)
	case keymap.Down:
		m.sort.choice = min(len(orders())-1, m.sort.choice+1)
	case keymap.Confirm:
		m.list.order, m.list.reverse = order(m.sort.choice), false
		m.list = m.list.reorder().sync(m)
		return m.back(), nil
	case keymap.Back:
		return m.back(), nil
	}
	return m, nil
}

func (m root) sortBody() []string {
	lines := []string{"", " " + m.theme.Strong.Wrap("Sort the locks by"), ""}
	for i, name := range orders() {
		mark := "  "
		if i == m.sort.choice {
			mark = m.theme.Glyph.Cursor + " "
		}
		line := "   " + mark + name
		if order(i) == m.list.order {
			line += m.theme.Muted.Wrap("  (now)")
		}
		if i == m.sort.choice {
			line = m.theme.Strong.Wrap("   " + mark + name)
		}
		lines = append(lines, line)
	}
	reverse, _ := m.keys.Get(keymap.SortReverse)
	return append(lines, "", m.theme.Muted.Wrap(" "+reverse.Names()+" in the list turns the order round."))
}
