package family

import (
	"slices"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzFamilies hands any bytes, in keys of any type, to every step of every
// family: nothing may panic, and nothing may grow out of bounds.
func FuzzFamilies(f *testing.F) {
	for _, c := range readCorpus(f) {
		for _, s := range c.samples() {
			var p [2]Pair
			copy(p[:], s.Pairs)
			f.Add(kindByte(s.Type), uint16(len(s.Key)*7+len(s.Value)), s.Key, s.Value, p[0].A, p[0].B, p[1].A, p[1].B, s.PTTL, s.Len, true, c.CapturedAtMS)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, pick uint16, key, value, a1, b1, a2, b2 string, pttl, size int64, whole bool, now int64) {
		s := &Sample{Key: key, Type: fuzzTypes[int(kind)%len(fuzzTypes)], Len: size, Whole: whole, PTTL: pttl, NowMS: now}
		if s.Type == String {
			s.Value = value
		} else if s.Type != None {
			s.Pairs = slices.DeleteFunc([]Pair{{a1, b1}, {a2, b2}}, func(p Pair) bool { return p.A == "" && p.B == "" })
		}
		others := []*Sample{
			{Type: None, PTTL: Gone},
			{Type: String, Value: value, Len: int64(len(value)), Whole: whole, PTTL: pttl},
			{Type: ZSet, Pairs: []Pair{{a1, b1}, {a2, b2}}, Len: 2, Whole: true, PTTL: pttl},
			{Type: Hash, Pairs: []Pair{{a2, b2}, {a1, b1}}, Len: size, PTTL: NoTTL},
			{Type: List, Pairs: []Pair{{A: a1}, {A: a2}}, Len: 2, Whole: true, PTTL: NoTTL},
		}
		everyStep(t, s, others[int(pick)%len(others)], all()[int(pick)/len(others)%len(all())], now, int64(pick%3))
		NameCandidate(key)
		RecogniseChannel(key)
		FieldGlob(key)
	})
}

var fuzzTypes = []Type{String, Hash, ZSet, Set, List, None, "stream"}

func kindByte(t Type) uint8 { return uint8(max(0, slices.Index(fuzzTypes, t))) }

// everyStep runs the flow over one key, with the same other key in every place
// that a family wants to read, and the functions of one family by themselves.
func everyStep(t *testing.T, s, other *Sample, one *Family, now, subs int64) {
	ms := append(Recognise(s), RecogniseChannel(s.Key)...)
	for _, f := range Group(ms) {
		main := s
		if f.Key != s.Key {
			main = &Sample{Key: f.Key, Type: other.Type, Value: other.Value, Pairs: other.Pairs, Len: other.Len, PTTL: other.PTTL}
		}
		facts := fuzzFacts(t, f.Reads(main), main, other, now, subs)
		facts.Field = f.Field
		r := f.Read(facts)
		checkReading(t, f.Family, facts, &r)
	}
	claims := append(explain(s, one).Claims, Claim{}, Claim{Companion: true}, Claim{Field: "a"})
	for _, c := range claims[:min(len(claims), 5)] {
		reads := Reads{}
		if one.Reads != nil {
			reads = one.Reads(c, s)
		}
		facts := fuzzFacts(t, reads, s, other, now, subs)
		facts.Claim, facts.Field = c, c.Field
		if r := one.Decode(facts); !r.NoRow {
			found := Found{Family: one, Claim: c, Key: s.Key, Field: c.Field}
			found.complete(facts, &r)
			checkReading(t, one, facts, &r)
		}
	}
}

func fuzzFacts(t *testing.T, reads Reads, main, other *Sample, now, subs int64) *Facts {
	if n := len(reads.Keys) + len(reads.Fields) + len(reads.Channels); n > 500 {
		t.Fatalf("%d reads for one lock", n)
	}
	facts := &Facts{Main: main, Keys: map[string]*Sample{}, Fields: map[FieldRef]string{}, Subs: map[string]int64{}, Now: time.UnixMilli(now)}
	for _, k := range reads.Keys {
		o := *other
		o.Key = k
		facts.Keys[k] = &o
	}
	for _, ref := range reads.Fields {
		facts.Fields[ref] = other.Value
	}
	for _, ch := range reads.Channels {
		facts.Subs[ch] = subs
	}
	return facts
}

// checkReading holds a reading to what every screen takes for granted.
func checkReading(t *testing.T, f *Family, facts *Facts, r *Reading) {
	if r.NoRow {
		return
	}
	if len(r.Holders) > 1000 || len(r.Warnings) > 50 || len(r.Companions) > 200 {
		t.Fatalf("%s: %d holders, %d warnings, %d companions", f.ID, len(r.Holders), len(r.Warnings), len(r.Companions))
	}
	for _, h := range r.Holders {
		if h.Count < 1 || !utf8.ValidString(h.Label) || !utf8.ValidString(h.Host) {
			t.Fatalf("%s: holder %+v", f.ID, h)
		}
	}
	for _, w := range r.Warnings {
		if w.Code == "" || w.Text == "" || !utf8.ValidString(w.Text) {
			t.Fatalf("%s: warning %+v", f.ID, w)
		}
	}
	r.TTL(facts)
	if f.Release == nil {
		return
	}
	for _, holders := range [][]Holder{r.Holders, r.Holders[:min(1, len(r.Holders))], nil} {
		for _, st := range f.Release(&Target{Facts: facts, Reading: *r, Holders: holders, Split: len(holders) == 1}) {
			if st.Says == "" || len(st.Call.Argv()) < 2 {
				t.Fatalf("%s: step %+v", f.ID, st)
			}
		}
	}
}
