package family

// phpLock is php-lock/lock, once malkusch/lock: 32 random bytes in hexadecimal
// under php-malkusch-lock:. Its default is to expire in a thousand years
// (src/Mutex/RedisMutex.php, src/Util/LockUtil.php).
func phpLock() *Family {
	const mark = "php-malkusch-lock:"
	return oneString(Family{
		ID: "php-lock", Label: "php-lock/lock",
		Looks: "64 hexadecimal digits under php-malkusch-lock:",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || !isHex(s.Value, 64) {
				return nil
			}
			return sure("php-malkusch-lock: and 64 hexadecimal digits")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "release it on all servers of the group; the holder gets LockReleaseException"
			return r
		},
	})
}
