package family

import (
	"strings"
	"time"
)

// phpLock is php-lock/lock, once malkusch/lock: 32 random bytes in hexadecimal
// under php-malkusch-lock:. Its default is to expire in a thousand years
// (src/Mutex/RedisMutex.php, src/Util/LockUtil.php).
func phpLock() *Family {
	const mark = "php-malkusch-lock:"
	return oneString(Family{
		ID: "php-lock", Label: "php-lock/lock",
		Looks: "64 hexadecimal digits under php-malkusch-lock:",
		Named: marked(mark),
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

// yii2 hashes the lock's name away: the key is a prefix, by default 5 digits of
// an MD5, and the MD5 of the name; the value 20 random characters (src/Mutex.php).
func yii2() *Family {
	return oneString(Family{
		ID: "yii2", Label: "yii2-redis Mutex",
		Looks: "20 random characters under 37 hexadecimal digits, or another prefix and 32",
		Named: func(key string) bool { return isHex(key, 37) },
		Match: func(s *Sample) []Claim {
			n := len(s.Key)
			if n < 32 || s.PTTL < 0 || !isHex(s.Key[n-32:], 32) || !yiiToken(s.Value) {
				return nil
			}
			if isHex(s.Key, 37) {
				return likely("20 random characters under 37 hexadecimal digits")
			}
			return nearUnique(s, "20 random characters under an MD5")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Note = "the holder works on; its release does nothing"
			return r
		},
	})
}

// yiiToken is what Yii's generateRandomString makes: URL-safe base64.
func yiiToken(v string) bool { return len(v) == 20 && looksRandom(v) && isBase64URL(v, 15) }

// drupal is the lock of Drupal's redis module: prefix:lock:NAME holds the
// request's id, uniqid() of a random number with more entropy, so that it begins
// with digits and bears the time (src/Lock/PhpRedis.php; core's LockBackendAbstract).
func drupal() *Family {
	return oneString(Family{
		ID: "drupal", Label: "Drupal lock",
		Looks: "the id of a request under prefix:lock:",
		Match: func(s *Sample) []Claim {
			prefix, _, ok := after(s.Key, "lock:")
			if !ok || prefix == "" {
				return nil
			}
			if ms, ok := drupalID(s.Value); ok && near(s, ms, saneAge) {
				return sure(":lock: and the id of a request")
			}
			if strings.Contains(strings.ToLower(prefix), "drupal") && short(s) {
				return likely("drupal, :lock: and an id")
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, "lock:")
			r.Note = "the request works on; its release does nothing"
			// The id is the request's: the lock was taken at that time or later.
			if ms, ok := drupalID(f.Main.Value); ok {
				r.Holders[0].Label = "request begun at " + at(ms).Format(time.RFC3339)
			}
			return r
		},
	})
}

// drupalID reads an id such as 16403245764f1b2c3d4e5f6.12345678: a random
// number, uniqid()'s 13 hexadecimal digits, and eight decimals of its entropy.
func drupalID(v string) (ms int64, ok bool) {
	id, entropy, ok := strings.Cut(v, ".")
	if !ok || len(entropy) != 8 || !isDigits(entropy) || len(id) < 14 || len(id) > 23 {
		return 0, false
	}
	random, stamp := id[:len(id)-13], id[len(id)-13:]
	ms, ok = uniqid(stamp)
	return ms, ok && isDigits(random)
}

// uniqid reads PHP's uniqid(): eight hexadecimal digits of seconds and five of
// microseconds.
func uniqid(v string) (ms int64, ok bool) {
	if !isHex(v, 13) {
		return 0, false
	}
	secs, micros := hexValue(v[:8]), hexValue(v[8:])
	ms = secs*1000 + micros/1000
	return ms, micros < 1_000_000 && ms >= firstMS && ms < lastMS
}

// redlockPHP is ronnylt's redlock-php: uniqid() under any key, which tells when
// it was taken (src/RedLock.php).
func redlockPHP() *Family {
	return oneString(Family{
		ID: "redlock-php", Label: "redlock-php",
		Looks: "PHP's uniqid(), made about now",
		Match: func(s *Sample) []Claim {
			if ms, ok := uniqid(s.Value); !ok || s.PTTL < 0 || !near(s, ms, saneAge) {
				return nil
			}
			return nearUnique(s, "PHP's uniqid(), made about now")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Note = "release it on all servers of the group; the holder works on, its release does nothing"
			if ms, ok := uniqid(f.Main.Value); ok {
				r.Holders[0].Since = sinceMS(f, ms)
			}
			return r
		},
	})
}

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
