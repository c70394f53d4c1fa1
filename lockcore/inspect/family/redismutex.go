package family

// redisMutexRb is kenn's redis-mutex: RedisMutex:NAME holds the second, with
// fraction, at which it ends, and never expires (lib/redis_mutex.rb).
func redisMutexRb() *Family {
	const mark = "RedisMutex:"
	return oneString(Family{
		ID: "redis-mutex", Label: "redis-mutex (Ruby)",
		Looks: "a time in seconds, and no TTL, under RedisMutex:",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			_, isTime := epochS(s.Value)
			if _, _, ok := after(s.Key, mark); !ok || !isTime {
				return nil
			}
			return sure("RedisMutex: and a time")
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Mutex)
			r.ByDesign = true
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "the holder works on; its unlock compares the time and does nothing"
			if ms, ok := epochS(f.Main.Value); ok {
				r.endsAt(f, ms)
			}
			return r
		},
	})
}
