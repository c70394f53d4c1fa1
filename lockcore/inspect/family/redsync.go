package family

import "strings"

// redsync: a string of 16 random bytes in base64, the same on every master. No
// renewal by itself. gocron-redis-lock is redsync with a job's name as key.
// Source: redsync mutex.go (genValue, acquire, release), redsync.go (8 s).
func redsync() *Family {
	const looks = "a string of 24 characters that are 16 bytes in base64, or a short value at a key that says redsync"
	return oneString(Family{
		ID: "redsync", Label: "redsync", Looks: looks,
		Marks: []string{"redsync"},
		Match: func(s *Sample) []Claim {
			switch {
			case isBase64(s.Value, 16):
				return nearUnique(s, "16 random bytes in base64")
			case strings.Contains(s.Key, "redsync") && s.PTTL > 0 && short(s):
				return likely("the key says redsync; the value is the application's own")
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Weak = !isBase64(f.Main.Value, 16)
			r.Note = "a holder that extends with SetNXOnExtend puts the lock back; on a Redlock group every master has to be released"
			return r
		},
	})
}
