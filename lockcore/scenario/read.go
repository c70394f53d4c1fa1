package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// file is a story as it stands in TOML.
type file struct {
	Name    string            `toml:"name"`
	Group   string            `toml:"group"`
	Switch  []string          `toml:"switch"`
	Runs    []Where           `toml:"runs"`
	Signals []Signal          `toml:"signals"`
	Aside   []Rule            `toml:"aside"`
	FoundBy []int             `toml:"found_by"`
	Steps   string            `toml:"steps"`
	Set     map[string]string `toml:"set"`
	Stage   fileStage         `toml:"stage"`
	Worlds  []fileWorld       `toml:"world"`
	Asks    []fileAsk         `toml:"ask"`
	Text    fileText          `toml:"text"`
}

type fileStage struct {
	Lease   string            `toml:"lease"`
	Lock    string            `toml:"lock"`
	Other   string            `toml:"other"`
	Store   string            `toml:"store"`
	Value   string            `toml:"value"`
	Ver     int64             `toml:"version"`
	Last    *int64            `toml:"last"`
	Last2   int64             `toml:"last_other"`
	Seen    *int64            `toml:"seen"`
	Node    string            `toml:"node"`
	Until   string            `toml:"until"`
	Waiter  string            `toml:"waiter_lease"`
	Process map[string]string `toml:"process"`
	Thread  map[string]string `toml:"thread"`
}

type fileWorld struct {
	Name         string            `toml:"name"`
	Set          map[string]string `toml:"set"`
	Steps        string            `toml:"steps"`
	Change       string            `toml:"change"`
	Broken       []string          `toml:"broken"`
	Verdict      Verdict           `toml:"verdict"`
	Reach        Reach             `toml:"reach"`
	BrokenBy     []string          `toml:"broken_by"`
	FencedBroken []string          `toml:"with_guard_broken"`
	FencedEnd    Verdict           `toml:"with_guard_verdict"`
	Label        string            `toml:"label"`
	Provided     string            `toml:"provided"`
}

type fileAsk struct {
	Before   int      `toml:"before"`
	Right    int      `toml:"right"`
	Worlds   []string `toml:"worlds"`
	Question string   `toml:"question"`
	Answers  []string `toml:"answers"`
	Reveal   string   `toml:"reveal"`
}

type fileText struct {
	Title  string            `toml:"title"`
	Story  string            `toml:"story"`
	Lesson string            `toml:"lesson"`
	Code   string            `toml:"code"`
	Watch  string            `toml:"watch"`
	Step   map[string]string `toml:"step"`
}

// Parse reads a story from TOML. source names the file in errors, which come
// all together, each with its line where it has one.
func Parse(source, text string) (*Scenario, error) {
	var f file
	meta, err := toml.Decode(text, &f)
	if err != nil {
		var bad toml.ParseError
		if errors.As(err, &bad) {
			return nil, fmt.Errorf("%s:%d: %s", source, bad.Position.Line, bad.Message)
		}
		return nil, fmt.Errorf("%s: %s", source, strings.TrimPrefix(err.Error(), "toml: "))
	}
	r := reader{source: source, text: text}
	for _, key := range meta.Undecoded() {
		r.fail(key[len(key)-1], fmt.Errorf("nothing is called %q here", key.String()))
	}
	s := r.scenario(&f)
	if s != nil {
		r.check(s)
	}
	return s, errors.Join(r.errs...)
}

// reader gathers what is wrong with a file, so that its author sees all of it.
type reader struct {
	source, text string
	errs         []error
}

// fail notes what is wrong, at the line that holds where.
func (r *reader) fail(where string, err error) {
	line := 0
	for i, l := range strings.Split(r.text, "\n") {
		if where != "" && strings.Contains(l, where) {
			line = i + 1
			break
		}
	}
	if line == 0 {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", r.source, err))
		return
	}
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %w", r.source, line, err))
}

func (r *reader) scenario(f *file) *Scenario {
	s := &Scenario{Name: f.Name, Group: f.Group, Runs: f.Runs, Switch: f.Switch, Signals: f.Signals, Aside: f.Aside, FoundBy: f.FoundBy}
	s.Stage = r.stage(f.Stage)
	s.Text = Text{Title: f.Text.Title, Story: f.Text.Story, Lesson: f.Text.Lesson, Code: f.Text.Code,
		Watch: f.Text.Watch, Step: f.Text.Step, World: map[string]string{}, Provided: map[string]string{}}
	base := r.lines(f.Steps)
	for _, w := range f.Worlds {
		s.Worlds = append(s.Worlds, r.world(s, f, w, base))
		s.Text.World[w.Name] = w.Label
		if w.Provided != "" {
			s.Text.Provided[w.Name] = w.Provided
		}
	}
	for _, a := range f.Asks {
		s.Asks = append(s.Asks, Ask{Before: a.Before, Right: a.Right, Worlds: a.Worlds})
		s.Text.Asks = append(s.Text.Asks, AskText{Question: a.Question, Answers: a.Answers, Reveal: a.Reveal})
	}
	return s
}

func (r *reader) stage(f fileStage) Stage {
	s := Stage{Lease: r.duration("lease", f.Lease, 10*time.Second), Lock: or(f.Lock, "acct-7"), Other: f.Other,
		Store: or(f.Store, "account:{7}"), Value: or(f.Value, "100"), Ver: f.Ver, Last: "32", Seen: "32",
		Node: or(f.Node, NodeLock), Until: r.duration("until", f.Until, 0),
		WaiterLease: r.duration("waiter_lease", f.Waiter, 0), Process: f.Process, Thread: f.Thread}
	if f.Last != nil {
		s.Last = number(*f.Last)
	}
	if f.Seen != nil {
		s.Seen = number(*f.Seen)
	}
	s.Last2 = number(f.Last2)
	return s
}

func number(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (r *reader) duration(name, text string, otherwise time.Duration) time.Duration {
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > 24*time.Hour {
		r.fail(text, fmt.Errorf("%s: %q is no length of time, as in 10s", name, text))
	}
	return d
}

func (r *reader) lines(text string) []Line {
	lines, err := ParseLines(text)
	var bad *LineError
	if errors.As(err, &bad) {
		r.fail(bad.Text, bad.Err)
	}
	return lines
}

func (r *reader) world(s *Scenario, f *file, w fileWorld, base []Line) World {
	raw := maps.Clone(f.Set)
	if raw == nil {
		raw = make(map[string]string)
	}
	maps.Copy(raw, w.Set)
	set, err := ParseSettings(raw)
	if err != nil {
		r.fail("name = \""+w.Name+"\"", fmt.Errorf("world %s: %w", w.Name, err))
	}
	out := World{Name: w.Name, Set: set, BrokenBy: w.BrokenBy, Schedule: f.schedule(w)}
	out.Lines = r.changed(base, w)
	out.Ends = Ending{Broken: r.marks(s, w.Broken), Verdict: w.Verdict, Reach: w.Reach}
	if w.FencedEnd != "" {
		out.Fenced = &Ending{Broken: r.marks(s, w.FencedBroken), Verdict: w.FencedEnd}
	}
	return out
}

// schedule is 0 for a world with the story's own steps, and else the place,
// from 1, of the first world that has the same ones.
func (f *file) schedule(w fileWorld) int {
	if w.Steps == "" {
		return 0
	}
	return 1 + slices.IndexFunc(f.Worlds, func(other fileWorld) bool { return strings.TrimSpace(other.Steps) == strings.TrimSpace(w.Steps) })
}
