package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"fencepost/lockcore/wire"
)

// changed is a world's schedule: its own steps, or those of the story with the
// lines of "change" in place of the steps that have their numbers. A line
// "4 gone" leaves step 4 out.
func (r *reader) changed(base []Line, w fileWorld) []Line {
	lines := slices.Clone(base)
	if w.Steps != "" {
		lines = r.lines(w.Steps)
	}
	var text strings.Builder
	gone := make(map[int]bool)
	for raw := range strings.Lines(w.Change) {
		var n int
		if _, err := fmt.Sscanf(strings.TrimSpace(raw), "%d gone", &n); err == nil {
			gone[n] = true
			continue
		}
		text.WriteString(raw)
	}
	instead := r.lines(text.String())
	for _, l := range instead {
		gone[l.N] = true
	}
	lines = slices.DeleteFunc(lines, func(l Line) bool { return gone[l.N] })
	lines = append(lines, instead...)
	slices.SortStableFunc(lines, func(a, b Line) int { return a.N - b.N })
	return lines
}

func (r *reader) marks(s *Scenario, raw []string) []Violation {
	var out []Violation
	for _, m := range raw {
		v, err := parseViolation(m)
		if err != nil {
			r.fail(m, err)
			continue
		}
		v.Aside = slices.Contains(s.Aside, v.Rule)
		out = append(out, v)
	}
	sortViolations(out)
	return out
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// check looks at what can only be seen when all is read.
func (r *reader) check(s *Scenario) {
	if !nameForm.MatchString(s.Name) {
		r.fail("name", fmt.Errorf("name %q: small letters, digits and dashes, at most 40", s.Name))
	}
	if s.Text.Title == "" || s.Text.Story == "" {
		r.fail("[text]", errors.New("a story needs a title and a story in [text]"))
	}
	if len(s.Worlds) == 0 {
		r.fail("", errors.New("a story needs at least one [[world]]"))
	}
	r.checkStage(s.Stage)
	r.checkLists(s)
	names := make(map[string]bool)
	for i := range s.Worlds {
		w := &s.Worlds[i]
		where := "name = \"" + w.Name + "\""
		if !nameForm.MatchString(w.Name) || names[w.Name] {
			r.fail(where, fmt.Errorf("world %q: each world needs a name of its own, of small letters, digits and dashes", w.Name))
		}
		names[w.Name] = true
		r.checkWorld(s, w, where)
	}
	r.checkAsks(s)
}

func (r *reader) checkLists(s *Scenario) {
	for _, w := range s.Runs {
		if !slices.Contains([]Where{Sandbox, ChosenRedis, OwnServers}, w) {
			r.fail("runs", fmt.Errorf("runs: %q is none of sandbox, redis, own", w))
		}
	}
	if len(s.Runs) == 0 {
		r.fail("runs", errors.New(`runs: say where the story may run, as in ["sandbox", "redis", "own"]`))
	}
	for _, name := range s.Switch {
		if !slices.ContainsFunc(knobs(), func(k knob) bool { return k.name == name }) {
			r.fail("switch", fmt.Errorf("there is no switch %q; the switches are %s", name, knobNames()))
		}
	}
	for _, sig := range s.Signals {
		if !slices.Contains(Signals(), sig) {
			r.fail(string(sig), fmt.Errorf("there is no signal %q; the signals are %v", sig, Signals()))
		}
	}
	for _, n := range s.FoundBy {
		if n < 1 || n > SixQuestions {
			r.fail("found_by", fmt.Errorf("found_by: %d is none of the six questions, 1 to 6", n))
		}
	}
	for _, rule := range s.Aside {
		if !slices.Contains(Rules(), rule) {
			r.fail(string(rule), fmt.Errorf("there is no rule %q; the rules are %s", rule, ruleList()))
		}
	}
}

func (r *reader) checkWorld(s *Scenario, w *World, where string) {
	if len(w.Lines) == 0 {
		r.fail(where, fmt.Errorf("world %s has no steps", w.Name))
	}
	switch w.Ends.Verdict {
	case Unsafe:
		if w.Ends.Reach != "" {
			r.fail(where, fmt.Errorf("world %s: only a safe world has a reach", w.Name))
		}
	case Safe:
		if w.Ends.Reach != Always && w.Ends.Reach != Here {
			r.fail(where, fmt.Errorf("world %s: how far does its safe reach? reach = \"always\" or \"here\"", w.Name))
		}
		if w.Ends.Reach == Here && len(w.BrokenBy) == 0 {
			r.fail(where, fmt.Errorf("world %s: a safe here names the stories that break it, in broken_by", w.Name))
		}
	default:
		r.fail(where, fmt.Errorf("world %s: verdict is %q, not safe or unsafe", w.Name, w.Ends.Verdict))
	}
	if Judge(w.Ends.Broken) != w.Ends.Verdict && w.Ends.Verdict != "" {
		r.fail(where, fmt.Errorf("world %s: verdict %q does not go with broken = %v", w.Name, w.Ends.Verdict, w.Ends.Broken))
	}
	steps := w.Steps()
	for _, v := range w.Ends.Broken {
		if !slices.Contains(steps, v.Step) {
			r.fail(where, fmt.Errorf("world %s: %s, but it has no step %d", w.Name, v, v.Step))
		}
	}
	r.checkTimes(w)
	r.checkActors(w)
	r.checkQuorum(w)
	if s.RunsAt(ChosenRedis) {
		if v, bad := w.needsServers(); bad {
			r.fail(where, fmt.Errorf("world %s: %q cannot be done to a chosen Redis, so runs must not say \"redis\"", w.Name, v))
		}
	}
}

// checkTimes wants the steps of a file in the order in which they happen.
func (r *reader) checkTimes(w *World) {
	for i := 1; i < len(w.Lines); i++ {
		if w.Lines[i].At[0] < w.Lines[i-1].At[0] {
			r.fail(w.Lines[i].Text, fmt.Errorf("world %s: step %d comes before step %d in time", w.Name, w.Lines[i].N, w.Lines[i-1].N))
		}
	}
}

// mostActs is how many acts a file may hold, its series counted out.
const mostActs = 5000

// checkActors wants everybody who is named to act, and not too much to happen.
func (r *reader) checkActors(w *World) {
	actors, acts := w.Actors(), 0
	for _, l := range w.Lines {
		for _, a := range l.Acts {
			acts += len(l.At)
			if a.Who != "" && verbs()[a.Verb].takes == someone && !slices.Contains(actors, a.Who) {
				r.fail(l.Text, fmt.Errorf("world %s: step %d names %s, who does nothing", w.Name, l.N, a.Who))
			}
		}
	}
	if acts > mostActs {
		r.fail("steps", fmt.Errorf("world %s: %d acts are too many", w.Name, acts))
	}
	if every := w.Set[SwRenew].For("every"); every > 0 && every < 100*time.Millisecond {
		r.fail("every=", fmt.Errorf("world %s: renewals closer than 100ms", w.Name))
	}
	if every := w.Set[SwWait].For("every"); every > 0 && every < 10*time.Millisecond {
		r.fail("every=", fmt.Errorf("world %s: polls closer than 10ms", w.Name))
	}
}

// checkStage wants names that make keys, and a lease that can be measured.
func (r *reader) checkStage(s Stage) {
	for _, name := range []string{s.Lock, or(s.Other, "x")} {
		if _, err := wire.NewKeys("lock:", name); err != nil || !plainName.MatchString(name) {
			r.fail(name, fmt.Errorf("%q cannot be a lock's name here: letters, digits, : . _ and - only", name))
		}
	}
	if !plainKey.MatchString(s.Store) {
		r.fail(s.Store, fmt.Errorf("%q cannot be the resource's key here, as in account:{7}", s.Store))
	}
	if s.Lease < time.Second {
		r.fail("lease", fmt.Errorf("lease: at least 1s"))
	}
	if s.Node != NodeLock && s.Node != NodeClosed {
		r.fail("node", fmt.Errorf("node: %q is none of redis, closed", s.Node))
	}
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9:._-]{1,60}$`)
	plainKey  = regexp.MustCompile(`^[A-Za-z0-9:._{}-]{1,60}$`)
)

// needsServers is the first verb that only a server of the lab's own allows.
func (w *World) needsServers() (Verb, bool) {
	for _, l := range w.Lines {
		for _, a := range l.Acts {
			switch a.Verb {
			case Stop, Start, Detach, Promote, Fill, Clock:
				return a.Verb, true
			}
		}
	}
	return "", w.Set[SwAcquire].Is("quorum")
}

func (r *reader) checkAsks(s *Scenario) {
	for i, a := range s.Asks {
		text := s.Text.Asks[i]
		where := fmt.Sprintf("before = %d", a.Before)
		if a.Right < 1 || a.Right > len(text.Answers) || len(text.Answers) < 2 || len(text.Answers) > 4 {
			r.fail(where, fmt.Errorf("the question before step %d needs two to four answers, and right says which of them, from 1", a.Before))
		}
		if text.Question == "" {
			r.fail(where, fmt.Errorf("the question before step %d is empty", a.Before))
		}
		for _, name := range a.Worlds {
			if s.World(name) == nil {
				r.fail(where, fmt.Errorf("the question before step %d is for a world %q that is not there", a.Before, name))
			}
		}
	}
}
