package scenario

import (
	"maps"
	"slices"
	"time"
)

// Where is a place where a story can run.
type Where string

// Sandbox: the embedded Redis, in virtual time. ChosenRedis: somebody's server,
// below a prefix of the lab's. OwnServers: servers that the lab starts itself.
const (
	Sandbox     Where = "sandbox"
	ChosenRedis Where = "redis"
	OwnServers  Where = "own"
)

// Scenario is one story, checked. It is not changed after it was read.
type Scenario struct {
	Name    string
	Group   string // "A" to "F" for those shipped
	Runs    []Where
	Switch  []string // the switches in which its worlds differ
	Signals []Signal
	// Aside are rules that this story breaks in passing and does not look at:
	// they are listed, and decide nothing.
	Aside  []Rule
	Stage  Stage
	Worlds []World
	Asks   []Ask
	// FoundBy are those of the six questions (Words.Six) whose answer would have
	// shown what is wrong, from 1.
	FoundBy []int
	Text    Text
}

// Stage is where a story begins.
type Stage struct {
	Lease time.Duration
	Lock  string        // the lock's name: "acct-7" makes lock:{acct-7}
	Other string        // the name under which the second actor knows it; "" the same
	Store string        // the resource's key: account:{7}
	Value string        // its first value
	Ver   int64         // its version; 0: it has none
	Last  string        // the last number given; "" none
	Last2 string        // the last number given under Other
	Seen  string        // the highest number the guard has seen; "" none
	Node  string        // where the lock lives; NodeClosed: nowhere
	Until time.Duration // timers go on until then; 0 the last step
	// WaiterLease is what those who wait ask for; 0: Lease.
	WaiterLease time.Duration
	// Process of an actor that shares one with others; Thread within it.
	Process map[string]string
	Thread  map[string]string
}

// World is a set of switches, and how the story ends with them.
type World struct {
	Name  string
	Set   Settings
	Lines []Line
	Ends  Ending
	// Fenced is how it ends with the guard turned on top; nil: the file does not say.
	Fenced *Ending
	// BrokenBy are the stories that break a "safe here".
	BrokenBy []string
	// Schedule is 0 for a world that has the story's steps, and else tells
	// timetables apart: two worlds with the same can be compared step by step.
	Schedule int
}

// Ending is how a world ends as its file says.
type Ending struct {
	Broken  []Violation
	Verdict Verdict
	Reach   Reach // "" unless safe
}

// Ask is a question before a step.
type Ask struct {
	Before int
	Right  int // 1 and on
	Worlds []string
}

// Text is what a story tells, in one language.
type Text struct {
	Title    string
	Story    string
	Lesson   string
	Code     string            // what to do in one's code
	Watch    string            // the signal to watch
	World    map[string]string // a world's name on the screen
	Provided map[string]string // as long as which condition a world is safe
	Step     map[string]string // a sentence for a step, in place of the usual one: "8", or "8.guard" in one world
	Asks     []AskText
}

// AskText is a question, its answers, and what is said after the reveal.
type AskText struct {
	Question string
	Answers  []string
	Reveal   string
}

// RunsAt reports whether the story can run there.
func (s *Scenario) RunsAt(w Where) bool { return slices.Contains(s.Runs, w) }

// World returns the world with that name, or nil.
func (s *Scenario) World(name string) *World {
	for i := range s.Worlds {
		if s.Worlds[i].Name == name {
			return &s.Worlds[i]
		}
	}
	return nil
}

// Actors returns the names of all who act in a world, in order of appearance.
func (w *World) Actors() []string {
	var names []string
	add := func(n string) {
		if n != serverActor && n != networkActor && n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, l := range w.Lines {
		if l.Forked && l.Actor == serverActor {
			continue
		}
		add(l.Actor)
		for _, a := range l.Acts {
			if a.Verb == Hand {
				add(a.Who)
			}
		}
	}
	return names
}

// Steps returns the numbers of a world's steps, in order.
func (w *World) Steps() []int {
	seen := make(map[int]bool)
	for _, l := range w.Lines {
		seen[l.N] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Fencing says whether the guard is turned on top of a world.
type Fencing int

// AsFiled leaves the guard as the world has it.
const (
	AsFiled Fencing = iota
	FencingOn
	FencingOff
)

// With returns the world with the guard turned on or off on top, and how it
// ends then; nil where the file does not say.
func (s *Scenario) With(w *World, f Fencing) (World, *Ending) {
	out := *w
	on := w.Guarded()
	switch {
	case f == AsFiled, f == FencingOn && on, f == FencingOff && !on:
		ends := w.Ends
		return out, &ends
	case f == FencingOff:
		out.Set = w.Set.with(SwGuard, "none")
		out.Name = w.Name + "-without-guard"
	default:
		out.Set = w.Set.with(SwGuard, "compare")
		out.Name = w.Name + "-with-guard"
	}
	for i := range s.Worlds {
		if twin := &s.Worlds[i]; sameSettings(twin.Set, out.Set) && sameLines(twin.Lines, out.Lines) {
			ends := twin.Ends
			return out, &ends
		}
	}
	if f == FencingOn {
		return out, w.Fenced
	}
	return out, nil
}

// Guarded reports whether the store refuses older numbers in this world.
func (w *World) Guarded() bool { return w.Set[SwGuard].Is("compare", "database", "idempotency") }

func (s Settings) with(name, word string) Settings {
	out := maps.Clone(s)
	out[name] = Choice{Word: word}
	return out
}

func sameSettings(a, b Settings) bool {
	return maps.EqualFunc(a, b, func(x, y Choice) bool { return x.String() == y.String() })
}

func sameLines(a, b []Line) bool {
	return slices.EqualFunc(a, b, func(x, y Line) bool { return x.Text == y.Text })
}

// switched are the switches of this world by which it differs from others.
func (s *Scenario) switched(w *World) map[string]string {
	out := make(map[string]string)
	for _, name := range s.Switch {
		out[name] = w.Set[name].String()
	}
	return out
}

// seen is where the resource's highest seen number is kept.
func (s Stage) seen() string { return s.Store + ":seen" }

// Leases are the lengths for which locks are asked in a world, the main one first.
func (s *Scenario) Leases(w *World) []time.Duration {
	main := s.Stage.Lease
	if d := w.Set[SwAcquire].For("lease"); d > 0 {
		main = d
	}
	out := []time.Duration{main}
	if s.Stage.WaiterLease > 0 {
		out = append(out, s.Stage.WaiterLease)
	}
	return out
}

// Fills reports whether the world fills a server's memory, which takes seconds
// of real time in the course of a lease.
func (w *World) Fills() bool {
	return slices.ContainsFunc(w.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.Acts, func(a Act) bool { return a.Verb == Fill })
	})
}
