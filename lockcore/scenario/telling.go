package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Lane is where a step's answer stands on a screen: actors, Redis and the store
// are columns.
type Lane int

// The lanes of an answer.
const (
	NoLane Lane = iota
	RedisLane
	StoreLane
)

// Cell is one act as lanes show it: what the actor does, and what it came to.
type Cell struct {
	Does string
	Lane Lane
	Says string
	// Outcome is what it came to, as it is.
	Outcome
}

// Cells are a step's acts, a line each. A number that is shown to the guard in
// passing stands only where it is the step, or part of coming in.
func (w *Words) Cells(r *Run, st Step) []Cell { return w.cells(r, st, false) }

// LaneCells are the same for lanes, where the resource has one place in a line:
// what was read and the number that was shown stand in it together. short asks
// for the shorter form of an answer where there is one, for half a screen.
func (w *Words) LaneCells(r *Run, st Step, short bool) []Cell {
	out := w.cells(r, st, short)
	for i := 1; i < len(out); i++ {
		if one := &out[i-1]; one.Code == Entered && one.Does == "" && out[i].Code == Value {
			out[i].Says = w.say("store", "value-entered", "value", out[i].Value, "number", one.Number)
			return slices.Delete(out, i-1, i)
		}
	}
	return out
}

func (w *Words) cells(r *Run, st Step, short bool) []Cell {
	if st.Skipped != "" {
		does := w.say("does", string(st.Skipped), "value", "", "number", "")
		return []Cell{{Does: "(" + strings.Join(strings.Fields(does), " ") + ")"}}
	}
	var out []Cell
	first := len(st.Dids) > 0 && st.Dids[0].Does == Acquire // then the entry is the news, not the reading
	for i, d := range st.Dids {
		passing := d.Does == Enter && i+1 < len(st.Dids) && d.Sees.Code == Entered
		if passing && !first {
			continue
		}
		c := w.cell(r, st, d, short)
		if passing {
			c.Does = ""
		}
		out = append(out, c)
	}
	return out
}

func (w *Words) cell(r *Run, st Step, d Did, short bool) Cell {
	c := Cell{Does: w.does(st, d), Lane: laneOf(d), Outcome: d.Sees}
	table := "says"
	if c.Lane == StoreLane {
		table = "store"
	}
	if c.Lane == NoLane {
		return c
	}
	key := w.form(table, st, d)
	if short && w.has(table, key+"-short") {
		key += "-short"
	}
	c.Says = w.say(table, key, w.facts(r, st, d)...)
	return c
}

// does is what the actor does, as its lane has it.
func (w *Words) does(st Step, d Did) string {
	verb := string(d.Does)
	if d.Act.Begin {
		verb = "begin-" + verb
	}
	switch d.Act.Verb {
	case Resume, Resend:
		if d.Does != Write {
			verb = string(d.Act.Verb)
		}
	case Evict, Delete, Told:
		verb = string(d.Act.Verb)
	}
	value := d.Sees.Value
	switch d.Act.Verb {
	case Hand, Split, Heal, Deliver:
		value = strings.Join(append([]string{d.Act.Who}, d.Act.Nodes...), " ")
	case Clock:
		value = fmt.Sprintf("%+d", int64(d.Act.For/time.Second))
	case Pay:
		value = fmt.Sprint(d.Act.Amount)
	}
	return w.say("does", verb, "value", value, "number", st.Number)
}

// laneOf says where the answer stands.
func laneOf(d Did) Lane {
	switch d.Sees.Code {
	case "", Done, Begun:
		return NoLane
	case Value, Taken, Unnumbered, Refused, SplitNum, NoRows, Entered, Charged, Already, FloorAt:
		return StoreLane
	}
	switch d.Does {
	case Write, Read, Pay:
		return StoreLane
	}
	return RedisLane
}

// form is the key of an answer: some have more than one, by what they tell.
func (w *Words) form(table string, st Step, d Did) string {
	key := string(d.Sees.Code)
	switch {
	case d.Sees.Agreed > 0:
		return key + "-quorum"
	case d.Sees.Code == Granted && d.Sees.Number == "":
		return "granted-plain"
	case (d.Sees.Code == Stopped || d.Sees.Code == Empty) && d.Sees.Value != "":
		return key + "-one"
	case d.Sees.Code == OverNow && table == "says" && lastHolder(st) == "":
		return "over-nobody"
	case d.Sees.Code == Refused && table == "store" && !lessNumber(st.mine(), d.Sees.Number):
		return "refused-le"
	case !w.has(table, key):
		return string(Broke)
	}
	return key
}

func lessNumber(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// facts are the names in braces of an answer.
func (w *Words) facts(r *Run, st Step, d Did) []string {
	who := d.Sees.Who
	if who == "" {
		switch d.Sees.Code {
		case Granted, Bare:
			who = st.Actor
		case OverNow:
			who = lastHolder(st)
		}
	}
	left := w.Seconds(d.Sees.Left)
	switch {
	case d.Sees.Code == Jumped:
		left = w.Say("seconds", "t", fmt.Sprintf("%+d", int64(d.Sees.Left/time.Second)))
	case d.Sees.Left < 0:
		left = w.Say("no-expiry")
	}
	return []string{"actor", st.Actor, "who", who, "number", d.Sees.Number, "mine", st.mine(), "left", left,
		"lease", w.Say("seconds", "t", Seconds(r.Lease)), "value", d.Sees.Value,
		"agreed", strconv.Itoa(d.Sees.Agreed), "nodes", strings.Join(d.Act.Nodes, ", ")}
}

// mine is the number with which the actor came.
func (st Step) mine() string {
	for _, a := range st.View.Actors {
		if a.Name == st.Actor && a.Came != "" {
			return a.Came
		}
	}
	return st.Number
}

// lastHolder is whose lease ended last before the step.
func lastHolder(st Step) string { return st.View.LastHolder }

// Tell is a step as a sentence or two, for talks and handouts.
func (w *Words) Tell(s *Scenario, r *Run, st Step) string {
	text := w.Text(s)
	for _, key := range []string{fmt.Sprintf("%d.%s", st.N, r.World), fmt.Sprint(st.N)} {
		if own, ok := text.Step[key]; ok && !st.Auto && !st.Forked {
			return own
		}
	}
	if st.Skipped != "" {
		return w.say("tell", "skipped", "actor", st.Actor)
	}
	var out []string
	for _, d := range st.Dids {
		if d.Does == Enter && len(st.Dids) > 1 && d.Sees.Code == Entered {
			continue
		}
		out = append(out, w.tellOne(r, st, d))
	}
	return strings.Join(out, " ")
}

func (w *Words) tellOne(r *Run, st Step, d Did) string {
	facts := w.facts(r, st, d)
	code := w.form("tell", st, d)
	keys := []string{string(d.Does) + "." + code, code}
	switch {
	case d.Act.Begin:
		keys = []string{"begin." + string(d.Act.Verb)}
	case d.Act.Verb == Put:
		keys = []string{"put"}
	case d.Act.Verb == Split && len(d.Act.Nodes) > 0:
		keys = []string{"split-masters"}
	case d.Act.Verb == Split:
		keys = []string{"split-net"}
	case d.Act.Verb == Leave && st.Auto:
		keys = []string{"own-timer"}
	case d.Sees.Code == Done || d.Sees.Code == "":
		keys = []string{string(d.Act.Verb)}
	}
	if d.Act.Who != "" {
		for i := range facts {
			if facts[i] == "value" && i%2 == 0 {
				facts[i+1] = d.Act.Who
			}
		}
	}
	for _, k := range keys {
		if w.has("tell", k) {
			out := w.say("tell", k, facts...)
			if d.Act.Lost {
				out += " " + w.say("tell", "cut-reply")
			}
			return out
		}
	}
	return st.Actor + ": " + w.does(st, d)
}

// Reach is how far a world's verdict reaches, in words.
func (w *Words) Reach(s *Scenario, r *Run) string {
	provided := w.Text(s).Provided[r.World]
	switch {
	case r.Verdict == Unsafe:
		return w.Say("unsafe")
	case r.Reach() == Always:
		return w.Say("safe-always", "provided", provided)
	case r.Reach() == Here:
		return w.Say("safe-here", "provided", provided)
	}
	return w.Say("safe")
}

// Store is what a key of a protected resource is called: "account 7" of "account:{7}".
func (w *Words) Store(kind, name string) string {
	if w.has("ui", "store-"+kind) {
		return w.Say("store-"+kind, "n", name)
	}
	return kind + " " + name
}

// Hint is a word beside a key; where the language has none, the key's own.
func (w *Words) Hint(id, otherwise string) string {
	if w.has("hint", id) {
		return w.say("hint", id)
	}
	return otherwise
}

// KeyHelp says what a key does; where the language has nothing, the key's own words.
func (w *Words) KeyHelp(id, otherwise string) string {
	if w.has("key", id) {
		return w.say("key", id)
	}
	return otherwise
}

// SixQuestions is how many questions are asked of every lock that went wrong.
const SixQuestions = 6

// Six are those questions.
func (w *Words) Six() []string {
	out := make([]string, SixQuestions)
	for i := range out {
		out[i] = w.Say("six-" + strconv.Itoa(i+1))
	}
	return out
}

// Legend explains the marks on the lab's screens.
func (w *Words) Legend() []string {
	var out []string
	for i := 1; w.has("legend", strconv.Itoa(i)); i++ {
		out = append(out, w.say("legend", strconv.Itoa(i)))
	}
	return out
}
