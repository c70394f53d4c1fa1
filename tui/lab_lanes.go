package tui

import (
	"strings"

	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

// lanes are the columns of a story: the first actor, Redis, the others, and the
// protected resource. A lock and a write land in different columns, which is
// the whole lesson.
type lanes struct {
	width                 int
	actor, redis, b, rest int // where each begins
	short                 bool
}

// widestLanes is how far apart the columns are at most: an eye follows an arrow
// only so far.
const widestLanes = 130

// lanesFor lays the columns out for a width.
func lanesFor(width int) lanes {
	switch {
	case width >= 110:
		return lanes{width: width, actor: 5, redis: 34, b: 72, rest: min(width, widestLanes) - 20}
	case width >= 76:
		return lanes{width: width, actor: 5, redis: 25, b: 50, rest: width - 14}
	}
	return lanes{width: width, actor: 5, redis: 19, b: 36, rest: width - 13, short: true}
}

// placed is a text and the column where it begins.
type placed struct {
	at   int
	text string
}

// compose puts texts into a line, each at its column or right behind the one
// before it, and fills it up.
func compose(width int, texts ...placed) string {
	var b strings.Builder
	at := 0
	for _, t := range texts {
		if t.text == "" {
			continue
		}
		if t.at > at {
			b.WriteString(strings.Repeat(" ", t.at-at))
			at = t.at
		}
		b.WriteString(t.text)
		at += theme.Width(t.text)
	}
	if at < width {
		b.WriteString(strings.Repeat(" ", width-at))
	}
	return b.String()
}

// laneHead names the columns.
func (m root) laneHead(l lanes, run *scenario.Run) string {
	left, others := sides(run)
	name := strings.Join(others, " ")
	if len(others) > 3 {
		name = others[0] + ".." + others[len(others)-1]
	}
	dash := func(n int) string { return strings.Repeat("-", max(0, n)) }
	line := dash(l.actor) + " " + left + " "
	line += dash(l.redis-theme.Width(line)+2) + " Redis "
	line += dash(l.b-theme.Width(line)) + " " + m.theme.Glyph.Cut(name, l.rest-l.b-3) + " "
	line += dash(l.rest-theme.Width(line)-1) + " " + m.storeName() + " "
	line += dash(l.width - theme.Width(line))
	return m.theme.Rule.Wrap(m.theme.Glyph.Cut(line, l.width))
}

// sides are the actor of the first lane, and the others.
func sides(run *scenario.Run) (left string, others []string) {
	if len(run.Actors) == 0 {
		return "", nil
	}
	return run.Actors[0], run.Actors[1:]
}

// storeName is the protected resource, as people call it.
func (m root) storeName() string {
	key := m.lab.stage.story.Stage.Store
	kind, rest, ok := strings.Cut(key, ":{")
	if !ok {
		return oneLine(key)
	}
	return m.words().Store(kind, strings.TrimSuffix(rest, "}"))
}

// lookAhead is how many steps to come are shown.
const lookAhead = 2

// laneRows are the steps of a world up to the one that is shown last, and the
// next with a question mark where their answer will stand.
func (m root) laneRows(l lanes, world labWorld, number int, partAt int) []string {
	run := world.run.Run
	left, others := sides(run)
	var out []string
	last, mark := 0, ""
	horizon := world.horizon(number)
	for _, st := range run.Steps {
		if st.N > horizon {
			continue
		}
		row := laneRow{step: st, left: left, alone: len(others) == 1, now: st.N == number && st.N != last,
			hidden: st.N > number, first: st.N != last, parts: st.N == partAt && st.N != last && st.N <= number, mark: mark}
		if st.N > number && st.Auto {
			continue
		}
		out = append(out, m.laneRow(l, run, row))
		last = st.N
		mark = stopped(st, left)
	}
	return out
}

// horizon is the number of the last step that is shown.
func (w labWorld) horizon(number int) int {
	ahead := 0
	for _, n := range w.steps() {
		if n <= number {
			continue
		}
		number = n
		if ahead++; ahead == lookAhead {
			break
		}
	}
	return number
}

// stopped marks that an actor's process is stopped, or that it is stuck.
func stopped(st scenario.Step, name string) string {
	for _, a := range st.View.Actors {
		switch {
		case a.Name != name || !a.Inside && !a.Paused:
		case a.Paused:
			return "####"
		case a.Stalled:
			return "~~~~"
		}
	}
	return ""
}

func (m root) cut(s string, w int) string { return m.theme.Glyph.Cut(s, w) }
