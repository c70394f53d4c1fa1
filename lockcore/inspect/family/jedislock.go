package family

import "fencepost/lockcore/wire"

// jedisLock: a string <uuid>:<milliseconds> without a TTL; the number is the
// moment at which the next one may take it. Source: abelaska/jedis-lock
// JedisLock.java (asLock, acquire, renew, release).
func jedisLock() *Family {
	return oneString(Family{
		ID: "jedis-lock", Label: "jedis-lock",
		Looks: "a string <uuid>:<13 digits>",
		Match: func(s *Sample) []Claim {
			if _, _, ok := jedisValue(s.Value); !ok {
				return nil
			}
			return sure("<uuid>:<milliseconds>")
		},
		Decode: func(f *Facts) Reading {
			id, ms, ok := jedisValue(f.Main.Value)
			if !ok {
				return Reading{NoRow: true}
			}
			r := single(Mutex, Holder{ID: wire.Raw(id)})
			r.endsAt(f, ms)
			r.ByDesign = true
			r.Note = "a holder that renews puts the lock back; its release deletes the key whoever has it then"
			return r
		},
	})
}

func jedisValue(v string) (id string, ms int64, ok bool) {
	if len(v) != 50 || v[36] != ':' || !isUUID(v[:36]) || !isDigits(v[37:]) {
		return "", 0, false
	}
	ms, ok = epochMS(v[37:])
	return v[:36], ms, ok
}
