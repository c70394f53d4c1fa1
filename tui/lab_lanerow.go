package tui

import (
	"fmt"
	"slices"
	"strings"

	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

// laneRow is one step on its way to the screen.
type laneRow struct {
	step   scenario.Step
	left   string // the actor of the first lane
	alone  bool   // there is one other actor, whose name stands above its lane
	now    bool   // the step that is shown last
	hidden bool   // what it comes to is not shown yet
	first  bool   // the first row of its step
	parts  bool   // here the worlds part
	// state of the first actor: its process is stopped, or it is stuck.
	mark string
}

// laneRow draws one step: the actor's text in its lane, an arrow to where its
// command goes, and there what was answered.
func (m root) laneRow(l lanes, run *scenario.Run, r laneRow) string {
	does, redis, store := m.laneTexts(l, run, r)
	if w := theme.Width(store); w > l.width-l.rest { // a long answer of the store begins before its lane
		l.rest = max(l.b, l.width-w)
	}
	head := m.laneNumber(r)
	paint := m.lanePaint(r)
	switch {
	case r.step.Actor == "-" || r.step.Actor == "N":
		if redis == "" {
			redis = does
		}
		return compose(l.width, placed{0, head}, placed{l.actor, idle(r.mark, "")}, placed{l.redis, paint.Wrap(m.cut(redis, l.end(store)-l.redis))},
			placed{l.rest, store})
	case r.step.Actor == r.left:
		return m.leftRow(l, head, does, redis, store, paint)
	}
	if !r.alone {
		does = r.step.Actor + " " + does
	}
	return m.rightRow(l, placed{0, head}, placed{l.actor, idle(r.mark, "")}, does, redis, store, paint)
}

// rightRow is a step of any other actor. Its text begins in its lane, or before
// it where it is long and there is room.
func (m root) rightRow(l lanes, head, idle placed, does, redis, store string, paint theme.Paint) string {
	end := l.end(store) - 2 // an arrow to the store
	if store == "" {
		end = l.end(store)
	}
	from := l.redis
	if redis != "" {
		most := max(l.b, end-theme.Width(does)) - l.redis - 4
		redis = m.cut(redis, most)
		from += theme.Width(redis) + 4
	}
	bAt := max(from, min(l.b, end-theme.Width(does)))
	does = m.cut(does, end-bAt)
	if redis != "" {
		redis += " <" + strings.Repeat("-", bAt-from+1)
	}
	arrow := ""
	if store != "" {
		arrow = " " + strings.Repeat("-", max(0, l.rest-bAt-theme.Width(does)-3)) + ">"
	}
	return compose(l.width, head, idle, placed{l.redis, redis},
		placed{bAt, does + m.theme.Muted.Wrap(arrow)}, placed{l.rest, paint.Wrap(m.cut(store, l.width-l.rest))})
}

// end is where a text has to end, before what the store answers or the edge.
func (l lanes) end(store string) int {
	if store == "" {
		return l.width - 1
	}
	return l.rest - 1
}

// leftRow is a step of the first actor.
func (m root) leftRow(l lanes, head, does, redis, store string, paint theme.Paint) string {
	texts := []placed{{0, head}}
	switch {
	case redis != "":
		at := max(l.redis, min(l.b, l.actor+theme.Width(does)+4)) // a long text moves the answer
		does = m.cut(does, at-l.actor-4)
		line := strings.Repeat("-", max(0, at-l.actor-theme.Width(does)-3)) + ">"
		texts = append(texts, placed{l.actor, does + " " + m.theme.Muted.Wrap(line)},
			placed{at, paint.Wrap(m.cut(redis, l.end(store)-at))})
	case store != "":
		does = m.cut(does, l.rest-l.actor-4)
		room := max(0, l.rest-l.actor-theme.Width(does)-3)
		line := strings.Repeat("- ", room/2)
		if room%2 == 1 {
			line = " " + line
		}
		texts = append(texts, placed{l.actor, does + " " + m.theme.Muted.Wrap(line+">")})
	default:
		texts = append(texts, placed{l.actor, m.cut(does, l.rest-l.actor-1)})
	}
	if store != "" {
		texts = append(texts, placed{l.rest, paint.Wrap(m.cut(store, l.width-l.rest))})
	}
	return compose(l.width, texts...)
}

// idle is what stands in the lane of an actor that does nothing in this step.
func idle(mark, otherwise string) string {
	if mark == "" {
		return otherwise
	}
	return mark
}

// laneTexts are what the actor does, what Redis answers and what the store
// answers, each in the words for a lane.
func (m root) laneTexts(l lanes, run *scenario.Run, r laneRow) (does, redis, store string) {
	w := m.words()
	var doing []string
	for _, c := range w.LaneCells(run, r.step, l.short) {
		if c.Does != "" {
			doing = append(doing, oneLine(c.Does))
		}
		says := oneLine(c.Says)
		if r.hidden && c.Lane != scenario.NoLane {
			says = "?"
		}
		switch c.Lane {
		case scenario.RedisLane:
			redis = says
		case scenario.StoreLane:
			store = says
		}
	}
	doing = slices.Compact(doing)
	does = strings.Join(doing, ", ")
	if l.short && len(doing) > 1 && theme.Width(does) > l.rest-l.b-1 {
		does = doing[0] // what was done first is what the step is about
	}
	if r.step.Emulated && !r.hidden && redis != "" && !l.short {
		redis += " (" + w.Say("emulated") + ")"
	}
	if r.step.Times > 1 {
		does += fmt.Sprintf(" x%d", r.step.Times)
	}
	if r.hidden && r.step.Skipped != "" {
		does = strings.Trim(does, "()")
	}
	return does, redis, store
}

// laneNumber is the step's number, and the marks beside it: the cursor, a rule
// that was broken, the place where the worlds part.
func (m root) laneNumber(r laneRow) string {
	cursor, number, mark := " ", "  ", " "
	if r.now {
		cursor = ">"
	}
	if r.first && !r.step.Auto {
		number = fmt.Sprintf("%2d", r.step.N)
	}
	if r.step.Forked {
		mark = "*"
	}
	if !r.hidden {
		for _, v := range r.step.Broken {
			if v.Rule.Class() != scenario.Exposure && !v.Aside {
				mark = "x"
				break
			}
			mark = "!"
		}
	}
	if r.parts {
		cursor = "X"
	}
	switch mark {
	case "x":
		mark = m.theme.Danger.Wrap(mark)
	case "!":
		mark = m.theme.Warn.Wrap(mark)
	}
	return m.theme.Strong.Wrap(cursor) + number + mark
}

// lanePaint paints what a step came to: harm, or a refusal that did its work.
func (m root) lanePaint(r laneRow) theme.Paint {
	if r.hidden {
		return m.theme.Muted
	}
	for _, v := range r.step.Broken {
		if v.Rule.Class() != scenario.Exposure && !v.Aside {
			return m.theme.Danger
		}
	}
	for _, d := range r.step.Dids {
		if d.Sees.Code == scenario.Refused {
			return m.theme.Good
		}
	}
	return theme.Paint{}
}
