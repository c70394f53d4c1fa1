package family

import "fencepost/lockcore/wire"

// mlanett is mlanett's redis-lock: lock:owner:NAME holds host:pid and
// lock:expire:NAME the second at which the lock ends; neither expires
// (lib/redis-lock.rb).
func mlanett() *Family {
	const owner, expire = "lock:owner:", "lock:expire:"
	expiry := func(key string) string {
		prefix, name, _ := after(key, owner)
		return prefix + expire + name
	}
	f := oneString(Family{
		ID: "mlanett", Label: "redis-lock (mlanett)",
		Looks: "an owner under lock:owner: and a second under lock:expire:",
		Match: func(s *Sample) []Claim {
			if prefix, name, ok := after(s.Key, expire); ok && isInt(s.Value) {
				return partOf(prefix+owner+name, Certain, "the moment at which the lock ends")
			}
			if _, _, ok := after(s.Key, owner); !ok || !short(s) {
				return nil
			}
			if namesHostPID(s.Value, ':') {
				return sure("lock:owner: and host:pid")
			}
			return likely("lock:owner: and a name")
		},
		Reads: func(_ Claim, main *Sample) Reads { return Reads{Keys: []string{expiry(main.Key)}} },
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.ByDesign = true
			r.Resource = rest(f.Main.Key, owner)
			r.Note = "the holder works on; its unlock compares the owner and does nothing"
			if host, pid, ok := hostPID(f.Main.Value, ':'); ok {
				r.Holders[0].Host, r.Holders[0].PID = host, pid
			}
			r.have(f, expiry(f.Main.Key))
			ms, ok := epochS(f.Key(expiry(f.Main.Key)).Value)
			r.Weak = !ok // the same process may hold it again: the moment tells
			if ok {
				r.endsAt(f, ms)
			}
			return r
		},
	})
	f.Release = func(t *Target) []Step {
		m := t.Facts.Main
		r := wire.Release{Lock: m.Key, Guard: t.Guard}
		e := t.Facts.Key(expiry(m.Key))
		if e.Type != String {
			return releaseValue(t)
		}
		return []Step{{r.Slots(wire.Pair{Name: m.Key, Value: m.Value}, wire.Pair{Name: e.Key, Value: e.Value}),
			"delete the owner and the expiry if both are still these"}}
	}
	return f
}
