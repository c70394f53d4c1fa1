package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// redislockToken is the length of the token before the metadata.
const redislockToken = 22

// redislock: a string of a token, 16 random bytes in URL-safe base64, and
// behind it whatever metadata the application gave. A lock on several keys has
// the same value in each. Source: bsm/redislock redislock.go (ObtainMulti,
// randomToken), release.lua.
func redislock() *Family {
	return oneString(Family{
		ID: "redislock", Label: "bsm/redislock",
		Looks: "a string whose first 22 characters are 16 bytes in URL-safe base64; metadata may follow",
		Match: redislockMatch,
		Decode: func(f *Facts) Reading {
			if len(f.Main.Value) < redislockToken {
				return Reading{NoRow: true}
			}
			h := Holder{ID: wire.Raw(f.Main.Value[:redislockToken])}
			if meta := f.Main.Value[redislockToken:]; meta != "" {
				h.Label = wire.Clean(firstBytes(meta, 120))
				describe(&h, meta)
			}
			return single(Mutex, h)
		},
	})
}

func redislockMatch(s *Sample) []Claim {
	if len(s.Value) < redislockToken || !isBase64URL(s.Value[:redislockToken], 16) || !looksRandom(s.Value[:redislockToken]) {
		return nil
	}
	if s.Len == redislockToken {
		return nearUnique(s, "16 random bytes in URL-safe base64")
	}
	// With metadata the shape says little: any longer token may begin like this.
	if s.PTTL <= 0 || len(s.Value) == redislockToken || !isPrintable(s.Value) {
		return nil
	}
	switch {
	case SmellsLikeLock(s.Key):
		return likely("16 random bytes in URL-safe base64, then metadata")
	case s.PTTL <= 10*minute && !oneToken(s.Value[redislockToken:]):
		return possibly("16 random bytes in URL-safe base64, then something else")
	}
	return nil
}

// oneToken reports whether meta may be the rest of a longer token: URL-safe
// base64 with its padding, or the parts of a signed one with dots between them.
func oneToken(meta string) bool {
	for _, c := range []byte(strings.TrimRight(meta, "=")) {
		if !alnum(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// firstBytes is at most n bytes of s.
func firstBytes(s string, n int) string { return s[:min(len(s), n)] }
