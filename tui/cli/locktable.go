package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// maxColumn is how far a column is widened for one long cell; a longer one is
// printed whole all the same, and only its own row moves.
const maxColumn = 60

// column names one of the table.
type column int

const (
	colKey column = iota
	colFamily
	colKind
	colExpires
	colFence
	colWaiters
	colState
	colHolder
)

// writeTable prints locks for people, one a line. Nothing is cut: a holder's id
// is what release wants to be told. It stands last, since it may be long. Where
// the lines do not fit into width cells (0: any do), columns that say nothing
// are left out, and then the holder has a line of its own below its lock.
func writeTable(out io.Writer, locks []inspect.Lock, now time.Time, width int) {
	rows := [][]string{{"KEY", "FAMILY", "KIND", "EXPIRES", "FENCE", "WAITERS", "STATE", "HOLDER"}}
	for i := range locks {
		rows = append(rows, tableRow(&locks[i], now))
	}
	keep := []column{colKey, colFamily, colKind, colExpires, colFence, colWaiters, colState, colHolder}
	below := false
	if width > 0 && tableWidth(rows, keep) > width {
		keep = slices.DeleteFunc(keep, func(c column) bool {
			return (c == colFence || c == colWaiters) && !slices.ContainsFunc(rows[1:], func(r []string) bool { return r[c] != "-" })
		})
		if below = tableWidth(rows, keep) > width; below {
			keep = keep[:len(keep)-1]
		}
	}
	widths := columnWidths(rows, keep)
	for i, r := range rows {
		var b strings.Builder
		for n, c := range keep {
			b.WriteString(r[c])
			if n+1 < len(keep) {
				b.WriteString(strings.Repeat(" ", max(0, widths[n]-ansi.StringWidth(r[c]))+2))
			}
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
		if below && i > 0 {
			fmt.Fprintln(out, "  held by", r[colHolder])
		}
	}
}

// columnWidths are the widths of some columns.
func columnWidths(rows [][]string, keep []column) []int {
	widths := make([]int, len(keep))
	for _, r := range rows {
		for n, c := range keep {
			if w := ansi.StringWidth(r[c]); w <= maxColumn {
				widths[n] = max(widths[n], w)
			}
		}
	}
	return widths
}

// tableWidth is the width of the longest line.
func tableWidth(rows [][]string, keep []column) int {
	widths, most := columnWidths(rows, keep), 0
	for _, r := range rows {
		line := 0
		for n, c := range keep {
			w := ansi.StringWidth(r[c])
			if n+1 < len(keep) {
				w = max(w, widths[n]) + 2
			}
			line += w
		}
		most = max(most, line)
	}
	return most
}

func tableRow(l *inspect.Lock, now time.Time) []string {
	key := l.Key.String()
	if l.HasField {
		key += " field " + l.Field.String()
	}
	if l.DB != 0 {
		key = fmt.Sprintf("%d/%s", l.DB, key)
	}
	name := l.Family
	if l.Confidence < family.Certain {
		name += " (" + l.Confidence.String() + ")"
	}
	state := string(l.State)
	for _, w := range l.Warnings {
		state += ", " + w.Code
	}
	ends := l.Expiry(now)
	if l.State == family.Free {
		ends = "-" // there is no hold that could end
	}
	return []string{key, name, string(l.Kind), ends, dash(l.Fence), waitersCell(l.Waiters), state, l.HolderWords()}
}

func waitersCell(w *family.Waiters) string {
	switch {
	case w == nil:
		return "-"
	case w.Count < 0:
		return "some"
	}
	return strconv.FormatInt(w.Count, 10)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// coverageLine says what was looked at, so that an empty list can be believed.
func coverageLine(c inspect.Coverage, locks int) string {
	parts := []string{plural(locks, "lock")}
	depth := "every key looked at"
	if c.Depth == inspect.ByName {
		depth = "keys looked at by name only (--deep looks at all)"
	}
	parts = append(parts, fmt.Sprintf("%d of %d keys scanned in db %s, %s", c.Scanned, max(c.Keyspace, c.Scanned), joinInts(c.DBs), depth))
	if len(c.Match) > 0 && !slices.Equal(c.Match, []string{"*"}) {
		parts = append(parts, "only "+wire.Escape(strings.Join(c.Match, " ")))
	}
	if c.Nodes > 1 || c.NodesScanned < c.Nodes {
		parts = append(parts, fmt.Sprintf("%d of %d nodes scanned", c.NodesScanned, c.Nodes))
	}
	if c.PossibleHidden > 0 {
		parts = append(parts, fmt.Sprintf("%d possible not shown (--possible)", c.PossibleHidden))
	}
	if len(c.OtherDBs) > 0 {
		have := "have"
		if len(c.OtherDBs) == 1 {
			have = "has"
		}
		parts = append(parts, fmt.Sprintf("db %s %s keys too (--all-dbs)", joinInts(c.OtherDBs), have))
	}
	if !c.Complete {
		parts = append(parts, "INCOMPLETE")
	}
	return strings.Join(parts, "; ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func joinInts(list []int) string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = strconv.Itoa(n)
	}
	return strings.Join(out, ",")
}

// sortLocks orders a list as it is printed: by database, key and field, so that
// two calls can be compared line by line.
func sortLocks(locks []inspect.Lock) {
	slices.SortFunc(locks, func(a, b inspect.Lock) int {
		if a.DB != b.DB {
			return a.DB - b.DB
		}
		if c := strings.Compare(string(a.Key), string(b.Key)); c != 0 {
			return c
		}
		return strings.Compare(string(a.Field), string(b.Field))
	})
}
