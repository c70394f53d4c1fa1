package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fencepost/lockcore/scenario"
	"fencepost/lockcore/wire"
)

// teller tells a story as text, world by world.
type teller struct {
	out    io.Writer
	words  *scenario.Words
	story  *scenario.Scenario
	speed  float64
	ctx    context.Context
	worlds int
	where  scenario.Where
	err    error // the first that a write had
}

func (t *teller) print(format string, args ...any) {
	if _, err := fmt.Fprintf(t.out, format, args...); err != nil && t.err == nil {
		t.err = err
	}
}

// world tells one world: its steps, what they broke, and the verdict.
func (t *teller) world(i int, r played) {
	text := t.words.Text(t.story)
	if i == 0 {
		t.print("%s: %s\n%s\n", clean(t.story.Name), clean(text.Title), clean(text.Story))
	}
	t.print("\n%s: %s   (%s", strings.ToUpper(t.words.Say("world", "n", fmt.Sprint(i+1), "of", fmt.Sprint(t.worlds))),
		clean(or(text.World[r.World], r.World)), switches(r.Run))
	t.print("; %s, %s)\n", t.words.Say("where-"+string(r.Where)), t.words.Say("seed", "seed", fmt.Sprint(r.Seed)))
	if r.prefix != "" {
		t.print("%s %s   %s\n", "keys below", r.prefix, "leases of "+r.lease.String())
	}
	last := time.Duration(0)
	for _, st := range r.Steps {
		t.pause(st.At - last)
		last = st.At
		t.step(r.Run, st)
	}
	t.verdict(r.Run)
}

// longestPause is how long a teller is silent at most, whatever the story does.
const longestPause = 5 * time.Second

func (t *teller) pause(d time.Duration) {
	if t.speed == 0 || d <= 0 {
		return
	}
	select {
	case <-t.ctx.Done():
	case <-time.After(min(longestPause, time.Duration(float64(d)/t.speed))):
	}
}

// step tells one step: who does what, what it came to, and what was sent.
func (t *teller) step(r *scenario.Run, st scenario.Step) {
	n := fmt.Sprintf("%2d", st.N)
	if st.Auto {
		n = "  " // a timer's: it has no number of its own
	}
	actor := st.Actor
	if actor == "-" {
		actor = ""
	}
	lines := t.cells(r, st)
	for i, c := range lines {
		head := fmt.Sprintf("%s %6.1f  %-3s", n, st.At.Seconds(), actor)
		if i > 0 {
			head = strings.Repeat(" ", ansi.StringWidth(head))
		}
		row := head + " " + pad(c.does, 20) + " " + pad(c.says, 30)
		if i == len(lines)-1 {
			row += " " + pad(t.is(st.Is), 20) + t.marks(st)
		}
		t.print("%s\n", strings.TrimRight(row, " "))
	}
	for _, d := range st.Dids {
		for _, s := range d.Sent {
			t.print("%s%s\n%s%s\n", strings.Repeat(" ", 18), clean(s.Line), strings.Repeat(" ", 18), "  "+clean(s.Reply))
		}
	}
}

type toldCell struct{ does, says string }

func (t *teller) cells(r *scenario.Run, st scenario.Step) []toldCell {
	var out []toldCell
	for _, c := range t.words.Cells(r, st) {
		says := c.Says
		if c.Lane != scenario.NoLane {
			says = "-> " + says
		}
		out = append(out, toldCell{clean(c.Does), clean(says)})
	}
	if len(out) == 0 {
		out = []toldCell{{}}
	}
	tail := &out[len(out)-1]
	switch {
	case st.Skipped != "":
		tail.says = t.words.Say("skipped")
	case st.Times > 1:
		tail.says += "  " + t.words.Say("times", "n", fmt.Sprint(st.Times), "t", scenario.Seconds(st.Last))
	}
	if st.Emulated {
		tail.says += " (" + t.words.Say("emulated") + ")"
	}
	return out
}

// marks are the rules that a step broke.
func (t *teller) marks(st scenario.Step) string {
	var names []string
	for _, v := range st.Broken {
		mark := "x "
		if v.Rule.Class() == scenario.Exposure {
			mark = "! "
		}
		names = append(names, mark+t.words.Rule(v.Rule))
	}
	if len(names) == 0 {
		return ""
	}
	return "  " + strings.Join(names, "  ")
}

// is is what Redis says, for people.
func (t *teller) is(l scenario.LockState) string {
	switch {
	case !l.Known:
		return "?"
	case !l.Held:
		return "-"
	}
	who := strings.TrimSpace(or(l.Holder, "?") + " " + l.Number)
	if l.Forever && t.where == scenario.ChosenRedis {
		return who + ", " + t.words.Say("net") // the key has an expiry, and it is the lab's
	}
	if l.Forever {
		return who + ", PTTL -1"
	}
	return who + ", " + t.words.Seconds(l.Left)
}

// verdict tells what a world broke, and how far a safe reaches.
func (t *teller) verdict(r *scenario.Run) {
	for _, v := range r.Broken {
		note := t.words.Class(v.Rule.Class())
		switch {
		case v.Rule == scenario.MutualExclusion:
			note = t.words.Say("exposure")
		case v.Rule.Class() == scenario.Exposure:
			note = t.words.Say("exposure-numbers")
		case v.Aside:
			note = t.words.Say("aside")
		}
		t.print("   %s  %s (%s)\n", t.words.Say("broken-at", "n", fmt.Sprint(v.Step)), t.words.Rule(v.Rule), note)
	}
	if n := handed(r); n > 1 {
		t.print("   %s\n", t.words.Say("attempts", "n", fmt.Sprint(n)))
	}
	t.print("   %s  %s\n", t.words.Say("verdict"), clean(t.words.Reach(t.story, r)))
	if w := t.story.World(r.World); w != nil && r.Reach() == scenario.Here && len(w.BrokenBy) > 0 {
		t.print("   %s\n", t.words.Say("broken-by", "names", strings.Join(w.BrokenBy, ", ")))
	}
}

// handed is the most attempts that one hand-off took.
func handed(r *scenario.Run) int {
	most := 0
	for _, st := range r.Steps {
		most = max(most, st.View.Handed)
	}
	return most
}

// end tells where the worlds part, and what is to be learnt.
func (t *teller) end(runs []*scenario.Run) {
	text := t.words.Text(t.story)
	t.print("\n")
	if at := scenario.PartAt(runs...); at > 0 {
		t.print("%s\n", t.words.Say("part-at", "n", fmt.Sprint(at)))
	}
	for _, l := range [][2]string{{"lesson", text.Lesson}, {"code", text.Code}, {"watch", text.Watch}} {
		if l[1] != "" {
			t.print("%s %s\n", pad(t.words.Say(l[0]), 14), clean(l[1]))
		}
	}
	if !slices.ContainsFunc(runs, func(r *scenario.Run) bool { return !r.AsFiled() || r.Ends == nil }) {
		t.print("%s\n", t.words.Say("ended-as-filed"))
	}
	for _, r := range runs {
		switch {
		case r.Ends == nil:
			t.print("%s\n", t.words.Say("not-filed", "world", r.World))
		case !r.AsFiled():
			t.print("%s\n", t.words.Say("ended-otherwise", "world", r.World, "verdict", string(r.Ends.Verdict), "broken", marks(r.Ends.Broken)))
		}
	}
}

// switches are where a world's switches stand: "guard: none".
func switches(r *scenario.Run) string {
	var out []string
	for name, at := range r.Switch {
		out = append(out, name+": "+at)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// clean makes a text safe on a terminal: a story of one's own may hold anything.
func clean(s string) string { return wire.Clean(s) }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// pad fills a text up to a number of cells.
func pad(s string, cells int) string {
	return s + strings.Repeat(" ", max(0, cells-ansi.StringWidth(s)))
}
