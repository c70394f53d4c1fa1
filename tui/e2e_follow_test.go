package tui_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// What another client does is on the screen at once where the server tells of it,
// and the header says that it does.
func TestE2EFollowsByTracking(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{cols: 120, rows: 40})
	s.sees("live, by tracking", "order:4711", "3 locks")
	for name, step := range map[string]struct {
		do   func()
		sees string
	}{
		"a new lock":   {func() { server.Do("SET", "lock:new", "GxwErhZvp2QmLvacHpVgjGjB", "PX", 600_000) }, "+ lock:new"},
		"a handover":   {func() { server.Do("SET", "lock:a", "ZZwErhZvp2QmLvacHpVgjGjC", "PX", 600_000) }, "ZZwErhZvp2"},
		"lost expiry":  {func() { server.Do("PERSIST", "invoice:2024-11") }, "no expiry"},
		"a lock freed": {func() { server.Do("DEL", "order:4711") }, "- order:4711"},
	} {
		begun := time.Now()
		step.do()
		s.sees(step.sees)
		if took := time.Since(begun); took > 3*time.Second { // a busy machine is no reason to fail: by tracking it is some milliseconds
			t.Errorf("%s was on the screen after %s", name, took)
		}
	}
	s.loses("- order:4711")
	s.write("e")
	s.sees("What happens to the locks", "acquired  lock:new", "handed over  lock:a  GxwErhZvp2QmLvacHpVgjGjA -> ZZwErhZvp2QmLvacHpVgjGjC",
		"lost expiry  invoice:2024-11", "of 8743c9c0-0795-4907-87fd-6c719a6b4586:38")
	s.write("q")
	s.sees("3 locks")
	quits(t, server, s)
}

// quits leaves the console, and fails unless that is quick and no connection is
// left.
func quits(t *testing.T, server *redistest.Server, s *session) {
	t.Helper()
	if !strings.Contains(fmt.Sprint(server.Do("CLIENT", "LIST")), "name=fencepost") {
		t.Error("the console's connections have another name than is looked for")
	}
	begun := time.Now()
	s.write("q")
	if code := s.ends(); code != 0 {
		t.Errorf("q ended with %d", code)
	}
	if took := time.Since(begun); took > 1500*time.Millisecond { // a second, and what a busy machine adds
		t.Errorf("q took %s", took)
	}
	server.Until("the console's connections to be gone", func() bool {
		return !strings.Contains(fmt.Sprint(server.Do("CLIENT", "LIST")), "name=fencepost")
	})
}

// A renewal by PEXPIRE is told: the heartbeat is learned and the history says it.
func TestE2ERenewals(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{cols: 120, rows: 40})
	s.sees("live, by tracking", "3 locks")
	s.write("/4711\r\r")
	s.sees("evidence", "wanted by", "live, by tracking")
	for range 5 {
		time.Sleep(beyondQuiet)
		server.Do("PEXPIRE", "order:4711", 45_000)
	}
	s.sees("5 times: speaks for a living holder (renewals that were seen)", "renewed  by 8743c9c0-0795-4907-87fd-6c719a6b4586:38")
	s.until("the renewals that stopped to be said", func(screen string) bool { return strings.Contains(screen, "overdue by") })
	s.write("qq")
	s.ends()
}

// Connections that are cut are made again, and what may have been missed is said.
func TestE2EConnectionsAreCut(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{})
	s.sees("live, by tracking", "3 locks")
	for _, kind := range []string{"pubsub", "normal"} {
		server.Do("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
		time.Sleep(200 * time.Millisecond)
	}
	server.Do("SET", "lock:a", "ZZwErhZvp2QmLvacHpVgjGjC", "PX", 600_000)
	s.sees("ZZwErhZv", "live, by tracking")
	s.until("the gap to be said", func(screen string) bool {
		return strings.Contains(screen, "what told of changes was lost") || strings.Contains(screen, "nothing was told for") || strings.Contains(screen, "the connection was lost for")
	})
	quits(t, server, s)
}

// A server that is stopped turns the header; rows keep their facts with their
// age; once it is there again the screen says what is other.
func TestE2EServerRestarts(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{cols: 120, rows: 24})
	s.sees("live, by tracking", "3 locks")
	server.Do("CONFIG", "SET", "appendonly", "no")
	server.Kill()
	s.sees("LOST for", "connection refused: does Redis run there?", "order:4711", "s?")
	if strings.Contains(s.screen(), "dial tcp") {
		t.Errorf("the screen shows what only a program reads:\n%s", s.screen())
	}
	time.Sleep(3 * time.Second)
	if screen := s.screen(); !strings.Contains(screen, "order:4711") || strings.Contains(screen, "due, asking") {
		t.Errorf("without a server the screen is\n%s", screen)
	}
	server.Restart() // without what it held
	s.sees("live, by tracking", "the server was started again", "3 gone")
	quits(t, server, s)
}

// While a long pass goes on the first locks are there, the filter works, the pass
// stops and goes on, and leaving takes no time.
func TestE2EScanOfManyKeys(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	built(t)
	server := redistest.Start(t)
	redistest.Populate(t, server.Client(), 60_000, "user:", 20)
	for i := range 60 {
		server.Do("SET", fmt.Sprintf("lock:%d", i), fmt.Sprintf("GxwErhZvp2QmLvacHpV%05d", i), "PX", 600_000)
	}
	begun := time.Now()
	s := open(t, terminal{cols: 120, rows: 24}, "-p", strconv.Itoa(server.Port), "--scan-rate", "4000")
	s.sees("scanned ", " of ~60k keys", "lock:")
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("the first lock was there after %s", took)
	}
	s.write("/lock\r")
	s.until("the filter", func(screen string) bool { return strings.Contains(screen, `filter "lock": `) })
	s.write("s")
	s.sees("scan PAUSED at", "(s goes on)")
	progress := regexp.MustCompile(`at (\S+) of`)
	time.Sleep(200 * time.Millisecond)
	first := progress.FindString(s.screen())
	time.Sleep(600 * time.Millisecond)
	if again := progress.FindString(s.screen()); first != again {
		t.Errorf("a pass that is paused went from %q to %q", first, again)
	}
	s.write("s")
	s.loses("PAUSED")
	s.sees("scanned ")
	quits(t, server, s)
}

// Nothing waits for a server that hangs, once the console is left.
func TestE2EQuitWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{})
	s.sees("live, by tracking")
	server.Pause()
	s.sees("NO ANSWER for")
	begun := time.Now()
	s.write("q")
	if code := s.ends(); code != 0 || time.Since(begun) > 1500*time.Millisecond {
		t.Errorf("q took %s and ended with %d", time.Since(begun), code)
	}
	server.Resume()
}
