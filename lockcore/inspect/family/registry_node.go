package family

// nodeFamilies are the lock libraries of the Node world.
func nodeFamilies() []*Family {
	return []*Family{
		bullMQ(), bull(), beeQueue(), bottleneck(), n8n(), medusa(), simpleRedisMutex(), redfour(), redisLockNPM(), warlock(),
		redisSemaphore(), murlock(), ioredisLock(), redislockNPM(), redlockUniversal(), nodeRedlock(), redisKit(),
	}
}
