package redistest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Family is the id of the library's family.
func (c *Capture) Family() string {
	if strings.HasPrefix(c.Library, "Redisson ") {
		return "redisson"
	}
	return cmp.Or(families[c.Library], c.Library)
}

// Kind is the corpus's kind in the words of list --json.
func (e *Expected) Kind() string {
	switch e.KindOf {
	case "mutex", "reentrant", "fair", "multi":
		return "mutex"
	case "read", "write":
		return "rwlock"
	case "cron", "leader", "job_lock", "unique_job", "gate":
		return "lease"
	}
	return e.KindOf
}

// Excuse is why a capture cannot be read rightly; "" for the others.
func (c *Capture) Excuse() string { return excused[c.ID] }

// Ambiguous reports whether ordinary data looks like a lock on purpose: then it
// may be likely, if its name says lock.
func (c *Capture) Ambiguous() bool {
	return strings.HasPrefix(c.ID, "negative-ordinary-data--idempotency")
}

// excused are the captures that cannot be read rightly, with the reason.
var excused = map[string]string{
	"redisson-rsemaphore--sem-semaphore-2-of-3":         "a bare counter: nothing but a live subscriber shows it to be a semaphore",
	"dramatiq-concurrentratelimiter--mutex-held-limit1": "1 at a name that says mutex, which most hand-made locks are; nothing says that it counts",
}

// families maps the corpus's names of libraries to ids.
var families = map[string]string{
	"aiocache RedLock": "aiocache", "hibiken/asynq": "asynq", "celery-redbeat": "redbeat",
	"cheprasov/php-redis-lock": "cheprasov", "Dapr lock.redis": "dapr", "Discourse DistributedMutex": "discourse",
	"django cache.add lock": "django-cache", "django-redis cache.lock": "django-redis", "dogpile.cache redis lock": "dogpile",
	"dramatiq ConcurrentRateLimiter": "dramatiq", "Drupal redis module lock": "drupal", "Foundatio": "foundatio",
	"FreeRedis": "freeredis", "GitLab ExclusiveLease": "gitlab", "jefferyjob/go-redislock": "go-redislock",
	"zeromicro/go-zero RedisLock": "go-zero", "gocraft/work": "gocraft-work", "Hangfire.Redis.StackExchange": "hangfire",
	"home-grown pattern": "home-grown", "JuiceFS redis meta": "juicefs", "kombu (celery redis transport)": "kombu",
	"Laravel Cache::lock": "laravel", "Laravel Redis::funnel": "laravel", "Laravel ShouldBeUnique": "laravel",
	"Laravel WithoutOverlapping": "laravel", "Laravel scheduler mutex": "laravel", "RichardKnop/machinery": "machinery",
	"madelson DistributedLock.Redis": "madelson", "Cm_RedisSession (Magento)": "magento-session", "Mastodon": "mastodon",
	"Medusa locking-redis": "medusa", "mlanett redis-lock": "mlanett", "@sesamecare-oss/redlock": "node-redlock",
	"redlock (npm)": "node-redlock", "php-lock/lock (malkusch)": "php-lock", "phpredis session lock": "phpredis-session",
	"pottery Redlock": "pottery", "Rails.cache unless_exist lock": "rails-cache", "ioredfour": "redfour",
	"@redis-kit/lock": "redis-kit", "redis-lock (npm)": "redis-lock-npm", "redis-mutex (ruby)": "redis-mutex",
	"redis-objects Lock": "redis-objects", "redis-py Lock": "redis-py", "redis_queued_locks": "redis-queued-locks",
	"redis-semaphore (npm)": "redis-semaphore-npm", "redis-semaphore (ruby)": "redis-semaphore-ruby",
	"bsm/redislock": "redislock", "redislock (npm)": "redislock-npm", "RedLock.net": "redlock.net",
	"go-co-op/gocron-redis-lock": "redsync", "go-redsync/redsync": "redsync", "node-resque": "resque",
	"resque-lock-timeout": "resque", "resque-scheduler": "resque", "dtm-labs/rockscache": "rockscache",
	"rslock (redlock-rs)": "rslock", "redis/rueidis rueidislock": "rueidislock", "Sentry": "sentry",
	"ServiceStack.Redis": "servicestack", "ShedLock": "shedlock", "sherlock RedisLock": "sherlock",
	"Spring Integration RedisLockRegistry": "spring-integration", "StackExchange.Redis LockTake": "stackexchange-redis",
	"symfony/lock RedisStore": "symfony", "symfony/semaphore RedisStore": "symfony-semaphore", "SyncGuard": "syncguard",
	"OpenStack tooz redis": "tooz", "kvtools/redis (valkeyrie)": "valkeyrie", "walrus Lock": "walrus",
	"node-redis-warlock": "warlock", "yii2-redis Mutex": "yii2",
}

// Families are the ids of all families that the corpus has captures of under
// another name.
func Families() []string { return slices.Sorted(maps.Values(families)) }
