package family

import "strings"

// sentry is the Redis backend of Sentry's locks: l: and a name, and one random
// UUID for each backend object, so that a process has the same one on all its
// locks (sentry/utils/locking/backends/redis.py).
func sentry() *Family {
	return oneString(Family{
		ID: "sentry", Label: "Sentry lock",
		Looks: "32 hexadecimal digits that are a random UUID, under l:",
		Named: func(key string) bool { return strings.HasPrefix(key, "l:") },
		Match: func(s *Sample) []Claim {
			if !isHex(s.Value, 32) || s.Value[12] != '4' || !variant(s.Value[16]) {
				return nil
			}
			if _, _, ok := after(s.Key, "l:"); !ok {
				return nil
			}
			return likely("l: and a random UUID in hexadecimal")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Weak = true // one UUID for all that a process ever locks
			r.Resource = rest(f.Main.Key, "l:")
			r.Note = "the holder works on; its release does nothing"
			return r
		},
	})
}
