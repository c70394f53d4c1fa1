package family

import "strings"

// cheprasov is cheprasov/php-redis-lock: pid:microtime:random, where microtime
// is PHP's fraction, a space and seconds (RedisLock.php).
func cheprasov() *Family {
	return oneString(Family{
		ID: "cheprasov", Label: "cheprasov/php-redis-lock",
		Looks: "a process id, PHP's microtime() and a random number, between colons",
		Match: func(s *Sample) []Claim {
			if _, _, ok := cheprasovToken(s.Value); !ok {
				return nil
			}
			return sure("a process id, a microtime and a random number")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Note = "the holder works on and gets LostLockException at its end"
			if pid, ms, ok := cheprasovToken(f.Main.Value); ok {
				r.Holders[0].PID, r.Holders[0].Since = pid, sinceMS(f, ms)
			}
			return r
		},
	})
}

func cheprasovToken(v string) (pid, ms int64, ok bool) {
	first, tail, ok1 := strings.Cut(v, ":")
	stamp, random, ok2 := strings.Cut(tail, ":")
	frac, secs, ok3 := strings.Cut(stamp, " ")
	if !ok1 || !ok2 || !ok3 || !strings.HasPrefix(frac, "0.") || len(random) > 5 || !isDigits(random) {
		return 0, 0, false
	}
	pid, ok1 = parseInt(first)
	ms, ok2 = epochS(secs + frac[1:])
	return pid, ms, ok1 && ok2 && pid > 0
}
