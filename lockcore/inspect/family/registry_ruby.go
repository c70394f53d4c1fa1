package family

// rubyFamilies are the lock libraries written in Ruby. resque also stands for
// node-resque, which writes the same keys.
func rubyFamilies() []*Family {
	return []*Family{
		sidekiqUnique(), rubySemaphore(), queuedLocks(), suo(),
		activeJobUniqueness(), redisMutexRb(), resque(), gitlab(), mlanett(), discourse(),
		redisObjects(), railsCache(), mastodon(), redlockRb(),
	}
}
