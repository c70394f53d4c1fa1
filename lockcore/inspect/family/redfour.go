package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// redfour, and ioredfour after it: NAMESPACE:ID is a hash with one field, index,
// whose number comes from the counter NAMESPACEindex and is a fence; releases are
// told on the channel NAMESPACE-release. In a Cluster a hash tag stands between,
// NAMESPACE:{ior4_…}:ID (ioredfour lib/ioredfour.js, lib/scripts.js).
func redfour() *Family {
	return &Family{
		ID: "redfour", Label: "redfour", Types: []Type{Hash, String},
		Looks: "a hash with a TTL and nothing but the field index, a number; its counter NAMESPACEindex",
		Match: func(s *Sample) []Claim {
			if s.Type == String {
				return redfourCounter(s)
			}
			if s.Len != 1 || len(s.Pairs) != 1 || s.Pairs[0].A != "index" || !isDigits(s.Pairs[0].B) ||
				s.PTTL < 0 || !strings.Contains(s.Key, ":") {
				return nil
			}
			return likely("a hash with a TTL and nothing but an index")
		},
		Reads: func(_ Claim, main *Sample) Reads {
			return Reads{Keys: redfourCounters(main.Key)}
		},
		Decode:  redfourRead,
		Release: redfourRelease,
	}
}

// redfourCounter claims the counters that can be told by their names: the
// default namespace's, and those of namespaces that say lock.
func redfourCounter(s *Sample) []Claim {
	ns, ok := strings.CutSuffix(s.Key, "index")
	if !ok || !isDigits(s.Value) || s.PTTL >= 0 || !strings.HasSuffix(strings.ToLower(ns), "lock") && !strings.Contains(ns, "{ior4_") {
		return nil
	}
	return partOf(ns+":", Likely, "the counter of the locks of a namespace")
}

// redfourCounters are the keys where the counter of a lock may be: namespaces
// and ids may both contain colons.
func redfourCounters(key string) []string {
	var out []string
	for i := 0; i < len(key) && len(out) < 8; i++ {
		if key[i] != ':' {
			continue
		}
		if i > 0 && key[i-1] == '}' {
			out = append(out, key[:i]+":index")
		} else {
			out = append(out, key[:i]+"index")
		}
	}
	return out
}

func redfourRead(f *Facts) Reading {
	index, ok := f.Main.Get("index")
	if f.Main.Type != Hash || !ok {
		return Reading{NoRow: true} // a counter outlives its locks
	}
	r := single(Mutex, Holder{ID: wire.Raw(index)})
	r.Fence = index
	r.Note = "the holder works on; its release finds another index, or none, and does nothing"
	r.Confidence = Possible
	for _, key := range redfourCounters(f.Main.Key) {
		c := f.Key(key)
		if c.Type != String || !isDigits(c.Value) {
			continue
		}
		r.FenceKey, r.Confidence = key, Certain
		r.Resource = strings.TrimPrefix(f.Main.Key[len(key)-len("index"):], ":")
		r.have(f, key)
		break
	}
	return r
}

func redfourRelease(t *Target) []Step {
	m := t.Facts.Main
	index, ok := m.Get("index")
	if !ok || len(t.Holders) == 0 {
		return nil
	}
	ns, _, _ := strings.Cut(m.Key, ":")
	if t.Reading.FenceKey != "" {
		ns = strings.TrimSuffix(t.Reading.FenceKey, "index")
	}
	// In a Cluster the namespace here ends in the tag and a colon, the channel does not.
	wake := wire.Wake{Verb: wire.WakePublish, Target: strings.TrimSuffix(ns, ":") + "-release", Message: m.Key}
	r := wire.Release{Lock: m.Key, Guard: t.Guard, Wake: wake}
	seen := wire.Field{Name: "index", Value: index, Exact: true}
	return []Step{{r.HashKey(1, []wire.Field{seen}), "delete the lock if it still has this index, and tell those that wait"}}
}
