package table

// Widths shares out a line of w cells: the width of each column, 0 for those
// that had to go. Columns are one space apart.
func (t Table) Widths(w int) []int {
	w -= t.gutter()
	shown := make([]bool, len(t.Columns))
	for i := range shown {
		shown[i] = true
	}
	for need(t.Columns, shown) > w {
		if !dropOne(t.Columns, shown) {
			break
		}
	}
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		if shown[i] {
			widths[i] = c.Min
		}
	}
	grow(t.Columns, widths, w-need(t.Columns, shown))
	return widths
}

func need(cols []Column, shown []bool) int {
	sum := -1
	for i, c := range cols {
		if shown[i] {
			sum += c.Min + 1
		}
	}
	return max(sum, 0)
}

func dropOne(cols []Column, shown []bool) bool {
	worst := -1
	for i, c := range cols {
		if shown[i] && c.Drop > 0 && (worst < 0 || c.Drop > cols[worst].Drop) {
			worst = i
		}
	}
	if worst < 0 {
		return false
	}
	shown[worst] = false
	return true
}

// grow shares spare cells in proportion, again and again while some columns
// have reached their maximum and others have not.
func grow(cols []Column, widths []int, spare int) {
	for spare > 0 {
		total := 0
		for i, c := range cols {
			if canGrow(c, widths[i]) {
				total += c.Grow
			}
		}
		if total == 0 {
			return
		}
		given := 0
		for i, c := range cols {
			if !canGrow(c, widths[i]) {
				continue
			}
			add := max(1, spare*c.Grow/total)
			if c.Max > 0 {
				add = min(add, c.Max-widths[i])
			}
			add = min(add, spare-given)
			widths[i] += add
			given += add
		}
		if given == 0 {
			return
		}
		spare -= given
	}
}

func canGrow(c Column, width int) bool {
	return width > 0 && c.Grow > 0 && (c.Max == 0 || width < c.Max)
}
