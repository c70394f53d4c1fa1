package family

import "strings"

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
