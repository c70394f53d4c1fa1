package table

import (
	"fmt"
	"strings"
	"testing"

	"fencepost/tui/theme"
)

// ids are rows that consist of their identity.
type ids []string

func (r ids) Len() int        { return len(r) }
func (r ids) ID(i int) string { return r[i] }
func (r ids) Row(i int, _ []int) []Cell {
	return []Cell{{Text: r[i]}, {Text: fmt.Sprint(i)}}
}

func plain() Table {
	return Table{
		Theme: theme.New(theme.Plain, true), Mark: "> ", NoMark: "  ",
		Columns: []Column{{Title: "KEY", Min: 6, Grow: 1, Middle: true}, {Title: "NO", Min: 3, Right: true, Drop: 1}},
	}
}

func TestLinesDrawTheWindow(t *testing.T) {
	rows := ids{"a", "b", "c", "d", "e"}
	s := State{}.Sync(rows, 3).To(rows, 3, 3)
	got := strings.Join(plain().Lines(rows, s, 14, 3), "\n")
	want := "  b          1\n  c          2\n> d          3"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if h := plain().Header(14, 0, "^"); h != "  KEY^      NO" {
		t.Errorf("header %q", h)
	}
}

// The cursor must follow its lock through sorting and through rows that come
// and go: an operator who presses a key acts on what he saw.
func TestCursorFollowsIdentity(t *testing.T) {
	rows := ids{"a", "b", "c", "d"}
	s := State{}.Sync(rows, 10).To(rows, 2, 10)
	for _, next := range []ids{{"c", "a"}, {"x", "y", "z", "c"}, {"d", "c", "b", "a"}} {
		if s = s.Sync(next, 10); s.ID() != "c" || next[s.Cursor()] != "c" {
			t.Fatalf("after %v the cursor is on %q", next, s.ID())
		}
	}
	s = s.Sync(ids{"d", "b", "a"}, 10)
	if s.ID() != "b" {
		t.Errorf("c is gone: the cursor is on %q, want its place's new row b", s.ID())
	}
	if s = s.Sync(ids{}, 10); s.ID() != "" {
		t.Errorf("an empty table has a cursor on %q", s.ID())
	}
}

func TestSyncKeepsTheRowWhereTheEyeIs(t *testing.T) {
	rows := make(ids, 100)
	for i := range rows {
		rows[i] = fmt.Sprintf("r%02d", i)
	}
	s := State{}.Sync(rows, 10).To(rows, 50, 10)
	line := s.cursor - s.top
	s = s.Sync(rows[5:], 10)
	if s.ID() != "r50" || s.cursor-s.top != line {
		t.Errorf("five rows above vanished: cursor on %s, line %d, want r50, line %d", s.ID(), s.cursor-s.top, line)
	}
}

func TestMoveStopsAtTheEnds(t *testing.T) {
	rows := ids{"a", "b", "c"}
	s := State{}.Sync(rows, 2)
	if s = s.Move(rows, -5, 2); s.ID() != "a" {
		t.Errorf("above the top: %q", s.ID())
	}
	if s = s.Move(rows, 99, 2); s.ID() != "c" || s.top != 1 {
		t.Errorf("below the end: %q, top %d", s.ID(), s.top)
	}
}

func TestWidths(t *testing.T) {
	tab := Table{Mark: "> ", Columns: []Column{
		{Min: 10, Grow: 2}, {Min: 5, Grow: 1, Max: 8}, {Min: 4, Drop: 1}, {Min: 4, Drop: 2},
	}}
	for _, c := range []struct {
		w    int
		want []int
	}{
		{28, []int{10, 5, 4, 4}},
		{27, []int{13, 6, 4, 0}}, // one cell short: the column to drop first is gone
		{22, []int{13, 6, 0, 0}},
		{60, []int{39, 8, 4, 4}},
		{5, []int{10, 5, 0, 0}},
	} {
		if got := tab.Widths(c.w); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("Widths(%d) = %v, want %v", c.w, got, c.want)
		}
	}
}

func TestCellsWithEscapesAndWideRunesKeepTheColumns(t *testing.T) {
	tab := plain()
	tab.Theme = theme.New(theme.Sixteen, false)
	for _, text := range []string{"주문:체크아웃", "⚠️ lock", strings.Repeat("long", 20), "e\u0301a"} {
		line := tab.line("  ", "", []Cell{{Text: text, Paint: tab.Theme.Danger}, {Text: "7"}}, tab.Widths(20), false, 20)
		if w := theme.Width(line); w != 20 {
			t.Errorf("%q makes a line of %d cells: %q", text, w, line)
		}
		if strings.Count(line, "\x1b[0m") != 1 {
			t.Errorf("%q: the paint is not closed once: %q", text, line)
		}
	}
	ready := tab.Theme.Bar(1, 2, 6, tab.Theme.Good)
	line := tab.line("> ", "", []Cell{{Text: ready, Ready: true}, {Text: "7"}}, []int{6, 3}, true, 12)
	if strings.Count(line, "\x1b[") != 2 || theme.Width(line) != 12 {
		t.Errorf("the row under the cursor has its own paint only, 12 cells wide: %q", line)
	}
}

func TestFlagStandsBeforeTheRow(t *testing.T) {
	tab := plain()
	tab.Mark, tab.NoMark = ">", " "
	tab.Flag = func(i int) string { return string("! "[i]) }
	rows := ids{"a", "b"}
	got := strings.Join(tab.Lines(rows, State{}.Sync(rows, 2).To(rows, 1, 2), 13, 2), "\n")
	if want := " ! a        0\n>  b        1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A row that was picked keeps its columns, under the cursor and elsewhere.
func TestPickedRowsHaveAStar(t *testing.T) {
	tab := plain()
	tab.Picked = func(i int) bool { return i != 2 }
	rows := ids{"a", "b", "c"}
	got := tab.Lines(rows, State{}.Sync(rows, 3), 13, 3)
	for i, want := range []string{">*", " *", "  "} {
		if !strings.HasPrefix(got[i], want+rows[i]) {
			t.Errorf("row %d is %q, want it to begin with %q", i, got[i], want+rows[i])
		}
	}
}

// counting proves that rows outside the window are never asked for.
type counting struct {
	ids
	asked *int
}

func (c counting) Row(i int, w []int) []Cell { *c.asked++; return c.ids.Row(i, w) }

func TestOnlyTheWindowIsAskedFor(t *testing.T) {
	rows := make(ids, 100_000)
	for i := range rows {
		rows[i] = fmt.Sprint(i)
	}
	asked := 0
	c := counting{rows, &asked}
	s := State{}.Sync(c, 20).To(c, 70_000, 20)
	plain().Lines(c, s, 80, 20)
	if asked != 20 {
		t.Errorf("%d rows were drawn for a window of 20", asked)
	}
}

func BenchmarkLines(b *testing.B) {
	rows := make(ids, 100_000)
	for i := range rows {
		rows[i] = fmt.Sprintf("orders:%d:lock", i)
	}
	s := State{}.Sync(rows, 50).To(rows, 50_000, 50)
	for b.Loop() {
		plain().Lines(rows, s, 120, 50)
	}
}
