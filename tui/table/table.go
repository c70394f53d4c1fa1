// Package table is a table that draws only what shows. It asks for row i when
// it needs it, so a hundred thousand rows cost no more than fifty; it paints
// cells with ready escape strings; and its cursor follows the row's identity,
// so that a list that is sorted or refreshed under it never moves the operator
// to another lock.
package table

import (
	"strings"

	"fencepost/tui/theme"
)

// Column is one column. A column has Min cells; what is left of the line goes
// to the columns in proportion to Grow, up to Max (0: no limit).
type Column struct {
	Title    string
	Min, Max int
	Grow     int
	Right    bool // numbers: aligned to the right
	// Drop is the order in which columns vanish when the line is too short:
	// the highest first. 0 never vanishes.
	Drop int
	// Middle cuts a text that is too long in its middle, not at its end.
	Middle bool
}

// Cell is one cell: a text without escape sequences and how it is painted. A
// Ready cell is already painted and exactly as wide as told by Row's widths.
type Cell struct {
	Text  string
	Paint theme.Paint
	Ready bool
}

// Rows is what a table shows.
type Rows interface {
	Len() int
	// ID names row i for ever: the cursor follows it.
	ID(i int) string
	// Row returns the cells of row i, one for each column; widths are the
	// cells that each column has, 0 for a column that is not shown.
	Row(i int, widths []int) []Cell
}

// State is where the operator is. The zero State is the first row.
type State struct {
	id     string // of the row under the cursor
	cursor int
	top    int // the first row on the screen
}

// Cursor is the index of the row under the cursor; meaningful only while the
// table has rows.
func (s State) Cursor() int { return s.cursor }

// ID is the identity of the row under the cursor, "" in an empty table.
func (s State) ID() string { return s.id }

// Sync puts the state in order after the rows have changed: the cursor goes
// where its row went. Where the row is gone the cursor keeps its place on the
// screen. height is the number of rows that the screen has.
func (s State) Sync(rows Rows, height int) State {
	n := rows.Len()
	if n == 0 {
		return State{}
	}
	before := s.cursor
	if i := find(rows, s.id, s.cursor); i >= 0 {
		s.cursor = i
	}
	s.cursor = min(max(s.cursor, 0), n-1)
	s.id = rows.ID(s.cursor)
	s.top += s.cursor - before // the row stays where the eye is
	return s.scroll(n, height)
}

// find looks for id, first where it was.
func find(rows Rows, id string, at int) int {
	n := rows.Len()
	if id == "" {
		return -1
	}
	if at >= 0 && at < n && rows.ID(at) == id {
		return at
	}
	for i := range n {
		if rows.ID(i) == id {
			return i
		}
	}
	return -1
}

// Move moves the cursor by n rows, stopping at the ends.
func (s State) Move(rows Rows, n, height int) State {
	return s.To(rows, s.cursor+n, height)
}

// To moves the cursor to row i, or to the end that lies nearest.
func (s State) To(rows Rows, i, height int) State {
	if rows.Len() == 0 {
		return State{}
	}
	s.cursor = min(max(i, 0), rows.Len()-1)
	s.id = rows.ID(s.cursor)
	return s.scroll(rows.Len(), height)
}

// scroll moves the window as little as possible so that the cursor shows and
// no line at the end is wasted.
func (s State) scroll(n, height int) State {
	if height <= 0 {
		return s
	}
	s.top = min(s.top, s.cursor, max(0, n-height))
	s.top = max(s.top, s.cursor-height+1, 0)
	return s
}

// Table draws rows. Columns and Theme must be set.
type Table struct {
	Columns []Column
	Theme   theme.Theme
	// Mark is the text before the row under the cursor and before all others;
	// both must be equally wide.
	Mark, NoMark string
	// Picked, if not nil, reports whether row i is one of several that were
	// chosen: a star takes the last cell of its mark.
	Picked func(i int) bool
	// Flag, if not nil, is one cell between the mark and row i, and a space.
	Flag func(i int) string
}

// gutter is how wide what stands before the first column is.
func (t Table) gutter() int {
	if t.Flag == nil {
		return theme.Width(t.Mark)
	}
	return theme.Width(t.Mark) + 2
}

// Header returns the line of titles. sorted is the column that the rows are
// ordered by, -1 for none; mark stands behind its title.
func (t Table) Header(w, sorted int, mark string) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", t.gutter()))
	first := true
	for i, width := range t.Widths(w) {
		if width == 0 {
			continue
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		title := t.Columns[i].Title
		if i == sorted {
			title += mark
		}
		b.WriteString(fit(t.Theme, t.Columns[i], title, width))
	}
	return t.Theme.Muted.Wrap(strings.TrimRight(b.String(), " "))
}

// Lines returns the rows that show, at most height lines of w cells.
func (t Table) Lines(rows Rows, s State, w, height int) []string {
	widths := t.Widths(w)
	last := min(rows.Len(), s.top+height)
	lines := make([]string, 0, max(0, last-s.top))
	for i := s.top; i < last; i++ {
		flag := ""
		if t.Flag != nil {
			flag = t.Flag(i) + " "
		}
		lines = append(lines, t.line(t.lead(i, i == s.cursor), flag, rows.Row(i, widths), widths, i == s.cursor, w))
	}
	return lines
}

// lead is what stands before row i: where the cursor is, and what is picked.
func (t Table) lead(i int, current bool) string {
	lead := t.NoMark
	if current {
		lead = t.Mark
	}
	if t.Picked != nil && t.Picked(i) && lead != "" {
		lead = lead[:len(lead)-1] + "*"
	}
	return lead
}

func (t Table) line(lead, flag string, cells []Cell, widths []int, current bool, w int) string {
	var b strings.Builder
	b.WriteString(lead)
	if current {
		flag = theme.Strip(flag)
	}
	b.WriteString(flag)
	first := true
	for i, width := range widths {
		if width == 0 {
			continue
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		c := cells[i]
		text := c.Text
		if !c.Ready {
			text = fit(t.Theme, t.Columns[i], text, width)
		}
		if current { // one paint for the whole row, so that it reads as one
			b.WriteString(theme.Strip(text))
			continue
		}
		if c.Text != "" {
			text = c.Paint.Wrap(text)
		}
		b.WriteString(text)
	}
	if !current {
		return strings.TrimRight(b.String(), " ")
	}
	return t.Theme.Cursor.Wrap(theme.Pad(b.String(), w))
}

func fit(th theme.Theme, c Column, text string, width int) string {
	if c.Middle {
		text = th.Glyph.CutMiddle(text, width)
	} else {
		text = th.Glyph.Cut(text, width)
	}
	if c.Right {
		return theme.PadLeft(text, width)
	}
	return theme.Pad(text, width)
}
