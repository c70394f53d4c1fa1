package family

import "strings"

// aiocache locks a cache entry while it is computed: the entry's key and -lock
// (aiocache/lock.py, RedLock).
func aiocache() *Family {
	return oneString(Family{
		ID: "aiocache", Label: "aiocache RedLock",
		Looks: "a random UUID, and a key that ends in -lock",
		Match: func(s *Sample) []Claim {
			if len(s.Key) <= 5 || !strings.HasSuffix(s.Key, "-lock") || !isUUID4(s.Value) {
				return nil
			}
			return shapeOnly(s, "aiocache", "-lock at the end, and a random UUID")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = strings.TrimSuffix(f.Main.Key, "-lock")
			r.Note = "the holder goes on to write the value; somebody else may compute it too"
			return r
		},
	})
}
