package family

import "strings"

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
