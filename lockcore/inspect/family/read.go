package family

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fencepost/lockcore/wire"
)

// Reads asks what else has to be read before Read.
func (f *Found) Reads(main *Sample) Reads {
	var out Reads
	for _, c := range append([]Found{*f}, f.others...) {
		if c.Family.Reads == nil {
			continue
		}
		r := c.Family.Reads(c.Claim, main)
		out.Keys = union(out.Keys, r.Keys)
		out.Fields = union(out.Fields, r.Fields)
		out.Channels = union(out.Channels, r.Channels)
	}
	return out
}

func union[T comparable](a, b []T) []T {
	for _, v := range b {
		if !slices.Contains(a, v) {
			a = append(a, v)
		}
	}
	return a
}

// Read decodes a lock and completes the reading: what the family left to the
// claim is filled in, and the warnings are added that any lock may deserve.
// Where the first family finds nothing in the facts (a companion was left over,
// and the key is another's now), f becomes the next that does.
func (f *Found) Read(facts *Facts) Reading {
	f.join(facts)
	facts.Claim = f.Claim
	r := f.Family.Decode(facts)
	for _, o := range f.others {
		if !r.NoRow {
			break
		}
		if facts.Claim = o.Claim; !o.Claim.Companion || facts.Main.Type == None {
			o.Rivals, o.claims, o.others = append(o.Rivals, f.Family.ID), f.claims, nil
			*f = o
			r = f.Family.Decode(facts)
		}
	}
	if !r.NoRow {
		f.complete(facts, &r)
	}
	return r
}

// longestNote bounds what is shown of a text that a holder wrote of itself.
const longestNote = 200

// complete fills in what the family left to the claim, and makes the texts that
// come from a server safe to print on one line.
func (f *Found) complete(facts *Facts, r *Reading) {
	r.Family = cmp.Or(r.Family, f.Family.ID)
	r.Label = cmp.Or(r.Label, f.Family.Label)
	r.Confidence = cmp.Or(r.Confidence, f.Claim.Confidence)
	r.Resource = cmp.Or(r.Resource, f.Key)
	if r.Candidates == nil && r.Family == f.Family.ID {
		r.Candidates = f.Claim.Candidates
	}
	for i := range r.Holders {
		h := &r.Holders[i]
		h.Count = max(1, h.Count)
		h.Label = wire.Clean(firstBytes(h.Label, longestNote))
		h.Host = wire.Clean(firstBytes(h.Host, longestNote))
	}
	// Who is past their own deadline holds nothing, and is not the one to be named
	// where there is room for one.
	slices.SortStableFunc(r.Holders, func(a, b Holder) int { return cmp.Compare(flag(a.Over()), flag(b.Over())) })
	if r.Family == unknown().ID && r.Note == "" {
		r.Note = notes(r.Candidates, facts)
	}
	r.Warnings = append(r.Warnings, lint(f, facts, r)...)
	for i := range r.Warnings {
		r.Warnings[i].Text = wire.Clean(r.Warnings[i].Text)
	}
}

// notes says what would follow a release for each candidate that has something
// to say: whichever it is, the operator should know.
func notes(candidates []string, facts *Facts) string {
	var out []string
	for _, id := range candidates {
		f := ByID(id)
		if f == nil || !slices.Contains(f.Types, facts.Main.Type) {
			continue
		}
		if r := f.Decode(facts); !r.NoRow && r.Note != "" {
			out = append(out, "if it is "+f.Label+": "+r.Note)
		}
	}
	return strings.Join(out, ". ")
}

// TTL is what is left of the lock by its key, in milliseconds; false where no
// expiry bears on it. A Deadline may still say when its library lets it lapse.
func (r *Reading) TTL(facts *Facts) (int64, bool) {
	if r.NoTTL {
		return 0, false
	}
	ttl := facts.Main.PTTL
	if r.TTLKey != "" && r.TTLKey != facts.Main.Key {
		ttl = facts.Key(r.TTLKey).PTTL
	}
	return ttl, ttl >= 0
}

// single is the reading of a lock that one holder has.
func single(kind Kind, h Holder) Reading {
	return Reading{Kind: kind, State: Held, Holders: []Holder{h}}
}

// token is the reading of a lock whose value is the token of its one holder.
func token(f *Facts, kind Kind) Reading {
	return single(kind, Holder{ID: wire.Raw(f.Main.Value)})
}

// endsAt sets the deadline that stands in a value. Where it has passed, the
// lock's own library would ignore it.
func (r *Reading) endsAt(f *Facts, ms int64) {
	r.Deadline = time.UnixMilli(ms).UTC()
	if ms <= f.NowMS() {
		r.State = Lapsed
	}
}

// Over reports whether a holder is past its own deadline: it stands there until
// somebody clears it away, and its library takes no notice of it.
func (h *Holder) Over() bool { return h.HasTTL && h.TTL <= 0 }

// until sets a holder's own remaining time from its deadline.
func (h *Holder) until(f *Facts, ms int64) {
	h.TTL, h.HasTTL = ms-f.NowMS(), true
}

// expireTogether lapses a lock whose holders all are past their own deadlines,
// and sets the lock's deadline to the last of them.
func (r *Reading) expireTogether(f *Facts) {
	if len(r.Holders) == 0 {
		return
	}
	last := slices.MaxFunc(r.Holders, func(a, b Holder) int { return cmp.Compare(a.TTL, b.TTL) })
	if !last.HasTTL || slices.ContainsFunc(r.Holders, func(h Holder) bool { return !h.HasTTL }) {
		return
	}
	r.endsAt(f, f.NowMS()+last.TTL)
}

// warn adds a warning.
func (r *Reading) warn(code, text string) {
	r.Warnings = append(r.Warnings, Warning{code, text})
}

// have adds those of the companions that exist.
func (r *Reading) have(f *Facts, keys ...string) {
	for _, k := range keys {
		if f.Key(k).Type != None && !slices.Contains(r.Companions, k) {
			r.Companions = append(r.Companions, k)
		}
	}
}

// at returns a time that is not zero for a time in milliseconds.
func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// releaseValue is the release of a lock that is one string: delete it if it
// holds the value that was seen.
func releaseValue(t *Target) []Step {
	return releaseValueWith(t, wire.Wake{}, "delete the key if it still holds this value")
}

func releaseValueWith(t *Target, wake wire.Wake, says string) []Step {
	m := t.Facts.Main
	if m.Type != String || !m.Whole || len(t.Holders) == 0 {
		return nil
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard, Wake: wake}
	return []Step{{r.String(m.Value), says}}
}
