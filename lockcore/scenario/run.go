package scenario

import (
	"slices"
	"time"
)

// Run is a world as it was played: the steps in order, and how it ended.
type Run struct {
	Name    string
	World   string
	Seed    int64
	Where   Where
	Guarded bool
	Switch  map[string]string
	Steps   []Step
	Broken  []Violation
	Verdict Verdict
	// Ends is how the file says that this world ends; nil: it does not say.
	Ends    *Ending
	Signals []Signal // those of the story that showed
	Spans   []Span
	Lease   time.Duration // how long locks are asked for
	Actors  []string
	Until   time.Duration // the last moment
	// Schedule tells the timetables of one story apart: worlds that part have the same.
	Schedule int
}

// AsFiled reports whether the world ended as its file says. A world of which
// the file says nothing did.
func (r *Run) AsFiled() bool {
	return r.Ends == nil || r.Ends.Verdict == r.Verdict && slices.Equal(r.Ends.Broken, r.Broken)
}

// Reach is how far a safe reaches, as the file says; "" for an unsafe world and
// where the file does not say.
func (r *Run) Reach() Reach {
	if r.Ends == nil || r.Verdict != Safe {
		return ""
	}
	return r.Ends.Reach
}

// Step is one line of a story as it was played. Several things that happen by
// themselves within a step, one like the other, are one Step with Times > 1.
type Step struct {
	N       int
	At      time.Duration // scheduled, never measured
	Last    time.Duration // of several times: the last
	Times   int
	Actor   string
	Dids    []Did
	Auto    bool // a timer of the actor's did it: a renewal, a poll, a deadline
	Forked  bool // somebody at the lab did it
	Skipped Verb // it did not happen: the actor was not inside any more; the verb that was due
	// Emulated: the server only played the part.
	Emulated bool
	Thinks   Belief
	Number   string // with which the actor thinks that it holds the lock
	Is       LockState
	Broken   []Violation
	View     View
}

// Did is one thing done in a step.
type Did struct {
	Act  Act
	Does Verb // what it comes to: to resume a write is to write
	Sent []Sent
	Sees Outcome
}

// Sent is what went over the wire: commands as one would type them, and the
// replies, times being those of the story.
type Sent struct {
	Node  string
	Line  string
	Reply string
}

// View is the whole stage after a step.
type View struct {
	Now     time.Duration
	Actors  []ActorView
	Lock    LockState
	Value   string // what the store holds
	By      string // who wrote it; "" nobody yet
	Taken   int
	Refused int
	Highest string // the highest number the store has seen; "" it keeps none
	Broken  []Violation
	Signals map[Signal]int
	// Handed is how many attempts those who waited had made before the last grant.
	Handed int
	// LastHolder is who held the lock last, or holds it.
	LastHolder string
}

// ActorView is one actor after a step.
type ActorView struct {
	Name    string
	Thinks  Belief
	Number  string
	Inside  bool
	Paused  bool
	Stalled bool
	Crashed bool
	Left    time.Duration // of its grant, says Redis; negative: over since then
	Granted bool          // it has a grant, live or over
	Came    string        // the number that it shows to the store
}

// Span is a stretch of an actor's time.
type Span struct {
	Actor    string
	Kind     SpanKind
	From, To time.Duration
	// Set is when the end was known: a renewal lengthens a lease only from then on.
	Set time.Duration
}

// SpanKind is what a Span is of.
type SpanKind string

// Leased: Redis has the lock for the actor. Within: the actor is inside. Halted:
// its process is paused.
const (
	Leased SpanKind = "lease"
	Within SpanKind = "inside"
	Halted SpanKind = "paused"
)

// PartAt is the first step at which the first run and another of the same
// timetable differ in what somebody learnt; 0 when they do not.
func PartAt(runs ...*Run) int {
	if len(runs) < 2 {
		return 0
	}
	first := runs[0].learnt()
	best := 0
	for _, other := range runs[1:] {
		if other.Schedule != runs[0].Schedule {
			continue
		}
		theirs := other.learnt()
		for n := 1; n <= 99; n++ {
			if !slices.Equal(first[n], theirs[n]) {
				if best == 0 || n < best {
					best = n
				}
				break
			}
		}
	}
	return best
}

// learnt is what was learnt in each numbered step. A number shown to the guard
// in passing is not a difference to an actor, nor is a renewal that succeeds.
func (r *Run) learnt() map[int][]string {
	out := make(map[int][]string)
	for _, s := range r.Steps {
		if s.Skipped != "" {
			out[s.N] = append(out[s.N], s.Actor+" does not "+string(s.Skipped))
			continue
		}
		for _, d := range s.Dids {
			if d.Act.Verb == Enter || s.Auto && d.Sees.Code == Renewed {
				continue
			}
			out[s.N] = append(out[s.N], s.Actor+" "+string(d.Act.Verb)+" "+d.Sees.plain())
		}
	}
	return out
}

// plain is the outcome without times, which differ between worlds as a matter
// of course.
func (o Outcome) plain() string {
	o.Left = 0
	return o.String()
}
