package family

import (
	"cmp"
	"maps"
	"slices"
)

// Found is one lock, before it is read: all that several keys said of it.
type Found struct {
	Family *Family
	Claim  Claim // of the main key where it was seen, else of the surest companion
	Key    string
	Field  string
	Seen   []string // keys that claimed it, in the order they were seen
	Rivals []string // ids of other families whose keys belong to a lock of this name

	others []Found // what it may be instead, should the first family find nothing
	claims []Match // all that was said of it
}

// Group makes locks out of claims: those on one lock by one family are one,
// whether they come from its main key or from companions. Where several
// families claim a lock, the surest has it, the earlier one among equals; if
// only its shape speaks for each of them, it is of the family unknown, with all
// of them as candidates. The matches may come from any number of keys, in any
// order; the more of a lock's keys are among them, the better.
func Group(ms []Match) []Found {
	locks := map[lockID]*claimed{}
	var order []lockID
	for _, m := range settle(ms) {
		id := lockID{m.lock(), m.Claim.Field}
		if locks[id] == nil {
			locks[id] = &claimed{}
			order = append(order, id)
		}
		locks[id].add(m)
	}
	out := make([]Found, 0, len(order))
	for _, id := range order {
		out = append(out, locks[id].resolve(id))
	}
	return out
}

// join adds what companions that were read later say of the lock, so that it
// is judged alike whether a scan met them or not.
func (f *Found) join(facts *Facts) {
	id := lockID{f.Key, f.Field}
	claims := f.claims
	for _, key := range slices.Sorted(maps.Keys(facts.Keys)) {
		s := facts.Keys[key]
		if s == nil || s.Type == None || slices.Contains(f.Seen, key) {
			continue
		}
		for _, m := range Recognise(s) {
			if m.Claim.Companion && id == (lockID{m.lock(), m.Claim.Field}) {
				claims = append(claims, m)
			}
		}
	}
	if len(claims) == len(f.claims) {
		return
	}
	c := &claimed{}
	for _, m := range claims {
		c.add(m)
	}
	*f = c.resolve(id)
}

type lockID struct{ key, field string }

// settle decides for each key what it is: a companion, a lock, or a hash with
// locks in its fields; claims that contradict that are dropped.
func settle(ms []Match) []Match {
	byKey := map[string][]Match{}
	var keys []string
	var out []Match
	for _, m := range ms {
		if m.heard {
			out = append(out, m)
			continue
		}
		if byKey[m.Key] == nil {
			keys = append(keys, m.Key)
		}
		byKey[m.Key] = append(byKey[m.Key], m)
	}
	for _, key := range keys {
		of := byKey[key]
		slices.SortStableFunc(of, surer)
		top := of[0]
		for _, m := range of {
			plain := !m.Claim.Companion && m.Claim.Field == ""
			if m.Family == top.Family || plain && !top.Claim.Companion && top.Claim.Field == "" {
				out = append(out, m)
			}
		}
	}
	return out
}

// claimed is a lock with the claims of all families on it.
type claimed struct {
	by  []*entry
	all []Match
}

// entry is what one family says of a lock.
type entry struct {
	main, part *Match // the surest of each; nil where there is none
	seen       []string
}

func (c *claimed) add(m Match) {
	c.all = append(c.all, m)
	i := slices.IndexFunc(c.by, func(e *entry) bool { return e.family() == m.Family })
	if i < 0 {
		i = len(c.by)
		c.by = append(c.by, &entry{})
	}
	e := c.by[i]
	slot := &e.main
	if m.Claim.Companion {
		slot = &e.part
	}
	if *slot == nil || (*slot).Claim.Confidence < m.Claim.Confidence {
		*slot = &m
	}
	if !m.heard && !slices.Contains(e.seen, m.Key) {
		e.seen = append(e.seen, m.Key)
	}
}

func (e *entry) family() *Family { return e.lead().Family }

func (e *entry) lead() *Match {
	if e.main != nil {
		return e.main
	}
	return e.part
}

func (e *entry) confidence() Confidence {
	c := e.lead().Claim.Confidence
	if e.part != nil {
		c = max(c, e.part.Claim.Confidence)
	}
	return c
}

// shape reports whether nothing but the main key's shape speaks for the family.
func (e *entry) shape() bool { return e.part == nil && e.main.shape() }

// before orders the families: the surer first, then those that have the main
// key before those that have only a companion, those that have both before
// those that have one, those that know more than a shape, then the order of All.
func (e *entry) before(o *entry) int {
	return cmp.Or(
		cmp.Compare(o.confidence(), e.confidence()),
		cmp.Compare(flag(e.main == nil), flag(o.main == nil)),
		cmp.Compare(flag(e.part == nil), flag(o.part == nil)),
		cmp.Compare(flag(e.shape()), flag(o.shape())),
		cmp.Compare(e.lead().rank, o.lead().rank),
	)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *claimed) resolve(id lockID) Found {
	slices.SortStableFunc(c.by, (*entry).before)
	f := first(id, c.by)
	f.claims = c.all
	for rest := c.by[1:]; len(rest) > 0 && f.Family != unknown(); rest = rest[1:] {
		o := first(id, rest)
		f.others = append(f.others, o)
		if o.Family == unknown() {
			break
		}
	}
	return f
}

// first is the lock as the first of these families has it.
func first(id lockID, by []*entry) Found {
	e := by[0]
	f := Found{Family: e.family(), Claim: e.lead().Claim, Key: id.key, Field: id.field, Seen: e.seen}
	f.Claim.Confidence = e.confidence()
	equals := by[:1:1]
	for _, o := range by[1:] {
		if o.confidence() == e.confidence() && (o.main == nil) == (e.main == nil) && o.shape() == e.shape() {
			equals = append(equals, o)
		}
	}
	if e.shape() {
		f.share(equals)
		return f
	}
	f.Claim.Candidates = nil
	for _, o := range by[1:] {
		if o.confidence() >= Likely && (o.main == nil) != (e.main == nil) {
			f.Rivals = append(f.Rivals, o.family().ID)
		}
	}
	return f
}

// share turns a lock that only has a shape into one of the family unknown,
// unless that shape is one family's alone.
func (f *Found) share(equals []*entry) {
	var ids []string
	for _, e := range equals {
		for _, id := range e.main.Claim.Candidates {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	f.Claim.Candidates = ids
	if len(ids) < 2 {
		f.Claim.Candidates = nil
		return
	}
	f.Family = unknown()
	f.Claim.Why = "only the shape is known: " + f.Claim.Why
}
