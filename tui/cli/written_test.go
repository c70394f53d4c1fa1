package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"fencepost/lockcore/redistest"
)

// What cannot be written to a full disk is said, and is no success; an act that
// was done stays done, and its exit code says so.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	switch {
	case err != nil && os.Getenv("FENCEPOST_REDIS") == "required":
		t.Fatal("a full disk cannot be tried: ", err)
	case err != nil:
		t.Skip("SKIPPED, a full disk cannot be tried: ", err)
	}
	defer func() { _ = full.Close() }()
	s := redistest.Start(t)
	s.Do("SET", "lock:a", tokenA, "PX", 600_000)
	none := func(string) string { return "" }
	for _, c := range []struct {
		want int
		args []string
	}{
		{exitError, []string{"list"}},
		{exitError, []string{"list", "--json"}},
		{exitError, []string{"inspect", "lock:a"}},
		{exitOK, []string{"release", "lock:a", "--if-holder", tokenA, "--reason", "x", "--yes", "--audit", "-"}},
	} {
		var said bytes.Buffer
		code := Run(append(c.args, port(s)...), none, strings.NewReader(""), full, &said)
		if code != c.want || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%v: exit %d, want %d: %s", c.args, code, c.want, said.String())
		}
	}
	if s.Do("EXISTS", "lock:a") != int64(0) {
		t.Error("the lock is not released")
	}
}
