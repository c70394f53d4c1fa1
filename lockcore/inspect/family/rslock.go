package family

// rslock: a string of 20 raw random bytes. Source: rslock (redlock-rs).
func rslock() *Family {
	return oneString(Family{
		ID: "rslock", Label: "rslock",
		Looks: "a string of 20 raw bytes",
		Match: func(s *Sample) []Claim {
			if s.Len != 20 || isPrintable(s.Value) {
				return nil
			}
			return shapeOnly(s, "rslock", "20 raw bytes")
		},
		Decode: func(f *Facts) Reading { return token(f, Mutex) },
	})
}
