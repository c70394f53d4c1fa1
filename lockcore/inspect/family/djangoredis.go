package family

import "strings"

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
