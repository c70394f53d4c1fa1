package cli

import (
	"os"
	"runtime"
	"testing"

	"fencepost/lockcore/redistest"
)

var processorsAtStart = runtime.GOMAXPROCS(0) // before any test has listed anything

// A list on the server's own host leaves it a processor.
func TestListLeavesHalfOfTheProcessors(t *testing.T) {
	s := redistest.Start(t)
	run(t, nil, append([]string{"list"}, port(s)...)...).has(t, "list", exitOK)
	want := max(1, processorsAtStart/2)
	if os.Getenv("GOMAXPROCS") != "" {
		want = processorsAtStart
	}
	if got := runtime.GOMAXPROCS(0); got != want {
		t.Errorf("it runs on %d of %d processors, want %d", got, processorsAtStart, want)
	}
}
