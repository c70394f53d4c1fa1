package family

import "fencepost/lockcore/wire"

// magentoSession is Cm_RedisSession, which Magento uses: the session is a hash
// sess_ID, and in it lock counts those who tried, 0 for nobody, pid is the
// holder's host|pid, and wait counts who waits. The hash expires after six hours
// while it is locked (colinmollenhour/php-redis-session-abstract, Handler.php).
func magentoSession() *Family {
	return &Family{
		ID: "magento-session", Label: "Cm_RedisSession lock", Types: []Type{Hash},
		Looks: "the fields lock and pid in a session's hash, sess_ID",
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, "sess_"); !ok || !magentoHeld(s) {
				return nil
			}
			return []Claim{{Field: "lock", Confidence: Certain, Why: "a session's hash with lock and host|pid in it"}}
		},
		Decode: func(f *Facts) Reading {
			if f.Main.Type != Hash || !magentoHeld(f.Main) {
				return Reading{NoRow: true}
			}
			pid, _ := f.Main.Get("pid")
			h := Holder{ID: wire.Raw(pid)}
			h.Host, h.PID, _ = hostPID(pid, '|')
			if req, ok := f.Main.Get("req"); ok && req != "" {
				h.Label = wire.Clean(req[:min(len(req), 120)])
			}
			r := single(Mutex, h)
			r.Weak = true // a PHP process serves one request after the other
			r.Resource = rest(f.Main.Key, "sess_")
			r.Note = "the request works on; if another one has the session by then, it does not write it. Others break the lock by themselves after 30 seconds"
			if wait, ok := f.Main.Get("wait"); ok {
				if n, ok := parseInt(wait); ok && n > 0 {
					r.Waiters = &Waiters{Count: n, How: "counter"}
				}
			}
			return r
		},
		Release: func(t *Target) []Step {
			if len(t.Holders) == 0 {
				return nil
			}
			r := wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}
			return []Step{{r.HashFields([]wire.Field{{Name: "pid", Value: string(t.Holders[0].ID), Exact: true}, {Name: "lock"}}),
				"take the fields lock and pid out of the session if this process still has it"}}
		},
	}
}

// magentoHeld reports whether the hash is a session that somebody has locked.
func magentoHeld(s *Sample) bool {
	lock, _ := s.Get("lock")
	pid, _ := s.Get("pid")
	n, ok := parseInt(lock)
	return ok && n > 0 && namesHostPID(pid, '|')
}
