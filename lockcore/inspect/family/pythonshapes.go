package family

// The libraries of which nothing but a random token tells. No key does, so
// each only says that it may be.

const uuidLooks = "a random UUID"

// aioredlock: any key, 10 s, a watchdog (aioredlock/algorithm.py).
func aioredlock() *Family {
	return shapeFamily("aioredlock", "aioredlock", uuidLooks, isUUID4,
		"the holder's watchdog puts the lock back while its process lives")
}

// sherlock: namespace_name, 60 s (sherlock/lock.py, RedisLock).
func sherlock() *Family {
	return shapeFamily("sherlock", "sherlock RedisLock", uuidLooks, isUUID4,
		"the holder gets LockException when it releases")
}

// redlockPy: 22 random letters and digits (redlock/__init__.py).
func redlockPy() *Family {
	return shapeFamily("redlock-py", "redlock-py", "22 random letters and digits",
		func(v string) bool { return isAlnum(v, 22) && looksRandom(v) },
		"release it on all servers of the group; the holder works on, its release does nothing")
}
