package family

import (
	"slices"
	"sync"
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

// unknownRelease deletes the value seen. Where it may be a Spring registry's, its
// waiters are told: to all others it is a message that nobody hears.
func unknownRelease(t *Target) []Step {
	if t.Facts.Main.Type == String && slices.Contains(t.Reading.Candidates, "spring-integration") {
		return releaseValueWith(t, springWake(t.Facts.Main.Key), "delete the key if it still holds this value, tell a Spring registry, should it be one")
	}
	return homegrownRelease(t)
}
