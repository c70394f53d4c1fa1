package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// simpleRedisMutex: @simple-redis-mutex:lock-NAME holds a random fraction; all
// locks share one counter of fencing tokens and one channel (dist/index.js).
func simpleRedisMutex() *Family {
	const mark, fence, channel = "@simple-redis-mutex:lock-", "@simple-redis-mutex:fencing-tokens", "@simple-redis-mutex:locks-releases"
	counter := func(key string) string { return key[:max(strings.Index(key, mark), 0)] + fence }
	f := oneString(Family{
		ID: "simple-redis-mutex", Label: "simple-redis-mutex",
		Looks: "a random fraction under @simple-redis-mutex:lock-",
		Marks: []string{"@simple-redis-mutex:"},
		Match: func(s *Sample) []Claim {
			if prefix, ok := strings.CutSuffix(s.Key, fence); ok {
				return partOf(prefix+mark, Certain, "the counter of fencing tokens")
			}
			if !strings.Contains(s.Key, mark) || !short(s) {
				return nil
			}
			return sure("the name @simple-redis-mutex:lock-")
		},
		Reads: func(_ Claim, main *Sample) Reads { return Reads{Keys: []string{counter(main.Key)}} },
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			_, r.Resource, _ = strings.Cut(f.Main.Key, mark)
			r.Note = "the holder works on; its release does nothing"
			r.have(f, counter(f.Main.Key))
			if c := f.Key(counter(f.Main.Key)); isDigits(c.Value) {
				r.Fence, r.FenceKey = c.Value, c.Key
				r.warn("fence-shared", "one counter serves all locks of this library: this holder's fencing token is "+c.Value+" or, if another lock was taken since, less")
			}
			return r
		},
	})
	f.Release = func(t *Target) []Step {
		m := t.Facts.Main
		wake := wire.Wake{Verb: wire.WakePublish, Target: channel,
			Message: `{ "key": "` + m.Key + `", "value": "` + m.Value + `" }`}
		return releaseValueWith(t, wake, "delete the key if it still holds this value, and tell those that wait")
	}
	return f
}
