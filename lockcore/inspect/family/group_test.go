package family

import (
	"slices"
	"strings"
	"testing"

	"fencepost/lockcore/redistest"
)

// fake is a family that claims what it is told to.
func fake(id string, claims ...Claim) *Family {
	return &Family{ID: id, Label: id, Types: []Type{String}, Match: func(*Sample) []Claim { return claims }}
}

// grouped is the outcome of a few families' claims on one key, in short.
func grouped(families ...*Family) string {
	s := &Sample{Key: "k", Type: String, PTTL: 1000}
	ms := Recognise(s, families...)
	ms = slices.DeleteFunc(ms, func(m Match) bool { return !slices.Contains(families, m.Family) })
	var out []string
	for _, f := range Group(ms) {
		id := f.Family.ID + " " + f.Key + " " + f.Claim.Confidence.String()
		if f.Field != "" {
			id += " field " + f.Field
		}
		if len(f.Claim.Candidates) > 0 {
			id += " of " + strings.Join(f.Claim.Candidates, "|")
		}
		out = append(out, id)
	}
	return strings.Join(out, ", ")
}

func TestGroup(t *testing.T) {
	shape := func(id string, c Confidence) Claim { return Claim{Confidence: c, Candidates: []string{id}} }
	for name, c := range map[string]struct {
		families []*Family
		want     string
	}{
		"the surer wins":                    {[]*Family{fake("a", Claim{Confidence: Possible}), fake("b", Claim{Confidence: Likely})}, "b k likely"},
		"the earlier wins among equals":     {[]*Family{fake("a", Claim{Confidence: Likely}), fake("b", Claim{Confidence: Likely})}, "a k likely"},
		"two shapes are unknown":            {[]*Family{fake("a", shape("a", Likely)), fake("b", shape("b", Likely))}, "unknown k likely of a|b"},
		"a shape alone is its family's":     {[]*Family{fake("a", shape("a", Possible)), fake("b", shape("b", Likely))}, "b k likely"},
		"knowledge beats shape":             {[]*Family{fake("a", shape("a", Likely)), fake("b", Claim{Confidence: Likely})}, "b k likely"},
		"a sure companion is no lock":       {[]*Family{fake("a", shape("a", Likely)), fake("b", Claim{Lock: "l", Companion: true, Confidence: Certain})}, "b l certain"},
		"a doubtful companion may be one":   {[]*Family{fake("a", Claim{Confidence: Likely}), fake("b", Claim{Lock: "l", Companion: true, Confidence: Possible})}, "a k likely"},
		"fields are locks of their own":     {[]*Family{fake("a", Claim{Field: "f", Confidence: Certain}, Claim{Field: "g", Confidence: Certain}), fake("b", Claim{Confidence: Likely})}, "a k certain field f, a k certain field g"},
		"nothing is nothing":                {[]*Family{fake("a"), fake("b", Claim{Confidence: Unlikely})}, ""},
		"a companion makes its own lock":    {[]*Family{fake("a", Claim{Lock: "l", Companion: true, Confidence: Likely}, Claim{Lock: "m", Companion: true, Confidence: Likely})}, "a l likely, a m likely"},
		"several candidates of one family":  {[]*Family{fake("a", Claim{Confidence: Likely, Candidates: []string{"x", "y"}})}, "unknown k likely of x|y"},
		"the same candidate from two sides": {[]*Family{fake("a", shape("x", Likely)), fake("b", shape("x", Likely))}, "a k likely"},
	} {
		if got := grouped(c.families...); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// TestCompanionsStrengthenTheirLock: a fence beside a token that redsync might
// have written makes it hand-made, whether the scan met the fence or not.
func TestCompanionsStrengthenTheirLock(t *testing.T) {
	lock := text("lock:orders", "XeUUf1PowB9ITDGRRCRCJQ==", 30000)
	fence := text("fence:orders", "42", NoTTL)
	alone := newWorld([]*Sample{lock}, moment)
	if rows := alone.rows([]*Sample{lock}); rows[0].Reading.Family != "redsync" {
		t.Errorf("alone it is of %s", rows[0].Reading.Family)
	}
	both := newWorld([]*Sample{lock, fence}, moment)
	for _, met := range [][]*Sample{{lock}, {lock, fence}, {fence, lock}, {fence}} {
		rows := both.rows(met)
		if len(rows) != 1 || rows[0].Key != "lock:orders" || rows[0].Reading.Family != "home-grown" || rows[0].Fence != "42" {
			t.Errorf("met with %d keys: %+v", len(met), rows)
		}
	}
}

func TestExplainNamesTheRule(t *testing.T) {
	verdicts := Explain(text("order:4711", "XeUUf1PowB9ITDGRRCRCJQ==", 30000))
	if v := verdicts[0]; v.Family.ID != "redsync" || v.Why != "16 random bytes in base64" || len(v.Claims) != 1 {
		t.Errorf("first is %s: %s", v.Family.ID, v.Why)
	}
	for _, v := range verdicts {
		if v.Why == "" {
			t.Errorf("%s says nothing", v.Family.ID)
		}
		if v.Family.ID == "juicefs" && v.Why != "this key is a string, not a hash or a set" {
			t.Errorf("juicefs says %q", v.Why)
		}
	}
}

// TestEveryFamilyIsComplete: what a list, a filter or --explain prints of it.
func TestEveryFamilyIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		seen[f.ID] = true
		if f.ID == "" || f.Label == "" || f.Looks == "" || len(f.Types) == 0 || f.Match == nil || f.Decode == nil {
			t.Errorf("%s is not complete", f.ID)
		}
		if f.Release == nil && f.NoRelease == "" {
			t.Errorf("%s can neither be released nor says why", f.ID)
		}
	}
	for _, id := range redistest.Families() {
		if !seen[id] {
			t.Errorf("there is no family %s", id)
		}
	}
}

// TestUnknownWarnsForEachCandidate: one of them puts the lock back.
func TestUnknownWarnsForEachCandidate(t *testing.T) {
	s := text("pay-lock", idA, 30000)
	rows := newWorld([]*Sample{s}, moment).rows([]*Sample{s})
	if len(rows) != 1 || rows[0].Reading.Family != "unknown" || !strings.Contains(rows[0].Note, "if it is aioredlock") {
		t.Errorf("%s notes %q", rows[0].Reading.Family, rows[0].Note)
	}
}

// TestPartOfManyHolders: a lock with more readers than were read says so.
func TestPartOfManyHolders(t *testing.T) {
	s := coll("cfg", ZSet, 30000, b32, ms(9000))
	s.Len, s.Whole = 900, false
	rows := newWorld([]*Sample{s}, moment).rows([]*Sample{s})
	if len(rows) != 1 || len(rows[0].Warnings) != 1 || rows[0].Warnings[0].Code != NotAllRead {
		t.Errorf("rows %+v", rows)
	}
}
