package family

import (
	"slices"
	"sync"

	"fencepost/lockcore/wire"
)

// The ids of the two families that are known by shape alone.
const (
	homegrownID = "home-grown"
	unknownID   = "unknown"
)

// unknown is the family of locks of which only the shape is known; the claims
// of several families on such a key make it (see Group).
var unknown = sync.OnceValue(func() *Family {
	return &Family{
		ID:      unknownID,
		Label:   "unknown library",
		Types:   []Type{String},
		Looks:   "nothing of its own: it stands for a shape that several families share",
		Match:   func(*Sample) []Claim { return nil },
		Reads:   homegrownReads,
		Decode:  homegrownDecode,
		Release: unknownRelease,
	}
})

// SignalWake is how the waiters of a lock of the family unknown are woken, should
// it be python-redis-lock's; false where it cannot be. They sleep until they are
// told, for ever if the lock has no expiry. Pushed beside any other lock, the
// element is gone after a second.
func SignalWake(key string, candidates []string) (wire.Wake, bool) {
	if !slices.Contains(candidates, pythonRedisLockID) {
		return wire.Wake{}, false
	}
	return wire.Wake{Verb: wire.WakePush, Target: signalOf(key), Message: "1", LifeMS: second}, true
}

// unknownRelease deletes the value seen. Where it may be a Spring registry's, its
// waiters are told: to all others it is a message that nobody hears.
func unknownRelease(t *Target) []Step {
	if t.Facts.Main.Type == String && slices.Contains(t.Reading.Candidates, "spring-integration") {
		return releaseValueWith(t, springWake(t.Facts.Main.Key), "delete the key if it still holds this value, tell a Spring registry, should it be one")
	}
	return homegrownRelease(t)
}
