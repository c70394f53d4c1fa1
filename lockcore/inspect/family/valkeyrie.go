package family

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"fencepost/lockcore/wire"
)

// valkeyrie: a string with the caller's own bytes, or a JSON record of key,
// value in base64 and a counter that every renewal raises. Keys are paths.
// Source: kvtools/redis redis.go (NewLock, RawCodec, JSONCodec).
func valkeyrie() *Family {
	return oneString(Family{
		ID: "valkeyrie", Label: "kvtools/redis (valkeyrie)",
		Looks: `a JSON string {"Key":…,"Value":…,"LastIndex":…} that names its own key, or any value with a short TTL at a path like a/b/lock`,
		Match: func(s *Sample) []Claim {
			switch {
			case strings.HasPrefix(s.Value, `{"Key":"`) && strings.Contains(s.Value, `"LastIndex":`):
				return nearUnique(s, "a record of Key, Value and LastIndex")
			case strings.Contains(s.Key, "/") && !strings.Contains(s.Key, ":") && s.PTTL > 0 && s.PTTL <= 10*minute &&
				(s.Len == 0 || short(s)) && SmellsLikeLock(s.Key):
				return shapeOnly(s, "valkeyrie", "a path that says lock, with a short TTL")
			}
			return nil
		},
		Decode: valkeyrieDecode,
	})
}

func valkeyrieDecode(f *Facts) Reading {
	r := token(f, Mutex)
	r.Note = "a holder that renews once more fails and is told so"
	var record struct {
		Key, Value string
	}
	if json.Unmarshal([]byte(f.Main.Value), &record) != nil {
		r.Weak = true
		return r
	}
	if value, err := base64.StdEncoding.DecodeString(record.Value); err == nil {
		r.Holders[0].Label = wire.Clean(firstBytes(string(value), 120))
	}
	return r
}
