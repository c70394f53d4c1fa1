package family

import "strings"

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

// djangoRedis is cache.lock() of django-redis: redis-py's lock under Django's
// cache key, prefix:version:name (django_redis/client/default.py, make_key).
// With a prefix of its own such a key cannot be told from one written by hand;
// then redis-py itself has it.
func djangoRedis() *Family {
	return onRedisPy(Family{
		ID: "django-redis", Label: "django-redis cache.lock()",
		Looks: "a redis-py token under a Django cache key such as :1:name",
	}, Mutex, djangoRedisKey, redisPyNote, true)
}

func djangoRedisKey(key string) bool { return djangoKey(key) != "" }

// djangoKey is the name in a key that Django made without a key prefix,
// ":version:name"; else "".
func djangoKey(key string) string {
	if !strings.HasPrefix(key, ":") {
		return ""
	}
	version, name, _ := strings.Cut(key[1:], ":")
	if !isDigits(version) || len(version) > 6 {
		return ""
	}
	return name
}

// dogpile is the mutex of dogpile.cache with distributed_lock: "_lock" and the
// cache key.
func dogpile() *Family {
	f := onRedisPy(Family{
		ID: "dogpile", Label: "dogpile.cache mutex",
		Looks: "a redis-py token under _lock and the cache key",
	}, Mutex, dogpileKey, "the holder goes on to write the value; somebody else may compute it too", true)
	f.Named = dogpileKey
	return f
}

func dogpileKey(key string) bool {
	_, _, ok := after(key, "_lock")
	return ok
}

// tooz is the lock of OpenStack tooz: namespace_name_lock, where the parts may
// be Python's notation of bytes (tooz/drivers/redis.py, RedisLock).
func tooz() *Family {
	return onRedisPy(Family{
		ID: "tooz", Label: "tooz lock",
		Looks: "a redis-py token under namespace_name_lock, with tooz or b'…' in it",
	}, Mutex, toozKey, redisPyNote, false)
}

func toozKey(key string) bool {
	return strings.HasSuffix(key, "_lock") && (strings.Contains(key, "_tooz") || strings.HasPrefix(key, "b'"))
}

// kombu guards the restoring of unacknowledged messages (kombu/transport/
// redis.py, Mutex). Its token was a UUID before it took redis-py's lock.
func kombu() *Family {
	return oneString(Family{
		ID: "kombu", Label: "kombu unacked_mutex",
		Looks: "the name unacked_mutex and a UUID",
		Match: func(s *Sample) []Claim {
			if !kombuKey(s.Key) || !(isUUID(s.Value) || isHex(s.Value, 32)) {
				return nil
			}
			return sure("the name unacked_mutex, and a UUID")
		},
		Decode: func(f *Facts) Reading {
			r := redisPyRead(f, Mutex, "kombu unacked_mutex")
			r.Note = "harmless: it only keeps two workers from restoring the same unacknowledged messages"
			return r
		},
	})
}

func kombuKey(key string) bool { return strings.HasSuffix(key, "unacked_mutex") }

// redbeat elects the one beat that schedules: prefix and ":lock", which is
// redbeat::lock by default (redbeat/schedulers.py, RedBeatConfig).
func redbeat() *Family {
	return onRedisPy(Family{
		ID: "redbeat", Label: "celery-redbeat leader",
		Looks: "a redis-py token under redbeat::lock",
	}, Lease, redbeatKey, "the running beat fails with LockNotOwnedError at its next tick and its process ends", false)
}

func redbeatKey(key string) bool {
	return strings.HasSuffix(key, ":lock") && strings.Contains(key, "redbeat")
}
