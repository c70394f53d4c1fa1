package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// The libraries for Node whose token tells more or less of them by itself.

// nodeRedlock: 16 random bytes in hexadecimal under any key; several resources
// of one lock share the token (src/index.ts). The same goes for its forks.
func nodeRedlock() *Family {
	return shapeFamily("node-redlock", "node-redlock", hex32Looks, randomHex32,
		"release it on all servers of the group, and all keys with this token; the holder's using() aborts at its next extension")
}

// redlockUniversal: the same token; or, by a function it exports, a node's name,
// the moment and 8 random bytes (createLockValueWithMetadata).
func redlockUniversal() *Family {
	return oneString(Family{
		ID: "redlock-universal", Label: "redlock-universal",
		Looks: "node:milliseconds:16 hexadecimal digits; or " + hex32Looks,
		Match: func(s *Sample) []Claim {
			if _, ms, ok := universalToken(s.Value); ok && near(s, ms, saneAge) {
				return nearUnique(s, "a node, a time and 8 random bytes")
			}
			if randomHex32(s.Value) {
				return shapeOnly(s, "redlock-universal", hex32Looks)
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Note = "release it on all servers of the group; the holder's signal aborts at its next extension"
			if node, ms, ok := universalToken(f.Main.Value); ok {
				r.Holders[0].Label, r.Holders[0].Since = "node "+wire.Clean(node), sinceMS(f, ms)
			}
			return r
		},
	})
}

const hex32Looks = "16 random bytes in hexadecimal"

// randomHex32 leaves out what redis-py writes and words in hexadecimal digits.
func randomHex32(v string) bool {
	if !isHex(v, 32) || isDigits(v) {
		return false
	}
	_, timed := parseUUID1(v)
	return !timed
}

func universalToken(v string) (node string, ms int64, ok bool) {
	node, tail, ok := strings.Cut(v, ":")
	at, random, ok2 := strings.Cut(tail, ":")
	ms, ok3 := epochMS(at)
	return node, ms, ok && ok2 && ok3 && node != "" && isHex(random, 16) && isDigits(at)
}

// redisKit: the first 22 characters of the base64 of random bytes (@redis-kit/lock).
func redisKit() *Family {
	return shapeFamily("redis-kit", "@redis-kit/lock", "22 random characters of base64", func(v string) bool {
		return len(v) == 22 && looksRandom(v) && isBase64(v+"AA", 18) // two more make whole bytes of it
	}, "the holder works on; its release does nothing")
}

// ioredisLock and redislockNPM, from which it was made, hold the text of a UUID
// of version 1 under any key (lib/lock.js of both).
func ioredisLock() *Family { return timedUUID("ioredis-lock", "ioredis-lock") }

func redislockNPM() *Family { return timedUUID("redislock-npm", "redislock (npm)") }

func timedUUID(id, label string) *Family {
	return oneString(Family{
		ID: id, Label: label, Looks: "a UUID of version 1 made about now",
		Match: func(s *Sample) []Claim {
			if u, ok := parseDashedUUID1(s.Value); !ok || !u.fresh(s) {
				return nil
			}
			return shapeOnly(s, id, "a UUID of version 1 made about now")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			// The UUID was made with the lock object, which may lock again and again:
			// its time is no start of this hold.
			if u, ok := parseDashedUUID1(f.Main.Value); ok {
				r.Holders[0].Label = u.host()
			}
			r.Note = "the holder gets LockReleaseError or LockExtendError"
			return r
		},
	})
}
