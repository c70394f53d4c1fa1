package family

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// warlock is node-redis-warlock: the base64 of a binary UUID of version 1 under
// a key that ends in :lock (lib/warlock.js).
func warlock() *Family {
	return oneString(Family{
		ID: "warlock", Label: "node-redis-warlock",
		Looks: "the base64 of a UUID of version 1, under a key that ends in :lock",
		Match: func(s *Sample) []Claim {
			u, ok := warlockToken(s.Value)
			if !ok || !u.fresh(s) || !strings.HasSuffix(s.Key, ":lock") {
				return nil
			}
			return sure(":lock, and a UUID of version 1 in base64")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = strings.TrimSuffix(f.Main.Key, ":lock")
			r.Note = "the holder works on; its unlock does nothing"
			if u, ok := warlockToken(f.Main.Value); ok {
				r.Holders[0].Label, r.Holders[0].Since = u.host(), u.since(f)
			}
			return r
		},
	})
}

func warlockToken(v string) (uuid1, bool) {
	if len(v) != 24 || !isBase64(v, 16) {
		return uuid1{}, false
	}
	raw, err := base64.StdEncoding.DecodeString(v)
	if err != nil {
		return uuid1{}, false
	}
	return parseUUID1(hex.EncodeToString(raw))
}
