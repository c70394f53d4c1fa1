package tui_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// A read-only target is taken through everything that the console has: the list,
// a lock in full, the events, every choice of the panel, several locks at once,
// the lab, subscriptions, a lost connection. By the server's own count no command
// reached it that could have changed anything.
func TestE2EReadOnlyJourney(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	built(t)
	server := redistest.Start(t)
	server.Do("HSET", "order:1", "8743c9c0-0795-4907-87fd-6c719a6b4586:38", "1")
	server.Do("PEXPIRE", "order:1", 600_000)
	server.Do("HSET", "catalog", "mode", "read", "8743c9c0-0795-4907-87fd-6c719a6b4586:38", "1", "1ff31903-128b-42f2-8384-c34281ee02f2:7", "1")
	server.Do("PEXPIRE", "catalog", 600_000)
	server.Do("SET", "lock:a", "GxwErhZvp2QmLvacHpVgjGjA")
	before := fmt.Sprint(server.Do("DBSIZE"), server.Do("OBJECT", "REFCOUNT", "lock:a"))
	server.Do("CONFIG", "RESETSTAT")
	s := open(t, terminal{cols: 110, rows: 36}, "-p", strconv.Itoa(server.Port), "--read-only")
	s.sees("READ-ONLY", "live", "order:1", "catalog", "lock:a")

	s.write("\r") // in full
	s.sees("evidence")
	s.write("Y")
	s.sees("sent to the clipboard")
	s.write("q")
	s.sees("Enter details")
	s.write("e")
	s.sees("What happens to the locks")
	s.write("q")
	s.sees("Enter details")
	for _, key := range []string{"order:1", "catalog", "lock:a"} {
		s.write("/" + key + "\r")
		s.sees(`filter "` + key + `"`)
		s.write("u")
		s.sees(">[ Cancel ]", "Nothing may be changed here")
		time.Sleep(beyondQuiet)
		for _, choice := range []string{"2", "4", "5", "t"} {
			s.write(choice)
			s.sees("this target is read-only")
		}
		s.write("\t\t\r") // there is no Release to go to
		s.sees("Enter details")
		s.write("\x1b")
		s.loses(`filter "`)
	}
	s.write("g  ") // two are marked
	s.sees("2 marked")
	s.write("u")
	s.sees("Nothing may be changed here", ">[ Cancel ]")
	time.Sleep(beyondQuiet)
	s.write("2\r")
	s.sees("Enter details")
	s.write("c")
	s.sees("nothing is marked")
	s.write("S") // every key's shape
	s.write("r")
	s.write("4") // the lab, and there the server as its stage
	s.sees("gc-pause-late-write")
	s.write("\r")
	s.sees("step 0/")
	s.write("]]]")
	s.write("T")
	s.sees("the lab writes, and this console was started read-only")
	s.write("q")
	server.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	time.Sleep(1500 * time.Millisecond)
	s.write("\x03")
	s.ends()

	if after := fmt.Sprint(server.Do("DBSIZE"), server.Do("OBJECT", "REFCOUNT", "lock:a")); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	onlyReads(t, server)
}

// onlyReads fails if a command that writes, or that manages a server, has reached
// it since its counts were reset.
func onlyReads(t *testing.T, server *redistest.Server) {
	t.Helper()
	stats, _ := server.Do("INFO", "commandstats").(string)
	if !strings.Contains(stats, "cmdstat_scan:") || !strings.Contains(stats, "cmdstat_getrange:") {
		t.Fatalf("the journey was none:\n%s", stats)
	}
	for line := range strings.Lines(stats) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		name, sub, _ := strings.Cut(name, "|")
		if !strings.HasPrefix(line, "cmdstat_") || sub == "kill" || sub == "resetstat" {
			continue // those are the test's own
		}
		about, _ := server.Do("COMMAND", "INFO", name).([]any)
		for _, c := range about {
			fields, _ := c.([]any)
			if len(fields) > 2 && strings.Contains(fmt.Sprint(fields[2]), "write") {
				t.Errorf("%s reached the server: %s", name, line)
			}
		}
		for _, bad := range []string{"eval", "evalsha", "fcall", "publish", "spublish", "debug", "failover", "shutdown", "replicaof", "save", "bgsave"} {
			if name == bad {
				t.Errorf("%s reached the server: %s", name, line)
			}
		}
	}
}
