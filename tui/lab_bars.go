package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

// axis is the stretch of time that the bars show, and how many cells it has.
type axis struct {
	from, to time.Duration
	cells    int
}

// barIndent is where the bars begin; statusWidth is kept for what the holder
// thinks and what Redis says.
const (
	barIndent   = 6
	statusWidth = 37
)

// axisFor shows all of a short story, and of a long one the time around now.
func axisFor(run *scenario.Run, now time.Duration, width int) axis {
	to := run.Until
	for _, s := range run.Spans {
		if s.Kind == scenario.Leased && s.To < to+2*run.Lease {
			to = max(to, s.To)
		}
	}
	a := axis{0, to + time.Second, max(10, width-barIndent-statusWidth)}
	if a.to > 60*time.Second {
		a.from = max(0, now-30*time.Second)
		a.to = a.from + 60*time.Second
	}
	return a
}

// cell is where a moment lies; outside it is below 0 or not less than cells.
func (a axis) cell(t time.Duration) int {
	return int(int64(t-a.from) * int64(a.cells) / int64(a.to-a.from))
}

// middle is the moment in the middle of a cell.
func (a axis) middle(cell int) time.Duration {
	return a.from + time.Duration(int64(a.to-a.from)*(2*int64(cell)+1)/(2*int64(a.cells)))
}

// scale is the line of seconds above the bars.
func (a axis) scale() string {
	step := time.Second
	for _, s := range []time.Duration{1, 2, 5, 10, 20} {
		step = s * time.Second
		if int(int64(step)*int64(a.cells)/int64(a.to-a.from)) >= 5 {
			break
		}
	}
	line := " t" + strings.Repeat(" ", barIndent-2)
	for t := (a.from + step - 1) / step * step; t < a.to; t += step {
		col := barIndent + a.cell(t)
		if text := scenario.Seconds(t); col >= theme.Width(line) && col+len(text) <= barIndent+a.cells {
			line += strings.Repeat(" ", col-theme.Width(line)) + text
		}
	}
	return line
}

// barLines are the actors' leases: what is over, what is to come, and beside it
// what the holder thinks and what Redis says.
func (m root) barLines(world labWorld, number, width, most int) []string {
	run := world.run.Run
	v := world.view(number)
	a := axisFor(run, v.Now, width)
	if number == 0 {
		v.Now = -1 // before the first step nothing is known
	}
	lines := []string{m.theme.Muted.Wrap(a.scale())}
	for _, name := range m.barActors(run, v, most) {
		line := " " + theme.Pad(name, barIndent-2) + " " + m.bar(a, run, name, v.Now)
		lines = append(lines, theme.Pad(line, barIndent+a.cells)+" "+m.statusWords(v, name))
	}
	return lines
}

// barActors are the actors that have room: those that hold or think so first,
// but in the order of the story.
func (m root) barActors(run *scenario.Run, v scenario.View, most int) []string {
	rank := func(a scenario.ActorView) int {
		switch {
		case a.Inside || v.Lock.Holder == a.Name:
			return 0
		case a.Granted:
			return 1
		case a.Thinks == scenario.ThinksWaiting:
			return 2
		}
		return 3
	}
	all := slices.Clone(v.Actors)
	slices.SortStableFunc(all, func(x, y scenario.ActorView) int { return rank(x) - rank(y) })
	var chosen []string
	for _, a := range all[:min(most, len(all))] {
		chosen = append(chosen, a.Name)
	}
	slices.SortFunc(chosen, func(x, y string) int { return slices.Index(run.Actors, x) - slices.Index(run.Actors, y) })
	return chosen
}

// stretch is a span of time.
type stretch struct{ from, to time.Duration }

// stretches are an actor's spans of one kind, as far as was known at now: a
// renewal lengthens a lease only from then on.
func stretches(run *scenario.Run, kind scenario.SpanKind, name string, now time.Duration) []stretch {
	var out []stretch
	for _, s := range run.Spans {
		if s.Actor != name || s.Kind != kind || s.Set > now {
			continue
		}
		if n := len(out); n > 0 && out[n-1].from == s.From {
			out[n-1].to = s.To
			continue
		}
		out = append(out, stretch{s.From, s.To})
	}
	return out
}

func covered(list []stretch, t time.Duration) bool {
	return slices.ContainsFunc(list, func(s stretch) bool { return t >= s.from && t < s.to })
}

// bar draws one actor's lease: = held, # held while its process is stopped, !
// over though it is inside, - held though it is not inside, . still to come.
func (m root) bar(a axis, run *scenario.Run, name string, now time.Duration) string {
	leased := stretches(run, scenario.Leased, name, now)
	within := stretches(run, scenario.Within, name, now)
	halted := stretches(run, scenario.Halted, name, now)
	var future time.Duration
	if n := len(leased); n > 0 {
		future = leased[n-1].to
	}
	cells := make([]byte, a.cells)
	for i := range cells {
		t := a.middle(i)
		inside, held := covered(within, t), covered(leased, t)
		switch {
		case t > now && t < future:
			cells[i] = '.'
		case t > now:
			cells[i] = ' '
		case inside && !held:
			cells[i] = '!'
		case inside && covered(halted, t):
			cells[i] = '#'
		case inside:
			cells[i] = '='
		case held:
			cells[i] = '-'
		default:
			cells[i] = ' '
		}
	}
	if at := a.cell(now); at >= 0 && at < a.cells && now >= 0 {
		cells[at] = '|'
	}
	return m.bracketed(string(cells))
}

// bracketed marks where a lease begins and where it will end.
func (m root) bracketed(text string) string {
	if i := strings.IndexAny(text, "=#!-"); i > 0 {
		text = text[:i-1] + "[" + text[i:]
	} else if i == 0 {
		text = "[" + text[1:]
	}
	if i := strings.LastIndexByte(text, '.'); i >= 0 && i+1 < len(text) {
		text = text[:i+1] + "]" + text[i+2:]
	}
	text = strings.TrimRight(text, " ")
	if i := strings.IndexByte(text, '!'); i >= 0 {
		j := strings.LastIndexByte(text, '!') + 1
		return text[:i] + m.theme.Danger.Wrap(text[i:j]) + text[j:]
	}
	return text
}

// statusWords are what an actor thinks, and what Redis says. Where both agree
// there is one word.
func (m root) statusWords(v scenario.View, name string) string {
	w := m.words()
	i := slices.IndexFunc(v.Actors, func(a scenario.ActorView) bool { return a.Name == name })
	if i < 0 {
		return ""
	}
	a := v.Actors[i]
	thinks := w.Thinks(a.Thinks)
	holds := v.Lock.Held && v.Lock.Holder == name
	switch {
	case a.Thinks == scenario.ThinksHeld && holds:
		return thinks + ", " + m.leftWords(v.Lock)
	case a.Thinks == scenario.ThinksHeld && a.Granted && a.Left <= 0:
		over := w.Say("over-for", "t", fmt.Sprintf("%.1f", -a.Left.Seconds()))
		return w.Say("thinks") + ": " + thinks + "  " + m.theme.Danger.Wrap(w.Say("is")+": "+over)
	case a.Thinks == scenario.ThinksHeld:
		return w.Say("thinks") + ": " + thinks + "  " + m.theme.Danger.Wrap(w.Say("is")+": "+w.Say("no-grant"))
	case holds:
		return w.Say("thinks") + ": " + thinks + "  " + w.Say("is") + ": " + m.leftWords(v.Lock)
	}
	return m.theme.Muted.Wrap(thinks)
}

func (m root) leftWords(l scenario.LockState) string {
	if l.Forever {
		if m.lab.stage.where == scenario.ChosenRedis { // the key has one, and it is the lab's
			return m.theme.Warn.Wrap(m.words().Say("net"))
		}
		return m.theme.Warn.Wrap(m.words().Say("no-expiry"))
	}
	return m.words().Say("left", "t", fmt.Sprintf("%.1f", l.Left.Seconds()))
}
