package family

import (
	"strings"
	"time"
)

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
