package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// symfonySemaphore: two sorted sets with the holders' tokens, <name>:time with
// deadlines in seconds and <name>:weight with how many permits each has.
// Source: symfony/semaphore Store/RedisStore (save, delete).
func symfonySemaphore() *Family {
	return &Family{
		ID:      "symfony-semaphore",
		Label:   "Symfony Semaphore",
		Types:   []Type{ZSet},
		Looks:   "sorted sets <name>:time and <name>:weight whose members are 44-character base64 tokens",
		Marks:   []string{"}:time", "}:weight"},
		Named:   func(key string) bool { return strings.HasSuffix(key, "}:time") || strings.HasSuffix(key, "}:weight") },
		Match:   symfonySemaphoreMatch,
		Reads:   symfonySemaphoreReads,
		Decode:  symfonySemaphoreDecode,
		Release: symfonySemaphoreRelease,
	}
}

const (
	symfonyTime   = ":time"
	symfonyWeight = ":weight"
)

func symfonySemaphoreMatch(s *Sample) []Claim {
	base, times := strings.CutSuffix(s.Key, symfonyTime)
	if !times {
		var weights bool
		if base, weights = strings.CutSuffix(s.Key, symfonyWeight); !weights {
			return nil
		}
	}
	for _, p := range s.Pairs {
		_, isTime := epochS(p.B)
		if !symfonyToken(p.A) || isTime != times || !isDigits(p.B) {
			return nil
		}
	}
	switch {
	case len(s.Pairs) == 0:
		return nil
	case times:
		return sure("tokens of 32 bytes with deadlines in seconds")
	}
	return partOf(base+symfonyTime, Certain, "how many permits each token has")
}

func symfonySemaphoreReads(_ Claim, main *Sample) Reads {
	return Reads{Keys: []string{strings.TrimSuffix(main.Key, symfonyTime) + symfonyWeight}}
}

func symfonySemaphoreDecode(f *Facts) Reading {
	base := strings.TrimSuffix(f.Main.Key, symfonyTime)
	weights := f.Key(base + symfonyWeight)
	r := Reading{Kind: Semaphore, State: Held, Resource: strings.Trim(base, "{}")}
	r.have(f, weights.Key)
	for _, p := range f.Main.Pairs {
		ms, ok := epochS(p.B)
		if !ok {
			continue
		}
		h := Holder{ID: wire.Raw(p.A), Count: 1}
		h.until(f, ms)
		if w, ok := weights.Get(p.A); ok {
			h.Count, _ = parseInt(w)
		}
		r.Holders = append(r.Holders, h)
	}
	if len(r.Holders) == 0 {
		return Reading{NoRow: true}
	}
	r.expireTogether(f)
	return r
}

func symfonySemaphoreRelease(t *Target) []Step {
	m := t.Facts.Main
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	call := r.Members(wire.Members{
		Seen: holderIDs(t.Holders),
		In:   []string{strings.TrimSuffix(m.Key, symfonyTime) + symfonyWeight},
	})
	return []Step{{call, "take these tokens out of both sets"}}
}
