package family

// pottery writes redlock:NAME, as RedLock.net does by default (pottery/redlock.py,
// RedLockNet Configuration/RedLockConnectionProvider.cs): such a key is one of
// the two, and nothing in it says which.
func pottery() *Family {
	return oneString(Family{
		ID: "pottery", Label: "pottery Redlock",
		Looks: "a random UUID under redlock:",
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, "redlock:"); !ok || !isUUID4(s.Value) {
				return nil
			}
			return likely("redlock: and a random UUID")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, "redlock:")
			r.Family, r.Candidates = "unknown", []string{"pottery", "redlock.net"}
			r.Label = "Redlock (pottery or RedLock.net)"
			r.Note = "release it on all servers of the group; RedLock.net's timer puts the lock back, pottery's holder gets ReleaseUnlockedLock"
			return r
		},
	})
}
