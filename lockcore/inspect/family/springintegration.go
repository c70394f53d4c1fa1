package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// springIntegration: a string with the registry's UUID, the same on all of its
// locks, at <registry>:<path>. Waiters listen to a pattern of channels, which
// does not show to whom a lock belongs. Source: spring-integration
// RedisLockRegistry (constructLockKey, OBTAIN_LOCK_SCRIPT, RedisPubSubLock).
func springIntegration() *Family {
	const why = "a random UUID at <registry>:<path>"
	return oneString(Family{
		ID: "spring-integration", Label: "Spring Integration RedisLockRegistry",
		Looks: why,
		Match: func(s *Sample) []Claim {
			if !isUUID4(s.Value) || strings.IndexByte(s.Key, ':') <= 0 {
				return nil
			}
			return shapeOnly(s, "spring-integration", why)
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Weak = true
			_, r.Resource, _ = strings.Cut(f.Main.Key, ":")
			return r
		},
		Release: func(t *Target) []Step {
			return releaseValueWith(t, springWake(t.Facts.Main.Key), "delete the key if it still holds this value, tell a Spring registry that waits")
		},
	})
}

// springWake tells the waiters of a registry in pub/sub mode; to others it is
// a message that nobody hears. The registry's name ends at the first colon.
func springWake(key string) wire.Wake {
	registry, _, ok := strings.Cut(key, ":")
	if !ok {
		return wire.Wake{}
	}
	return wire.Wake{Verb: wire.WakePublish, Target: registry + "-channel:" + key, Message: key}
}
