package inspect

import (
	"testing"

	"pgregory.net/rapid"

	"fencepost/lockcore/redistest"
)

// The oracle is the server: what its MATCH takes, Glob takes.
func TestGlobIsTheServers(t *testing.T) {
	s := redistest.Start(t)
	rapid.Check(t, func(rt *rapid.T) {
		chars := rapid.SampledFrom([]rune("ab*?[]^-\\"))
		pattern := rapid.StringOfN(chars, 0, 8, -1).Draw(rt, "pattern")
		key := rapid.StringOfN(rapid.SampledFrom([]rune("ab]^-\\[*")), 1, 6, -1).Draw(rt, "key")
		s.Do("flushall")
		s.Do("set", key, "1")
		reply, _ := s.Do("keys", pattern).([]any)
		if want, got := len(reply) == 1, Glob(pattern, key); got != want {
			rt.Fatalf("Glob(%q, %q) = %v, the server says %v", pattern, key, got, want)
		}
	})
}

// A pattern of many stars must not take for ever.
func TestGlobIsBounded(t *testing.T) {
	stars, long := "", ""
	for range 50 {
		stars += "*a"
	}
	for range 5000 {
		long += "a"
	}
	if Glob(stars+"b", long) {
		t.Error("matched what does not match")
	}
}
