package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Line is one line of a story: a numbered step, when, who, and what.
type Line struct {
	N     int
	At    []time.Duration // more than one: the same again and again
	Actor string          // "-" is the server, "N" the network
	Acts  []Act
	Text  string // as it stands in the file
	// Forked: somebody at the lab did it, the story did not.
	Forked bool
}

// Act is one thing that an actor does.
type Act struct {
	Verb   Verb
	Begin  bool // only the first half, up to the last command
	Amount int64
	For    time.Duration // -1: without bound
	Who    string
	Nodes  []string // of split and heal: only from these masters of a quorum
	Lost   bool     // the network cuts the reply
	Held   bool     // the network holds the request
}

// String is the act as it stands in a file.
func (a Act) String() string {
	s := string(a.Verb)
	if a.Begin {
		s = "begin " + s
	}
	switch verbs()[a.Verb].takes {
	case amount:
		s += " " + strconv.FormatInt(a.Amount, 10)
	case seconds:
		s += " " + Seconds(a.For)
	case signed:
		s += " " + fmt.Sprintf("%+d", int64(a.For/time.Second))
	case maybe:
		if a.For >= 0 {
			s += " " + Seconds(a.For)
		}
	case someone, aKey, aNode:
		s = strings.TrimRight(s+" "+a.Who, " ")
		if len(a.Nodes) > 0 {
			s += " from " + strings.Join(a.Nodes, " ")
		}
	}
	switch {
	case a.Lost:
		s += " (reply lost)"
	case a.Held:
		s += " (held)"
	}
	return s
}

// Seconds writes a length of time as the stories do: 10, 0.5, 12.1.
func Seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(time.Millisecond).Seconds(), 'f', -1, 64)
}

// the two names that are nobody's.
const (
	serverActor  = "-"
	networkActor = "N"
)

// ParseLine reads "N SECONDS[ SECONDS…] ACTOR act[, act…]". The time
// "0.11/0.25x20" stands for twenty times, a quarter of a second apart.
func ParseLine(text string) (Line, error) {
	words := strings.Fields(text)
	if len(words) < 4 {
		return Line{}, fmt.Errorf("a step is: number, seconds, actor, what it does; as in \"5 10.5 B acquire\"")
	}
	line := Line{Text: strings.TrimSpace(text)}
	var err error
	if line.N, err = strconv.Atoi(words[0]); err != nil || line.N < 1 || line.N > 99 {
		return Line{}, fmt.Errorf("%q is no step number (1 to 99)", words[0])
	}
	i := 1
	for ; i < len(words) && words[i][0] >= '0' && words[i][0] <= '9'; i++ {
		at, err := parseTimes(words[i])
		if err != nil {
			return Line{}, err
		}
		line.At = append(line.At, at...)
	}
	if len(line.At) == 0 || i >= len(words)-1 {
		return Line{}, fmt.Errorf("after the step number come its seconds and an actor, as in \"5 10.5 B acquire\"")
	}
	if line.Actor = words[i]; !validActor(line.Actor) {
		return Line{}, fmt.Errorf("%q is no actor: a capital letter, then up to five letters or digits; N is the network, - the server", line.Actor)
	}
	for part := range strings.SplitSeq(strings.Join(words[i+1:], " "), ",") {
		act, err := parseAct(strings.TrimSpace(part), line.Actor)
		if err != nil {
			return Line{}, err
		}
		line.Acts = append(line.Acts, act)
	}
	return line, nil
}

func validActor(s string) bool {
	if s == serverActor {
		return true
	}
	if s == "" || len(s) > 6 || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

func parseTimes(word string) ([]time.Duration, error) {
	first, rest, series := strings.Cut(word, "/")
	at, err := parseSeconds(first)
	if err != nil || !series {
		return []time.Duration{at}, err
	}
	gap, times, _ := strings.Cut(rest, "x")
	every, err := parseSeconds(gap)
	n, err2 := strconv.Atoi(times)
	if err != nil || err2 != nil || n < 1 || n > 1000 || every <= 0 {
		return nil, fmt.Errorf("%q is no series: as in 0.11/0.25x20 (first, gap, how often)", word)
	}
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = at + time.Duration(i)*every
	}
	return out, nil
}

func parseSeconds(s string) (time.Duration, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f > 100_000 || math.IsNaN(f) {
		return 0, fmt.Errorf("%q is no time in seconds (0 to 100000)", s)
	}
	return time.Duration(math.Round(f*1000)) * time.Millisecond, nil
}

func parseAct(text, actor string) (Act, error) {
	var act Act
	text, act.Lost = strings.CutSuffix(text, " (reply lost)")
	text, act.Held = strings.CutSuffix(text, " (held)")
	text, act.Begin = strings.CutPrefix(text, "begin ")
	verb, arg, _ := strings.Cut(text, " ")
	act.Verb = Verb(verb)
	g, ok := verbs()[act.Verb]
	switch {
	case !ok:
		return act, fmt.Errorf("nobody can %q; the verbs are %s", verb, verbList())
	case act.Begin && !g.begins:
		return act, fmt.Errorf("%q cannot be begun: only acquire, release, write and take can", verb)
	case (g.who == network) != (actor == networkActor):
		return act, fmt.Errorf("the network is N, and it can split, heal and deliver; %s cannot %q", actor, verb)
	case (g.who == server) != (actor == serverActor):
		return act, fmt.Errorf("what happens to the server is done by -, not by an actor: %s cannot %q", actor, verb)
	case (act.Lost || act.Held) && act.Verb != Acquire && act.Verb != Release:
		return act, fmt.Errorf("only the reply of acquire and release can be lost or held, not of %q", verb)
	}
	return parseArg(act, g.takes, arg)
}

func parseArg(act Act, takes takes, arg string) (Act, error) {
	var err error
	switch {
	case takes == nothing && arg == "":
	case takes == maybe && arg == "":
		act.For = -1
	case takes == seconds || takes == maybe:
		act.For, err = parseSeconds(arg)
	case takes == amount:
		if act.Amount, err = strconv.ParseInt(arg, 10, 64); err != nil {
			err = fmt.Errorf("%s takes a whole number, not %q", act.Verb, arg)
		}
	case takes == signed:
		var n int64
		if n, err = strconv.ParseInt(arg, 10, 32); err != nil || n == 0 {
			return act, fmt.Errorf("%s takes seconds with a sign, as +3600, not %q", act.Verb, arg)
		}
		act.For = time.Duration(n) * time.Second
	case takes == aNode && (arg == "" || slices.Contains(quorumNodes(), arg)):
		act.Who = arg
	case takes == someone && (act.Verb == Split || act.Verb == Heal) && strings.Contains(arg, " from "):
		return parseCut(act, arg)
	case takes == someone && validActor(arg) && arg != serverActor:
		act.Who = arg
	case takes == aKey && (arg == "lock" || arg == "number"):
		act.Who = arg
	default:
		err = fmt.Errorf("%q cannot stand behind %s", arg, act.Verb)
	}
	return act, err
}

// parseCut reads "A from R4 R5": which masters of a quorum an actor does not reach.
func parseCut(act Act, arg string) (Act, error) {
	who, nodes, _ := strings.Cut(arg, " from ")
	act.Who, act.Nodes = who, strings.Fields(nodes)
	if !validActor(who) || who == serverActor || len(act.Nodes) == 0 {
		return act, fmt.Errorf("%q cannot stand behind %s; as in \"split A from R4 R5\"", arg, act.Verb)
	}
	for _, n := range act.Nodes {
		if !slices.Contains(quorumNodes(), n) {
			return act, fmt.Errorf("%q is no master of a quorum; they are %s", n, strings.Join(quorumNodes(), ", "))
		}
	}
	return act, nil
}

func verbList() string {
	var names []string
	for v := range verbs() {
		names = append(names, string(v))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// ParseLines reads the steps of a story, one a line; empty lines and lines that
// begin with # are left out.
func ParseLines(text string) ([]Line, error) {
	var lines []Line
	for raw := range strings.Lines(text) {
		raw = strings.TrimSpace(raw)
		if raw == "" || raw[0] == '#' {
			continue
		}
		line, err := ParseLine(raw)
		if err != nil {
			return nil, &LineError{Text: raw, Err: err}
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// LineError says which step of a file is wrong.
type LineError struct {
	Text string // the step as it stands
	Err  error
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("step %q: %v", e.Text, e.Err) }

// Unwrap returns what is wrong with the step.
func (e *LineError) Unwrap() error { return e.Err }
