package tui_test

import (
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// A lab that is killed in the middle of a story (kill -9) leaves keys that go by
// themselves: each has an expiry of at most ten minutes, and when these have
// passed the server holds what it held before.
func TestE2ELabIsKilled(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	path := built(t)
	server := redistest.Start(t)
	server.Do("SET", "app:key", "1")
	server.Do("HSET", "order:4711", "8743c9c0-0795-4907-87fd-6c719a6b4586:38", "1")
	before := server.Dump()
	stories := []string{"gc-pause-late-write", "setnx-expire-crash", "polling-herd", "watchdog-outlives-work", "cannot-compare", "unfair-starvation", "thread-hand-off"}
	kills := redistest.Rounds(4, 50)
	left := 0
	for n := range kills {
		left += killLab(t, server, path, stories[n%len(stories)], time.Duration(n*37%300)*time.Millisecond)
	}
	if left == 0 {
		t.Fatal("no kill came in the middle of a story")
	}
	t.Logf("%d kills left keys %d times", kills, left)
	longest := time.Duration(0)
	for key := range server.Dump() {
		if _, own := before[key]; own {
			continue
		}
		ttl, _ := server.Do("PTTL", key).(int64)
		longest = max(longest, time.Duration(ttl)*time.Millisecond)
		if ttl == -1 || ttl > 600_000 || !strings.HasPrefix(key, "fencepost:lab:") {
			t.Errorf("%s would stay for %d ms", key, ttl)
		}
	}
	if redistest.Rounds(0, 1) == 0 {
		return // the nets take ten minutes
	}
	time.Sleep(longest + time.Second)
	if after := server.Dump(); !maps.Equal(after, before) {
		t.Errorf("%s after the last kill there are %d keys, before there were %d", longest, len(after), len(before))
	}
}

// Who breaks a story off with ctrl+c leaves nothing at all.
func TestE2ELabIsInterrupted(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	server := redistest.Start(t)
	server.Do("SET", "app:key", "1")
	before := server.Dump()
	cmd := labOn(t, server, built(t), "gc-pause-late-write")
	var said strings.Builder
	cmd.Stderr = &said
	begin(t, cmd, server)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // with the exit code of an error
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "interrupted; nothing of the lab is left") {
		t.Errorf("it ended with %d and said %q", code, said.String())
	}
	if after := server.Dump(); !maps.Equal(after, before) {
		t.Errorf("there are %d keys after ctrl+c, %d before", len(after), len(before))
	}
}

// labOn is a story on the server, not started yet.
func labOn(t *testing.T, server *redistest.Server, path, story string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path, "simulate", story, "-p", strconv.Itoa(server.Port), "--yes")
	cmd.Env = append(cmd.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	return cmd
}

// begin starts a story and waits for its first key.
func begin(t *testing.T, cmd *exec.Cmd, server *redistest.Server) {
	t.Helper()
	was := server.Do("DBSIZE")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); server.Do("DBSIZE") == was && time.Since(begun) < patience; {
		time.Sleep(2 * time.Millisecond)
	}
}

// killLab starts a story on the server, kills it a while after its first key is
// there, and reports 1 when it left keys.
func killLab(t *testing.T, server *redistest.Server, path, story string, after time.Duration) int {
	t.Helper()
	was := server.Do("DBSIZE")
	cmd := labOn(t, server, path, story)
	begin(t, cmd, server)
	time.Sleep(after)
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // killed on purpose
	if server.Do("DBSIZE") != was {
		return 1
	}
	return 0
}
