package family

import "sync"

// unknown is the family of locks of which only the shape is known; the claims
// of several families on such a key make it (see Group).
var unknown = sync.OnceValue(func() *Family {
	return &Family{
		ID:      "unknown",
		Label:   "unknown library",
		Types:   []Type{String},
		Looks:   "nothing of its own: it stands for a shape that several families share",
		Match:   func(*Sample) []Claim { return nil },
		Decode:  func(f *Facts) Reading { return token(f, Mutex) },
		Release: releaseValue,
	}
})
