package redistest

import (
	"os"
	"os/exec"
	"testing"
)

// Need skips the test where there is no redis-server on PATH. Under
// FENCEPOST_REDIS=required that is a failure, so that a run which was meant to
// test against real servers cannot pass by testing nothing.
func Need(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return
	}
	if os.Getenv("FENCEPOST_REDIS") == "required" {
		t.Fatal("redistest: no redis-server on PATH, and FENCEPOST_REDIS=required")
	}
	t.Skip("redistest: SKIPPED, no redis-server on PATH (FENCEPOST_REDIS=required makes this a failure)")
}

// Rounds is how often a test repeats what may go wrong only sometimes: short
// in an ordinary run, long under FENCEPOST_LONG=1.
func Rounds(short, long int) int {
	if os.Getenv("FENCEPOST_LONG") == "1" {
		return long
	}
	return short
}
