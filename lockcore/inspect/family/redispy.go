package family

// redisPyToken reads the token of a redis-py lock: a UUID of version 1 in 32
// hexadecimal digits, made when acquire() was called
// (redis-py, redis/lock.py, Lock.acquire).
func redisPyToken(s *Sample) bool {
	if len(s.Value) != 32 {
		return false
	}
	u, ok := parseUUID1(s.Value)
	return ok && u.fresh(s)
}

// redisPyRead decodes a lock that redis-py took, for itself or for a library
// that is built on it.
func redisPyRead(f *Facts, kind Kind, label string) Reading {
	r := token(f, kind)
	r.Label = label
	if u, ok := parseUUID1(f.Main.Value); ok {
		r.Holders[0].Since = u.since(f)
		r.Holders[0].Label = u.host()
	}
	return r
}

// onRedisPy is a library that takes redis-py's lock under a name of its own.
func onRedisPy(fam Family, kind Kind, named func(key string) bool, note string, byDesign bool) *Family {
	label := fam.Label
	fam.Match = func(s *Sample) []Claim {
		if !redisPyToken(s) || !named(s.Key) {
			return nil
		}
		return sure(fam.Looks)
	}
	fam.Decode = func(f *Facts) Reading {
		r := redisPyRead(f, kind, label)
		r.Note, r.ByDesign = note, byDesign
		return r
	}
	return oneString(fam)
}

// redisPyNote is what happens to a holder whose lock is taken away.
const redisPyNote = "the holder works on and gets LockNotOwnedError when it releases or extends"

// redisPy is the lock of redis-py itself; without a timeout, its default, it
// has no expiry. Keys that bear the name of a library on top of it are that
// library's.
func redisPy() *Family {
	return onRedisPy(Family{
		ID: "redis-py", Label: "redis-py Lock",
		Looks: "a string of 32 hexadecimal digits that is a UUID of version 1 made about now",
	}, Mutex, func(key string) bool {
		return !djangoRedisKey(key) && !onceKey(key) && !redbeatKey(key) && !kombuKey(key) &&
			!dogpileKey(key) && !toozKey(key) && !taskTigerKey(key)
	}, redisPyNote, true)
}
