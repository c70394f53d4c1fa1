package tui

import (
	"fmt"
	"strings"
	"time"

	"fencepost/lockcore/wire"
	"fencepost/tui/table"
	"fencepost/tui/theme"
)

// Columns of the list, by index.
const (
	colKey = iota
	colHolder
	colKind
	colFamily
	colState
	colFence
	colWaiters
	colBar
	colTTL
	colAge
)

// columns are those of a width: narrow screens show the bar and no family,
// the w key turns that round, wide screens have room for all.
func (l list) columns(w int) []table.Column {
	drop := func(narrow, other int) int {
		if l.wide {
			return other
		}
		return narrow
	}
	cols := []table.Column{
		colKey:     {Title: "KEY", Min: 16, Grow: 5, Max: max(16, l.keyWidth), Middle: true},
		colHolder:  {Title: "HOLDER", Min: 12, Grow: 3, Max: max(12, l.holderWidth), Middle: true},
		colKind:    {Title: "KIND", Min: 6, Drop: 5},
		colFamily:  {Title: "FAMILY", Min: 11, Grow: 2, Max: 18, Drop: drop(9, 1)},
		colState:   {Title: "STATE", Min: 7, Drop: drop(10, 2)},
		colFence:   {Title: "FENCE", Min: 5, Max: 10, Right: true, Drop: 4},
		colWaiters: {Title: "WAIT", Min: 4, Right: true, Drop: drop(8, 3)},
		colBar:     {Title: "", Min: 6, Max: 12, Drop: drop(6, 11)},
		colTTL:     {Title: "EXPIRES", Min: 12},
		colAge:     {Title: "AGE", Min: 4, Right: true, Drop: drop(3, 12)},
	}
	if w >= 110 {
		cols[colKind].Min, cols[colFence].Grow, cols[colBar].Grow = 9, 1, 1
	}
	return cols
}

// sortColumn is the column that an order sorts by, -1 for none.
func (o order) column() int {
	return map[order]int{byKey: colKey, byExpiry: colTTL, byHolder: colHolder,
		byFamily: colFamily, byFence: colFence, byWaiters: colWaiters}[o] - btoi(o == byAttention)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tableRows shows rows in a table; m is nil where only their identity matters.
type tableRows struct {
	rows []*row
	m    *root
}

func (t tableRows) Len() int        { return len(t.rows) }
func (t tableRows) ID(i int) string { return t.rows[i].id }

func (t tableRows) Row(i int, widths []int) []table.Cell {
	r, th := t.rows[i], t.m.theme
	l, s := r.lock, t.m.sight(r, t.m.listNow())
	paint := th.Text
	if !r.goneAt().IsZero() || s.stale() {
		paint = th.Muted
	}
	cells := []table.Cell{
		colKey:     {Text: r.name, Paint: paint},
		colHolder:  {Text: holderCell(l, th.Glyph, widths[colHolder]), Paint: t.holderPaint(r, s.now, paint)},
		colKind:    {Text: kindWords(l.Kind, widths[colKind] < 9), Paint: paint},
		colFamily:  {Text: familyWords(l.Family, l.Confidence.String()), Paint: paint},
		colState:   {Text: r.stateWords(), Paint: paint},
		colFence:   {Text: l.Fence, Paint: th.Fence},
		colWaiters: {Text: waiterWords(l.Waiters), Paint: paint},
		colBar:     {Text: r.bar(th, s, widths[colBar]), Ready: true},
		colTTL:     {Text: r.expiry(s), Paint: r.expiryPaint(th, s)},
		colAge:     {Text: s.ageWords(), Paint: th.Muted},
	}
	for i := range cells {
		if !cells[i].Ready {
			cells[i].Text = wire.Clean(cells[i].Text) // whatever it was made of
		}
	}
	return cells
}

// familyWords marks what is not certain.
func familyWords(name, confidence string) string {
	if confidence == "certain" {
		return name
	}
	return name + "?"
}

// holderPaint makes a holder that has just come stand out.
func (t tableRows) holderPaint(r *row, now time.Time, usual theme.Paint) theme.Paint {
	if r.goneAt().IsZero() && !r.cameAt().IsZero() && now.Sub(r.cameAt()) < goneShown {
		return t.m.theme.Strong
	}
	return usual
}

// bar draws what is left of the most that was seen of this holder.
func (r *row) bar(th theme.Theme, s sight, w int) string {
	l := r.lock
	if l.Persistent || !r.goneAt().IsZero() || l.TTL >= practicallyForever {
		return strings.Repeat(" ", w)
	}
	left := l.Deadline.Sub(s.asOf()).Milliseconds()
	return th.Bar(left, r.whole, w, r.expiryPaint(th, s))
}

// expiryPaint is calm while there is time, and loud where there is none or
// never an end.
func (r *row) expiryPaint(th theme.Theme, s sight) theme.Paint {
	l := r.lock
	if !r.goneAt().IsZero() || s.stale() {
		return th.Muted
	}
	if flagged(r) {
		return th.Warn
	}
	if l.Persistent {
		return th.Text
	}
	left := l.Deadline.Sub(s.now)
	switch {
	case left <= 0:
		return th.Danger
	case left.Milliseconds()*5 < r.whole:
		return th.Warn
	}
	return th.Good
}

// listNow is the moment that the list shows: the present, or when it was frozen.
func (m root) listNow() time.Time {
	if !m.list.frozen.IsZero() {
		return m.list.frozen
	}
	return m.now
}

// flag is the mark before a row: a warning, a new holder, gone.
func (t tableRows) flag(i int) string {
	r, th, now := t.rows[i], t.m.theme, t.m.listNow()
	switch {
	case !r.goneAt().IsZero():
		return th.Muted.Wrap("-")
	case !r.cameAt().IsZero() && now.Sub(r.cameAt()) < goneShown:
		return th.Strong.Wrap("+")
	case flagged(r):
		return th.Warn.Wrap(th.Glyph.Flag)
	}
	return " "
}

// listBody draws the table and what stands below it.
func (m root) listBody() []string {
	l := m.list
	tab := table.Table{
		Columns: l.columns(m.width), Theme: m.theme, Mark: m.theme.Glyph.Cursor + " ", NoMark: "  ",
	}
	rows := tableRows{l.rows, &m}
	tab.Flag, tab.Picked = rows.flag, rows.marked
	mark := m.theme.Glyph.Down
	if l.reverse {
		mark = m.theme.Glyph.Up
	}
	lines := []string{tab.Header(m.width, l.order.column(), mark)}
	if len(l.rows) == 0 {
		lines = append(lines, m.emptyList()...)
	} else {
		lines = append(lines, tab.Lines(rows, l.table, m.width, l.height)...)
	}
	for len(lines) < l.height+1 {
		lines = append(lines, "")
	}
	lines = lines[:l.height+1]
	return append(lines, m.explanation()...)
}

// emptyList says why there is nothing to see.
func (m root) emptyList() []string {
	switch {
	case len(m.list.all) > 0:
		return []string{"", fmt.Sprintf("  No lock contains %q; %s here without the filter (Esc clears it).",
			m.list.filter.String(), plural(len(m.list.all), "lock"))}
	case len(m.silent()) > 0:
		return []string{"", "  The server does not answer, and no lock was seen before."}
	case !m.feed.through:
		return []string{"", "  Looking for locks" + m.theme.Glyph.Ellipsis}
	case !m.feed.view.Coverage.Complete:
		return []string{"", "  No lock was found, and not everything could be looked at: see the second line."}
	}
	return []string{"", "  No locks here. The second line says what was looked at."}
}

// explainLines is how many lines an explanation of the row takes.
const explainLines = 2

// explanation says what the lock under the cursor is, where somebody knows.
func (m root) explanation() []string {
	if m.opts.Explain == nil {
		return nil
	}
	out := []string{m.rule()}
	if r, ok := m.list.current(); ok {
		for _, line := range theme.Wrap(m.opts.Explain(string(r.lock.Key)), m.width-2) {
			out = append(out, " "+line)
		}
	}
	for len(out) < explainLines+1 {
		out = append(out, "")
	}
	return out[:explainLines+1]
}

// listHeight is how many rows fit.
func (m root) listHeight() int {
	h := m.bodyHeight() - 1 // the titles
	if m.opts.Explain != nil {
		h -= explainLines + 1
	}
	return h
}
