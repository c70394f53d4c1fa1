package family

// redlockNet: a string with a random UUID at redlock:<name>. Source: RedLock.net
// RedLock.cs (StartAutoExtendTimer: half the expiry), RedLockConnectionProvider
// (redlock:{0}), Lua/Extend.lua, which sets a key that is missing.
func redlockNet() *Family {
	const why = "a random UUID at redlock:<name>"
	return oneString(Family{
		ID: "redlock.net", Label: "RedLock.net",
		Looks: why,
		Marks: []string{"redlock:"},
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, "redlock:"); !ok || !isUUID4(s.Value) {
				return nil
			}
			return shapeOnly(s, "redlock.net", why)
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, "redlock:")
			r.Note = redlockNetNote
			return r
		},
	})
}

const redlockNetNote = "its renewal, at half the expiry, puts a missing key back: look again after that, and release it on every master"
