package family

import "strings"

// phpredisSession is the session lock of the phpredis extension: the session's
// key and _LOCK, whose value is host|pid. Without lock_expire and
// max_execution_time it never expires (redis_session.c).
func phpredisSession() *Family {
	const mark = "_LOCK"
	return oneString(Family{
		ID: "phpredis-session", Label: "phpredis session lock",
		Looks: "host|pid under a session's key and _LOCK",
		Marks: []string{mark},
		Named: func(key string) bool { return strings.HasSuffix(key, mark) },
		Match: func(s *Sample) []Claim {
			switch {
			case !strings.HasSuffix(s.Key, mark) || !namesHostPID(s.Value, '|'):
			case strings.Contains(s.Key, "PHPREDIS_"):
				return sure("a PHPREDIS session, _LOCK, and host|pid")
			default:
				return likely("_LOCK and host|pid")
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = strings.TrimSuffix(f.Main.Key, mark)
			r.Holders[0].Host, r.Holders[0].PID, _ = hostPID(f.Main.Value, '|')
			r.Weak = true // a PHP process serves one request after the other
			r.Note = "the request works on, and does not write its session if it looks at the lock again"
			return r
		},
	})
}
