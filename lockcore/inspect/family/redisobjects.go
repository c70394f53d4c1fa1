package family

import "strings"

// redisObjects is the Lock of redis-objects: an empty string under a key that
// ends in _lock; before version 2 the second at which it ends, without a TTL
// (lib/redis/lock.rb).
func redisObjects() *Family {
	return oneString(Family{
		ID: "redis-objects", Label: "redis-objects Lock",
		Looks: "an empty string, or a time without TTL, under a key that ends in _lock",
		Match: func(s *Sample) []Claim {
			if len(s.Key) <= len("_lock") || !strings.HasSuffix(s.Key, "_lock") {
				return nil
			}
			if s.Value == "" && s.Len == 0 {
				return likely("_lock at the end, and an empty value")
			}
			if _, ok := epochS(s.Value); ok && s.PTTL < 0 && strings.Contains(s.Value, ".") {
				return likely("_lock at the end, and a time with a fraction, without TTL")
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := flagged(Mutex)
			r.Resource = strings.TrimSuffix(f.Main.Key, "_lock")
			r.Note = "the holder works on, and may delete the key at its end without looking whose it is by then"
			if ms, ok := epochS(f.Main.Value); ok {
				r.Weak, r.ByDesign = false, true
				r.endsAt(f, ms)
			}
			return r
		},
	})
}
