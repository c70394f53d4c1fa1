package family

import "fencepost/lockcore/wire"

// The fields that rockscache adds to a cached hash while it is filled anew.
const (
	rocksOwner = "lockOwner"
	rocksUntil = "lockUntil"
)

// rockscache: who may fill a cached entry has lockOwner in its hash, until the
// moment in lockUntil; 0 there means that the entry is stale and nobody fills
// it. The hash's own TTL is the cached value's. Source: dtm-labs/rockscache
// client.go and its scripts.
func rockscache() *Family {
	return &Family{
		ID: "rockscache", Label: "rockscache",
		Types: []Type{Hash},
		Looks: "a hash with the fields lockUntil and lockOwner",
		Match: func(s *Sample) []Claim {
			until, ok1 := s.Get(rocksUntil)
			_, ok2 := s.Get(rocksOwner)
			if _, isTime := epochS(until); !ok1 || !ok2 || !isTime {
				return nil
			}
			return []Claim{{Field: rocksOwner, Confidence: Certain, Why: "the fields lockUntil and lockOwner in a cached hash"}}
		},
		Reads: func(_ Claim, main *Sample) Reads {
			return Reads{Fields: []FieldRef{{main.Key, rocksUntil}, {main.Key, rocksOwner}}}
		},
		Decode: func(f *Facts) Reading {
			owner, ok := f.hashField(rocksOwner)
			if !ok {
				return Reading{NoRow: true}
			}
			r := single(Mutex, Holder{ID: wire.Raw(owner)})
			r.NoTTL = true
			r.Resource = f.Main.Key
			until, _ := f.hashField(rocksUntil)
			if ms, ok := epochS(until); ok {
				r.endsAt(f, ms)
			}
			r.Note = "the next reader fills the entry again"
			return r
		},
		Release: func(t *Target) []Step {
			owner, ok := t.Facts.hashField(rocksOwner)
			if !ok {
				return nil
			}
			r := wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}
			return []Step{{r.Reset(rocksOwner, owner, rocksUntil, "0"), "take the owner out of the hash and mark the entry as stale"}}
		},
	}
}

// hashField is a field of the main hash, from the sample or read by itself.
func (f *Facts) hashField(name string) (string, bool) {
	if v, ok := f.Main.Get(name); ok {
		return v, true
	}
	v, ok := f.Fields[FieldRef{f.Main.Key, name}]
	return v, ok
}
