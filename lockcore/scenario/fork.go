package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Twist is what somebody at the lab does to a story.
type Twist string

// The twists. RunOut lets time pass until the lease has ended. KillIt ends the
// lock's server as kill -9 does: it comes back at once, and empty.
const (
	PauseIt  Twist = "pause"
	CrashIt  Twist = "crash"
	CutReply Twist = "cut-reply"
	RunOut   Twist = "run-out"
	KillIt   Twist = "kill"
)

// Twists are all of them, in the order of a menu.
func Twists() []Twist { return []Twist{PauseIt, CrashIt, CutReply, RunOut, KillIt} }

// ErrNothingToCut says that the actor asks nothing of the lock after the step.
var ErrNothingToCut = errors.New("scenario: this actor asks nothing more of the lock, so there is no reply to cut")

// ErrNothingToKill says that the world's lock is on no server.
var ErrNothingToKill = errors.New("scenario: in this world the lock is on no server, so there is none to kill")

// Fork is the world with a twist after one of its steps. What comes after is
// the story's own schedule: who is paused comes later, who has crashed does not.
// The file says nothing of how it ends.
func (s *Scenario) Fork(w *World, after int, t Twist, actor string) (World, error) {
	out := *w
	out.Lines = slices.Clone(w.Lines)
	out.Fenced = nil
	out.Name = "fork"
	last := slices.IndexFunc(out.Lines, func(l Line) bool { return l.N > after })
	if last < 0 {
		last = len(out.Lines)
	}
	at := w.moment(after)
	switch t {
	case RunOut:
		delay := s.Leases(w)[0] + 200*time.Millisecond
		for i := last; i < len(out.Lines); i++ {
			out.Lines[i] = out.Lines[i].later(delay)
		}
		line := Line{N: after, At: []time.Duration{at + delay - 100*time.Millisecond}, Actor: serverActor, Acts: []Act{{Verb: Over}}, Forked: true}
		out.Lines = slices.Insert(out.Lines, last, line)
	case PauseIt:
		line := Line{N: after, At: []time.Duration{at}, Actor: actor,
			Acts: []Act{{Verb: Pause, For: s.Leases(w)[0] + 2*time.Second}}, Forked: true}
		out.Lines = slices.Insert(out.Lines, last, line)
	case CrashIt:
		line := Line{N: after, At: []time.Duration{at}, Actor: actor, Acts: []Act{{Verb: Crash}}, Forked: true}
		out.Lines = slices.Insert(out.Lines, last, line)
	case CutReply:
		if !cutNext(out.Lines[last:], actor) {
			return out, ErrNothingToCut
		}
	case KillIt:
		node, err := s.killed(w)
		if err != nil {
			return out, err
		}
		line := func(at time.Duration, v Verb) Line {
			return Line{N: after, At: []time.Duration{at}, Actor: serverActor, Acts: []Act{{Verb: v, Who: node}}, Forked: true}
		}
		out.Lines = slices.Insert(out.Lines, last, line(at, Stop), line(w.between(at, after), Start))
	default:
		return out, fmt.Errorf("scenario: %q is no twist", t)
	}
	for i := range out.Lines {
		out.Lines[i].Text = out.Lines[i].String()
	}
	return out, nil
}

// killed names the server that KillIt is about: one of a quorum's masters, or
// "" for the one that there is.
func (s *Scenario) killed(w *World) (string, error) {
	switch {
	case w.Set[SwAcquire].Is("mutex") || s.Stage.Node == NodeClosed:
		return "", ErrNothingToKill
	case w.Set[SwAcquire].Is("quorum"):
		return quorumNodes()[quorum-1], nil
	}
	return "", nil
}

// between is a time between a moment after a step and the next step.
func (w *World) between(at time.Duration, after int) time.Duration {
	next := at + time.Second
	for _, l := range w.Lines {
		if l.N > after {
			next = min(next, max(at, l.At[0]))
		}
	}
	return at + (next-at)/2
}

// moment is a time between a step and the next.
func (w *World) moment(after int) time.Duration {
	var at, next time.Duration
	for _, l := range w.Lines {
		if l.N <= after {
			at = max(at, l.At[len(l.At)-1])
		} else if next == 0 || l.At[0] < next {
			next = l.At[0]
		}
	}
	if next > at {
		return at + min(50*time.Millisecond, (next-at)/2)
	}
	return at
}

// cutNext lets the network cut the next reply to the actor; its client library
// sends the request again.
func cutNext(lines []Line, actor string) bool {
	for i, l := range lines {
		for j, a := range l.Acts {
			if l.Actor != actor || a.Begin || a.Held || a.Verb != Acquire && a.Verb != Release {
				continue
			}
			a.Lost = true
			acts := slices.Concat(l.Acts[:j], []Act{a, {Verb: Resend}, {Verb: Told}}, l.Acts[j+1:])
			lines[i].Acts, lines[i].Forked = acts, true
			return true
		}
	}
	return false
}

// later is the line after a delay.
func (l Line) later(d time.Duration) Line {
	l.At = slices.Clone(l.At)
	for i := range l.At {
		l.At[i] += d
	}
	return l
}

// String is the line as it stands in a file.
func (l Line) String() string {
	times := make([]string, len(l.At))
	for i, at := range l.At {
		times[i] = Seconds(at)
	}
	acts := make([]string, len(l.Acts))
	for i, a := range l.Acts {
		acts[i] = a.String()
	}
	return fmt.Sprintf("%2d %s %s %s", l.N, strings.Join(times, " "), l.Actor, strings.Join(acts, ", "))
}

// FreeName is the name of the stage that is played by hand.
const FreeName = "free-lab"

// FreeLab is an empty stage for two or three actors who act by hand.
func FreeLab(guard bool) *Scenario {
	raw := map[string]string{SwGuard: "none"}
	if guard {
		raw[SwGuard] = "compare"
	}
	set, err := ParseSettings(raw)
	if err != nil {
		panic("scenario: " + err.Error()) // the words are those of the table
	}
	return &Scenario{Name: FreeName, Runs: []Where{Sandbox, ChosenRedis, OwnServers}, Switch: []string{SwGuard},
		Stage:  Stage{Lease: 10 * time.Second, Lock: "acct-7", Store: "account:{7}", Value: "100", Last: "32", Seen: "32", Node: NodeLock},
		Worlds: []World{{Name: "by-hand", Set: set}},
		Text:   Text{Title: "Free lab", Story: "Free lab", World: map[string]string{"by-hand": "by hand"}, Provided: map[string]string{}}}
}

// Format is a story of one world, as it was played, as a file that --check reads.
func Format(s *Scenario, w *World, r *Run, name, title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Made by hand in the lab.\nname = %q\nruns = [\"sandbox\", \"redis\", \"own\"]\nswitch = [%s]\n", name, quoted(s.Switch))
	b.WriteString("steps = \"\"\"\n")
	for _, l := range w.Lines {
		b.WriteString(l.String() + "\n")
	}
	fmt.Fprintf(&b, "\"\"\"\n\n[stage]\nlease = %q\n", s.Stage.Lease.String())
	fmt.Fprintf(&b, "\n[[world]]\nname = %q\nlabel = %q\n", "as-played", "as played")
	var set []string
	for _, k := range knobs() {
		if c := w.Set[k.name]; c.String() != k.words[0] {
			set = append(set, fmt.Sprintf("%s = %q", k.name, c))
		}
	}
	fmt.Fprintf(&b, "set = { %s }\n", strings.Join(set, ", "))
	var broken []string
	for _, v := range r.Broken {
		broken = append(broken, v.String())
	}
	fmt.Fprintf(&b, "broken = [%s]\nverdict = %q\n", quoted(broken), r.Verdict)
	if r.Verdict == Safe {
		fmt.Fprintf(&b, "reach = %q\nbroken_by = [\"gc-pause-late-write\"]\nprovided = %q\n", Here, "nothing was looked at but this schedule")
	}
	fmt.Fprintf(&b, "\n[text]\ntitle = %q\nstory = %q\n", title, title)
	return b.String()
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(out, ", ")
}
