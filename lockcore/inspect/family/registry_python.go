package family

// pythonFamilies are the lock libraries written in Python. Those that are built
// on redis-py stand before it.
func pythonFamilies() []*Family {
	return []*Family{
		celerySingleton(), celeryOnce(), redbeat(), kombu(), dogpile(), tooz(), taskTiger(), djangoRedis(), redisPy(),
		pythonRedisLock(), walrus(), rq(), arq(), sentry(), pottery(), djangoCache(), aiocache(),
		aioredlock(), sherlock(), redlockPy(), dramatiq(),
	}
}
