package family

import "strings"

// kombu guards the restoring of unacknowledged messages (kombu/transport/
// redis.py, Mutex). Its token was a UUID before it took redis-py's lock.
func kombu() *Family {
	return oneString(Family{
		ID: "kombu", Label: "kombu unacked_mutex",
		Looks: "the name unacked_mutex and a UUID",
		Match: func(s *Sample) []Claim {
			if !kombuKey(s.Key) || !(isUUID(s.Value) || isHex(s.Value, 32)) {
				return nil
			}
			return sure("the name unacked_mutex, and a UUID")
		},
		Decode: func(f *Facts) Reading {
			r := redisPyRead(f, Mutex, "kombu unacked_mutex")
			r.Note = "harmless: it only keeps two workers from restoring the same unacknowledged messages"
			return r
		},
	})
}

func kombuKey(key string) bool { return strings.HasSuffix(key, "unacked_mutex") }
