package family

import "testing"

// Metadata follows the token without a mark between them, so that a longer
// token of something else looks the same at first: only what no token of that
// kind holds makes it a possible lock.
func TestRedislockMetadata(t *testing.T) {
	const token = "r8nJMtMAOT4eiFsAWRoNgQ"
	possible := expectation{family: "redislock", confidence: Possible, ids: []string{token}}
	runCases(t, []sampleCase{
		one("without metadata", str("billing:run", token, 60_000), expectation{family: "redislock", confidence: Likely, ids: []string{token}}),
		one("metadata at a lock's name", str("billing:lock", token+"web-1", 60_000), expectation{family: "redislock", confidence: Likely, ids: []string{token}}),
		one("metadata that begins with a letter", str("billing:run", token+"host=web-1 pid=4242", 60_000), possible),
		one("metadata that begins with a brace", str("billing:run", token+`{"host":"web-1"}`, 60_000), possible),
		one("metadata at a key that lives for long", str("billing:run", token+"host=web-1", 3_600_000), expectation{}),
		one("a longer token", str("billing:run", token+"AbCdEf0123456789_-xyz", 60_000), expectation{}),
		one("a longer token, padded", str("billing:run", token+"AbCdEf0123456789_-xy==", 60_000), expectation{}),
		one("a signed token", str("billing:run", token+"AbCd.eyJzdWIiOiIxIn0.c2ln", 60_000), expectation{}),
	})
}
