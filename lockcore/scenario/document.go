package scenario

import "strings"

// Document is a Run as fencepost/scenario/1 has it. Its words are never translated.
type Document struct {
	Schema     string            `json:"schema"`
	Name       string            `json:"name"`
	Seed       int64             `json:"seed"`
	Where      Where             `json:"where"`
	World      string            `json:"world"`
	Fencing    bool              `json:"fencing"`
	Switch     map[string]string `json:"switch"`
	Steps      []StepDocument    `json:"steps"`
	Violations []BrokenDocument  `json:"violations"`
	Verdict    Verdict           `json:"verdict"`
	Reach      *ReachDocument    `json:"reach"`
	Signals    []Signal          `json:"signals"`
	// AsFiled: the world ended as its file says; null where the file says nothing.
	AsFiled *bool `json:"as_filed"`
}

// StepDocument is one step. n is that of the step within which it happened;
// auto marks what a timer did by itself.
type StepDocument struct {
	N        int      `json:"n"`
	AtMS     int64    `json:"at_ms"`
	Actor    string   `json:"actor"`
	Does     string   `json:"does"`
	Redis    []string `json:"redis"`
	Reply    []string `json:"reply"`
	Sees     string   `json:"sees"`
	Thinks   string   `json:"thinks"`
	Is       string   `json:"is"`
	Emulated bool     `json:"emulated"`
	Auto     bool     `json:"auto,omitempty"`
	Forked   bool     `json:"forked,omitempty"`
	Skipped  bool     `json:"skipped,omitempty"` // it did not happen
	Times    int      `json:"times,omitempty"`   // more than once, until
	UntilMS  int64    `json:"until_ms,omitempty"`
}

// BrokenDocument is one broken rule.
type BrokenDocument struct {
	Rule  Rule  `json:"rule"`
	Class Class `json:"class"`
	Step  int   `json:"step"`
	Aside bool  `json:"aside,omitempty"` // the story does not look at this rule
}

// ReachDocument is how far a safe reaches.
type ReachDocument struct {
	Kind     Reach    `json:"kind"`
	Provided string   `json:"provided,omitempty"`
	BrokenBy []string `json:"broken_by,omitempty"`
}

// CompareDocument is fencepost/scenario-compare/1.
type CompareDocument struct {
	Schema   string           `json:"schema"`
	Name     string           `json:"name"`
	Worlds   []string         `json:"worlds"`
	PartAt   *int             `json:"part_at"` // null: they do not part
	Verdicts []Verdict        `json:"verdicts"`
	Reach    []*ReachDocument `json:"reach"`
}

// Document is the run as JSON has it.
func (s *Scenario) Document(r *Run) Document {
	d := Document{Schema: "fencepost/scenario/1", Name: r.Name, Seed: r.Seed, Where: r.Where, World: r.World,
		Fencing: r.Guarded, Switch: r.Switch, Steps: []StepDocument{}, Violations: []BrokenDocument{},
		Verdict: r.Verdict, Reach: s.reach(r), Signals: []Signal{}}
	for _, st := range r.Steps {
		d.Steps = append(d.Steps, st.document())
	}
	for _, v := range r.Broken {
		d.Violations = append(d.Violations, BrokenDocument{Rule: v.Rule, Class: v.Rule.Class(), Step: v.Step, Aside: v.Aside})
	}
	d.Signals = append(d.Signals, r.Signals...)
	if r.Ends != nil {
		as := r.AsFiled()
		d.AsFiled = &as
	}
	return d
}

func (s *Scenario) reach(r *Run) *ReachDocument {
	if r.Reach() == "" {
		return nil
	}
	out := &ReachDocument{Kind: r.Reach(), Provided: s.Text.Provided[r.World]}
	if w := s.World(r.World); w != nil && r.Reach() == Here {
		out.BrokenBy = w.BrokenBy
	}
	return out
}

// Compare is the last line of several worlds.
func (s *Scenario) Compare(runs []*Run) CompareDocument {
	d := CompareDocument{Schema: "fencepost/scenario-compare/1", Name: s.Name}
	if at := PartAt(runs...); at > 0 {
		d.PartAt = &at
	}
	for _, r := range runs {
		d.Worlds = append(d.Worlds, r.World)
		d.Verdicts = append(d.Verdicts, r.Verdict)
		d.Reach = append(d.Reach, s.reach(r))
	}
	return d
}

func (st Step) document() StepDocument {
	d := StepDocument{N: st.N, AtMS: st.At.Milliseconds(), Actor: st.Actor, Redis: []string{}, Reply: []string{},
		Is: st.Is.String(), Emulated: st.Emulated, Auto: st.Auto, Forked: st.Forked, Skipped: st.Skipped != ""}
	var does, sees []string
	for _, did := range st.Dids {
		verb := string(did.Does)
		if did.Act.Begin {
			verb = "begin " + verb
		}
		does = append(does, verb)
		if text := did.Sees.String(); text != "" && did.Sees.Code != Done {
			sees = append(sees, text)
		}
		for _, sent := range did.Sent {
			d.Redis = append(d.Redis, sent.Line)
			d.Reply = append(d.Reply, sent.Reply)
		}
	}
	if st.Skipped != "" {
		does = []string{string(st.Skipped)}
		sees = []string{"does not happen"}
	}
	d.Does, d.Sees = strings.Join(does, ", "), strings.Join(sees, "; ")
	d.Thinks = strings.TrimSpace(string(st.Thinks) + " " + st.Number)
	if st.Times > 1 {
		d.Times, d.UntilMS = st.Times, st.Last.Milliseconds()
	}
	return d
}
