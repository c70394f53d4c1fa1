package family

import "strings"

// machinery: a string with the moment in nanoseconds at which the lock ends,
// and a TTL that ends with it. Nobody is named. Source: machinery
// v1/locks/redis/redis.go (Lock).
func machinery() *Family {
	return oneString(Family{
		ID: "machinery", Label: "machinery",
		Looks: "a string of 19 digits: a time in nanoseconds",
		Marks: []string{"machinery_lock"},
		Match: func(s *Sample) []Claim {
			ms, ok := epochNS(s.Value)
			switch {
			case !ok:
				return nil
			case strings.Contains(s.Key, "machinery_lock"):
				return sure("a time in nanoseconds at machinery's key")
			case s.PTTL > 0 && s.NowMS > 0 && near(s, ms-s.PTTL, second):
				return nearUnique(s, "a time in nanoseconds at which the key's TTL ends")
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Lease)
			if ms, ok := epochNS(f.Main.Value); ok {
				r.endsAt(f, ms)
			}
			r.Resource = rest(f.Main.Key, "machinery_lock_")
			return r
		},
	})
}

// epochNS reads nanoseconds since 1970 and answers in milliseconds.
func epochNS(s string) (int64, bool) {
	if len(s) != 19 {
		return 0, false
	}
	n, ok := parseInt(s)
	n /= 1_000_000
	return n, ok && n >= firstMS && n < lastMS
}
