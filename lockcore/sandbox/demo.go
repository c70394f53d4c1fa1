package sandbox

import "time"

// Demo is one lock of the sandbox and what can be seen of it.
type Demo struct {
	Key string
	// Says explains the lock to somebody who sees it for the first time.
	Says string
	play func(s *Sandbox, key string) error
}

// demos are the locks of the sandbox, of a dozen libraries.
func demos() []Demo {
	return []Demo{
		{"order:4711", "A Redisson lock. Its watchdog renews it every 10 s, so it never gets near zero while the holder lives. While one works the others wait, and it comes back 2 s after it let go.", playRedisson},
		{"payments:settle", "A Redisson fenced lock. It changes hands every 12 s, and each holder gets a higher fencing token.", playFenced},
		{"stock:sku-77", "A Redisson fair lock. Waiters stand in a queue and get it in order, 15 s each.", playFair},
		{"lock:{deploy}", "Fencepost's own lock: token, fencing number, since when, host and process stand in its value. Renewed every 5 s, and handed over after 40 s.", playOwn},
		{"catalog", "A Redisson read/write lock with two readers, each with its own timeout.", playReaders},
		{"reports:nightly", "A redis-py lock without renewal: 45 s, for work of 40 s. The holder's id tells when it was taken and on which machine.", playRedisPy},
		{"invoice:2024-11", "A redsync lock that nobody renews or releases: it runs down from 8 s, and then another worker has it.", playRedsync},
		{"lock:import-customers", "A python-redis-lock without expiry, the library's default. If its holder dies, it stays until somebody releases it. One client is blocked on it.", playSignal},
		{"laravel_database_laravel_cache_laravel-queue-overlap:SyncInventory:42", "A lock of Laravel's WithoutOverlapping, whose default has no expiry. Its job was killed: nobody will ever release it.", playLaravel},
		{"job-lock:default:dailyReport", "A ShedLock lock: which host, since when. It stays for a while after the work, so that no other host starts the job again.", playShedLock},
		{"bull:video:17:lock", "The lock of a BullMQ job, renewed every 15 s. Who takes it away makes the job run twice.", playBullMQ},
		{"pdf-creation", "A Symfony lock: a sorted set whose scores are deadlines. Refreshed every 20 s.", playSymfony},
		{"RedisMutex:nightly-cleanup", "A redis-mutex lock. Its deadline stands in the value and is over: the library takes it for free, though the key has no expiry.", playStale},
		{"lock:report", "A lock written by hand: SET NX with the value 1. It does not say who holds it, so nobody can release it safely.", playHomeGrown},
	}
}

// populate starts every demo, and returns when each lock is held.
func (s *Sandbox) populate() error {
	s.demos = demos()
	for _, d := range s.demos {
		if err := d.play(s, d.Key); err != nil {
			return err
		}
	}
	s.begun.Wait()
	return nil
}

// Says explains a lock of the sandbox, "" for any other key.
func (s *Sandbox) Says(key string) string {
	for _, d := range s.demos {
		if d.Key == key {
			return d.Says
		}
	}
	return ""
}

// Demos returns what the sandbox was populated with.
func (s *Sandbox) Demos() []Demo { return append([]Demo(nil), s.demos...) }

// behindEach is how far the actors of one lock are apart.
const behindEach = 20 * time.Millisecond

// each starts n actors for one lock, named after what they do.
func (s *Sandbox) each(names []string, play func(a *actor) error) error {
	for i, name := range names {
		a, err := s.actor(name)
		if err != nil {
			return err
		}
		a.behind = time.Duration(i) * behindEach
		if err := play(a); err != nil {
			return err
		}
	}
	return nil
}
