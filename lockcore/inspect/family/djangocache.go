package family

import (
	"encoding/binary"
	"strings"

	"fencepost/lockcore/wire"
)

// djangoCache is the lock of Celery's cookbook and many a project: cache.add(),
// and cache.delete() at the end. Django pickles the value, but for integers, and
// puts prefix:version: before the key; any cache entry looks like that, so the
// name has to say lock.
func djangoCache() *Family {
	return oneString(Family{
		ID: "django-cache", Label: "django cache.add() lock",
		Looks: "a pickled string, number or truth, or a bare number, under prefix:version:name whose name says lock",
		Match: func(s *Sample) []Claim {
			switch name := djangoName(s.Key); {
			case name == "" || !s.Whole || !SmellsLikeLock(s.Key):
			case djangoKey(s.Key) != "" && isDigits(s.Value) && len(s.Value) <= 4:
				return likely("a Django cache key without prefix that says lock, and a number")
			default:
				if _, ok := unpickle(s.Value); ok {
					return likely("a Django cache key that says lock, and a pickled value")
				}
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			text, _ := unpickle(f.Main.Value)
			r := owned(Mutex, text)
			r.Resource = djangoName(f.Main.Key)
			r.Note = "the holder works on, and deletes the key at its end without looking whose it is by then"
			return r
		},
	})
}

// djangoName is the name in prefix:version:name, as Django makes cache keys.
func djangoName(key string) string {
	if name := djangoKey(key); name != "" {
		return name
	}
	return djangoKey(key[max(strings.IndexByte(key, ':'), 0):])
}

// owned is the reading of a lock whose value, decoded, is a person's word for
// its holder; "" where it names nobody.
func owned(kind Kind, text string) Reading {
	if text == "" {
		return flagged(kind)
	}
	r := single(kind, Holder{ID: wire.Raw(text)})
	if host, pid, ok := hostPID(text, ':'); ok {
		r.Holders[0].Host, r.Holders[0].PID = host, pid
	}
	r.Weak = true // an owner's name may come again
	return r
}

// unpickle reads a pickled string, or accepts a pickled number, truth or None,
// which is "" (Python's pickletools has the opcodes).
func unpickle(s string) (text string, ok bool) {
	if len(s) < 4 || s[0] != 0x80 || s[1] < 2 || s[1] > 5 || s[len(s)-1] != '.' {
		return "", false
	}
	body := s[2 : len(s)-1]
	if len(body) > 9 && body[0] == 0x95 { // FRAME and its length
		body = body[9:]
	}
	op, body := body[0], body[1:]
	var size int
	switch op {
	case 0x88, 0x89, 'N':
		return "", body == ""
	case 'K':
		return "", len(body) == 1
	case 'M':
		return "", len(body) == 2
	case 'J':
		return "", len(body) == 4
	case 'G':
		return "", len(body) == 8
	case 0x8a:
		return "", len(body) > 0 && len(body) == 1+int(body[0])
	case 0x8c, 'U', 'C':
		if len(body) < 1 {
			return "", false
		}
		size, body = int(body[0]), body[1:]
	case 'X':
		if len(body) < 4 {
			return "", false
		}
		size, body = int(binary.LittleEndian.Uint32([]byte(body[:4]))), body[4:]
	default:
		return "", false
	}
	if size < 0 || size > len(body) {
		return "", false
	}
	switch memo := body[size:]; {
	case memo == "", memo == "\x94", len(memo) == 2 && memo[0] == 'q':
		return body[:size], true
	}
	return "", false
}
