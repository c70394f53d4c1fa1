package family

// redisLockNPM is errorception's redis-lock: lock.NAME holds the moment in
// milliseconds at which it ends (index.js).
func redisLockNPM() *Family {
	const mark = "lock."
	return oneString(Family{
		ID: "redis-lock-npm", Label: "redis-lock (npm)",
		Looks: "a moment in milliseconds, that of the key's end, under lock.",
		Match: func(s *Sample) []Claim {
			ms, ok := epochMS(s.Value)
			if _, _, named := after(s.Key, mark); !named || !ok || len(s.Value) != 13 {
				return nil
			}
			switch {
			case s.NowMS == 0, s.PTTL >= 0 && abs(ms-s.NowMS-s.PTTL) <= 2*second, s.PTTL < 0 && near(s, ms, hour):
				return sure("lock. and the moment of the end")
			}
			return possibly("lock. and a moment, which is not that of the end")
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Mutex)
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "the holder works on, and deletes the key at its end if its own time is not over, whoever has it by then"
			if ms, ok := epochMS(f.Main.Value); ok {
				r.endsAt(f, ms)
			}
			return r
		},
	})
}
