package family

import (
	"cmp"
	"slices"
	"sync"
)

// Match is one family's claim on one key.
type Match struct {
	Family *Family
	Claim  Claim
	Key    string // that was looked at; "" for a channel
	rank   int    // the family's place in the order of All
	heard  bool   // from a channel
}

// lock is the key of the lock that is meant.
func (m *Match) lock() string {
	if m.Claim.Lock != "" {
		return m.Claim.Lock
	}
	return m.Key
}

// shape reports whether only the shape of the data spoke.
func (m *Match) shape() bool { return len(m.Claim.Candidates) > 0 }

// ranked is a family with its place in the order.
type ranked struct {
	*Family
	rank int
}

// byType holds, for each type of key, the families that know it, in order. It
// is data, made once.
var byType = sync.OnceValue(func() map[Type][]ranked {
	table := map[Type][]ranked{}
	for i, f := range all() {
		for _, t := range f.Types {
			table[t] = append(table[t], ranked{f, i})
		}
	}
	return table
})

// Recognise returns what the families say of one key: the surest first, and
// among equals in the order of All. own are families that are asked before
// those, as a user's own.
func Recognise(s *Sample, own ...*Family) []Match {
	var out []Match
	for i, f := range own {
		if slices.Contains(f.Types, s.Type) {
			out = ask(out, s, f, i-len(own))
		}
	}
	for _, f := range byType()[s.Type] {
		out = ask(out, s, f.Family, f.rank)
	}
	if len(out) > 1 {
		slices.SortStableFunc(out, surer)
	}
	return out
}

// surer orders matches: confidence, then the order of the families.
func surer(a, b Match) int {
	return cmp.Or(cmp.Compare(b.Claim.Confidence, a.Claim.Confidence), cmp.Compare(a.rank, b.rank))
}

func ask(out []Match, s *Sample, f *Family, rank int) []Match {
	for _, c := range f.Match(s) {
		if c.Confidence > Unlikely {
			out = append(out, Match{Family: f, Claim: c, Key: s.Key, rank: rank})
		}
	}
	return out
}

// RecogniseChannel returns the locks that a channel with subscribers tells of.
func RecogniseChannel(channel string) []Match {
	var out []Match
	for i, f := range all() {
		if f.FromChannel == nil {
			continue
		}
		for _, c := range f.FromChannel(channel) {
			out = append(out, Match{Family: f, Claim: c, rank: i, heard: true})
		}
	}
	return out
}

// ChannelGlobs are the patterns of channels that tell of locks, as PUBSUB
// CHANNELS takes them.
func ChannelGlobs() []string {
	var out []string
	for _, f := range all() {
		out = append(out, f.Channels...)
	}
	return out
}

// ByID returns the (first) family with this id, or nil.
func ByID(id string) *Family {
	for _, f := range all() {
		if f.ID == id {
			return f
		}
	}
	return nil
}

// Verdict is what became of one family's rule on a key.
type Verdict struct {
	Family *Family
	Claims []Claim // none: it did not match
	Why    string
}

// Explain asks every family about one key and says why each does or does not
// claim it: those that do first, the surest before the others.
func Explain(s *Sample, own ...*Family) []Verdict {
	var out []Verdict
	for _, f := range slices.Concat(own, all()) {
		out = append(out, explain(s, f))
	}
	slices.SortStableFunc(out, func(a, b Verdict) int { return cmp.Compare(b.surest(), a.surest()) })
	return out
}

func (v *Verdict) surest() Confidence {
	best := Unlikely
	for _, c := range v.Claims {
		best = max(best, c.Confidence)
	}
	return best
}

func explain(s *Sample, f *Family) Verdict {
	v := Verdict{Family: f}
	if !slices.Contains(f.Types, s.Type) {
		v.Why = "this key is " + article(s.Type) + ", not " + articles(f.Types)
		return v
	}
	v.Claims = f.Match(s)
	for i, c := range v.Claims {
		if i > 0 {
			v.Why += "; "
		}
		v.Why += c.Why
	}
	switch {
	case len(v.Claims) > 0:
	case f.WhyNot != nil:
		v.Why = f.WhyNot(s)
	default:
		v.Why = "looks for " + cmp.Or(f.Looks, "something else")
	}
	return v
}

func article(t Type) string {
	switch t {
	case None:
		return "not there"
	case ZSet:
		return "a sorted set"
	case "":
		return "of an unknown type"
	}
	return "a " + string(t)
}

func articles(types []Type) string {
	out := ""
	for i, t := range types {
		switch {
		case i == 0:
		case i == len(types)-1:
			out += " or "
		default:
			out += ", "
		}
		out += article(t)
	}
	return cmp.Or(out, "any that this family uses")
}
