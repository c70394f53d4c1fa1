package family

// murlock is MurLock for NestJS. Its keys are the class, the method and the
// parameters; the value is a random UUID (murlock.service, decorators).
func murlock() *Family {
	return oneString(Family{
		ID: "murlock", Label: "MurLock",
		Looks: "a client's id under murlock:, or a random UUID",
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, "murlock:"); ok && short(s) {
				return sure("the name murlock:")
			}
			if !isUUID4(s.Value) {
				return nil
			}
			return shapeOnly(s, "murlock", uuidLooks)
		},
		Marks: []string{"murlock:"},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, "murlock:")
			r.Note = "the holder works on and throws MurLockException at its end"
			return r
		},
	})
}
