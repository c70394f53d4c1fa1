package family

import "strings"

// limits reports whether a key speaks of a bound on how many may work at once:
// a bare number under any other name is more often something else.
func limits(key string) bool {
	low := strings.ToLower(key)
	return nameHint(key) == lockish || strings.Contains(low, "slot") || strings.Contains(low, "concurren")
}

// dramatiq counts those at work in a string without names (dramatiq,
// rate_limits/concurrent.py). Its default TTL is 15 minutes, set anew by each.
func dramatiq() *Family {
	const ttl = 15 * minute
	return oneString(Family{
		ID: "dramatiq", Label: "dramatiq ConcurrentRateLimiter",
		Looks: "a small number with a TTL of at most 15 minutes, under a name that speaks of locks, slots or concurrency",
		Match: func(s *Sample) []Claim {
			n, ok := parseInt(s.Value)
			if !ok || len(s.Value) > 3 || n < 1 || s.PTTL <= 0 || s.PTTL > ttl || !limits(s.Key) {
				return nil
			}
			return []Claim{{Confidence: Possible, Candidates: []string{"dramatiq"}, Why: "a small number with a TTL"}}
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Semaphore)
			r.Holders[0].Count, _ = parseInt(f.Main.Value)
			return r
		},
		NoRelease: "the key only counts who is at work: without the count more would be let in than the limit allows. It ends with its TTL",
	})
}
