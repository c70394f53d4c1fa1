package family

import "strings"

// dapr: a string with the owner that the application named, at a key that
// begins with lock||. Source: components-contrib lock/redis/standalone.go,
// dapr's key prefixes (lock||<app>||<resource>).
func dapr() *Family {
	const mark = "lock||"
	return oneString(Family{
		ID: "dapr", Label: "Dapr lock.redis",
		Looks: "a string at lock||<app>||<resource>",
		Marks: []string{mark},
		Named: func(key string) bool { return strings.HasPrefix(key, mark) },
		Match: func(s *Sample) []Claim {
			if !strings.HasPrefix(s.Key, mark) || len(s.Key) == len(mark) {
				return nil
			}
			return sure("a key that begins with lock||")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Weak = true
			r.Resource = strings.TrimPrefix(f.Main.Key, mark)
			if _, name, ok := strings.Cut(r.Resource, "||"); ok {
				r.Resource = name
			}
			return r
		},
	})
}
