package tui_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// console is fencepost on a real server.
func console(t *testing.T, tm terminal) (*redistest.Server, *session) {
	t.Helper()
	redistest.Need(t)
	built(t) // before the locks begin to run down
	server := redistest.Start(t)
	server.Do("HSET", "order:4711", "8743c9c0-0795-4907-87fd-6c719a6b4586:38", "1")
	server.Do("PEXPIRE", "order:4711", 45_000)
	server.Do("SET", "lock:a", "GxwErhZvp2QmLvacHpVgjGjA", "PX", 600_000)
	server.Do("SET", "invoice:2024-11", "uuwXUfc+QzqZ5tab/h20Eg==", "PX", 300_000)
	return server, open(t, tm, "-p", strconv.Itoa(server.Port))
}

func TestE2EListFilterReleaseQuit(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{})
	s.sees("live", "order:4711", "lock:a", "invoice:2024-11", "redis 7")
	left := regexp.MustCompile(`order:4711 .* (\d+) s`)
	first := left.FindStringSubmatch(s.screen())
	s.until("the countdown to move", func(screen string) bool {
		now := left.FindStringSubmatch(screen)
		return len(first) > 0 && len(now) > 0 && now[1] < first[1]
	})
	s.write("/")
	s.sees("filter:")
	s.write("4711")
	s.sees(`filter "4711": 1 of 3 locks`)
	s.loses("lock:a")
	s.write("\r")
	s.sees("u release")
	s.write("u")
	s.sees("Release this lock by force?", ">[ Cancel ]")
	time.Sleep(500 * time.Millisecond) // a key that comes sooner does not count
	s.write("\t")
	s.sees(">[ Release ]")
	s.write("\r")
	s.sees("RELEASED", "Nobody holds it now")
	if server.Do("EXISTS", "order:4711") != int64(0) {
		t.Error("the lock is still there")
	}
	if server.Do("EXISTS", "lock:a") != int64(1) {
		t.Error("another lock is gone")
	}
	s.write("\r")
	s.sees("RELEASED order:4711")
	s.write("q")
	if code := s.ends(); code != 0 {
		t.Errorf("q ended with %d", code)
	}
}

// A lock that changes hands while the panel is open survives.
func TestE2EChangedHandsWhileThePanelIsOpen(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{cols: 120, rows: 40})
	s.sees("order:4711")
	s.write("/4711\r")
	s.sees("1 of 3 locks")
	s.write("u")
	s.sees(">[ Cancel ]")
	time.Sleep(500 * time.Millisecond)
	s.write("\t")
	s.sees(">[ Release ]")
	server.Do("DEL", "order:4711")
	server.Do("HSET", "order:4711", "1ff31903-128b-42f2-8384-c34281ee02f2:7", "1")
	server.Do("PEXPIRE", "order:4711", 45_000)
	s.sees("changed hands", "1ff31903-128b-42f2-8384-c34281ee02f2:7", "Release is off")
	s.write("\t\r")
	time.Sleep(500 * time.Millisecond)
	if server.Do("HEXISTS", "order:4711", "1ff31903-128b-42f2-8384-c34281ee02f2:7") != int64(1) {
		t.Error("the new holder lost its lock")
	}
	s.write("\x03")
	if code := s.ends(); code != 130 {
		t.Errorf("ctrl+c ended with %d, want 130", code)
	}
}

// A TTL of 634 years overflows a duration (A45): a real server has it.
func TestE2EA45EndlessTTL(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	server := redistest.Start(t)
	server.Do("SET", "report/lock:123", "GxwErhZvp2QmLvacHpVgjGjA", "EX", 19999999845)
	s := open(t, terminal{}, "-p", strconv.Itoa(server.Port))
	s.sees("> 100 y")
	s.write("\r")
	s.sees("evidence", "Nothing has happened to it")
	s.write("G")
	s.sees("TTL          19999999", "ms when it was read")
	if strings.Contains(s.screen(), "49 y") {
		t.Errorf("634 years are shown as 49:\n%s", s.screen())
	}
}

// A server that stops (its process hangs) shows in the header; when it goes on,
// the screen follows again.
func TestE2EServerHangs(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{})
	s.sees("live", "order:4711")
	server.Pause()
	s.sees("NO ANSWER for 1", "order:4711", "s?")
	s.sees("NO ANSWER for 9") // nothing that happens here meanwhile counts as an answer
	server.Resume()
	s.sees("live", "meanwhile")
	server.Pause()
	time.Sleep(1500 * time.Millisecond) // a question is under way
	begun := time.Now()
	s.write("q")
	if code := s.ends(); code != 0 || time.Since(begun) > 2*time.Second {
		t.Errorf("with a server that hangs, q took %s and ended with %d", time.Since(begun), code)
	}
	server.Resume()
}

// Whatever ends the program (B50), the terminal is as it was before, and the exit
// code tells.
func TestE2EEndings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(s *session)
		code int
	}{
		"q":      {func(s *session) { s.write("q") }, 0},
		"ctrl+c": {func(s *session) { s.write("\x03") }, 130},
		"INT":    {func(s *session) { _ = s.cmd.Process.Signal(syscall.SIGINT) }, 130},
		"TERM":   {func(s *session) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		"HUP":    {func(s *session) { _ = s.cmd.Process.Signal(syscall.SIGHUP) }, 129},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, terminal{})
			s.sees("SANDBOX", "order:4711")
			c.end(s)
			if code := s.ends(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
		})
	}
}

// A fault in the program puts the terminal back, says so in one line, and leaves
// a trace without secrets (B50).
func TestE2EFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("end to end, on a terminal")
	}
	for _, kind := range []string{"update", "command", "goroutine", "view"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			s := launch(t, terminal{env: []string{"FENCEPOST_TEST_BREAK=" + kind, "FENCEPOST_TEST_DIR=" + dir}}, exec.Command(os.Args[0]))
			s.sees("about to break")
			if code := s.ends(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			s.until("what happened", func(screen string) bool {
				said := strings.ReplaceAll(screen, "\n", "")
				return strings.Contains(said, "internal fault: fault in") && strings.Contains(said, "the trace is")
			})
			traces, _ := filepath.Glob(filepath.Join(dir, "crash-*.txt"))
			if len(traces) != 1 {
				t.Fatalf("%d traces", len(traces))
			}
			trace, err := os.ReadFile(traces[0])
			if err != nil {
				t.Fatal(err)
			}
			info, _ := os.Stat(traces[0])
			if info.Mode().Perm() != 0o600 {
				t.Errorf("the trace can be read by others: %v", info.Mode())
			}
			if !bytes.Contains(trace, []byte("goroutine")) {
				t.Errorf("no stack in the trace:\n%s", trace)
			}
			if bytes.Contains(trace, []byte("hunter2")) || strings.Contains(s.raw.String(), "hunter2") {
				t.Error("the password is in the trace or on the screen")
			}
		})
	}
}

// A paste into the list acts as no key (B57), keys read together each count, and
// a paste of a megabyte does not hang.
func TestE2EPastesAndBursts(t *testing.T) {
	t.Parallel()
	server, s := console(t, terminal{})
	s.sees("> ", "order:4711")
	s.write("\x1b[200~u\t\r\nx\ny\n\x1b[201~")
	s.sees("that was a paste")
	s.write("jj") // in one read: two rows down
	s.until("the cursor on the third row", func(screen string) bool {
		rows := regexp.MustCompile(`(?m)^[> ] . (order:4711|lock:a|invoice)`).FindAllString(screen, -1)
		return len(rows) == 3 && strings.HasPrefix(rows[2], ">")
	})
	s.write("\x1b[200~" + strings.Repeat("u\r", 1<<19) + "\x1b[201~")
	s.write("/")
	s.sees("filter:")
	s.write("\x1b[200~47\x07\n11\x1b[31m\x1b[201~")
	s.sees(`filter "4711`)
	if server.Do("EXISTS", "order:4711", "lock:a", "invoice:2024-11") != int64(3) {
		t.Error("a paste released a lock")
	}
}

// A terminal that answers no query must not delay the start: Bubble Tea would
// wait five seconds for the background colour.
func TestE2EMuteTerminal(t *testing.T) {
	t.Parallel()
	built(t) // it takes longer than the wait that is looked for
	for _, args := range [][]string{{"--version"}, nil} {
		begun := time.Now()
		s := open(t, terminal{mute: true}, args...)
		if args == nil {
			s.sees("SANDBOX")
		} else {
			s.ends()
		}
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("fencepost %v took %s on a terminal that answers nothing", args, took)
		}
		if out := s.raw.String(); strings.Contains(out, "\x1b]11;?") || strings.Contains(out, "\x1b[6n") {
			t.Errorf("fencepost %v asks the terminal", args)
		}
	}
}

// ctrl+z gives the terminal back to the shell, and fg returns to the screen.
func TestE2ESuspend(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	path := built(t)
	s := launch(t, terminal{env: []string{"PS1=shell> "}}, exec.Command(shell, "--norc", "--noprofile", "-i"))
	s.sees("shell>")
	s.write(path + "\r")
	s.sees("SANDBOX", "order:4711")
	s.write("\x1a")
	s.sees("Stopped")
	if left := s.restored(); left != "" && left != "bracketed paste" { // bash itself has switched that on
		t.Errorf("suspended with %s on", left)
	}
	s.write("fg\r")
	s.sees("SANDBOX", "order:4711")
	s.write("q")
	s.sees("shell>")
	s.write("exit\r")
	s.ends()
}

// Without colour, and without a capable terminal, everything can be told.
func TestE2EWithoutColour(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"NO_COLOR": {"NO_COLOR=1"}, "dumb": {"TERM=dumb"}, "Korean": {"LC_ALL=ko_KR.UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, terminal{env: env})
			s.sees("SANDBOX", "order:4711", "no expiry", "> ")
			if colour := regexp.MustCompile(`\x1b\[[0-9;]*3[0-7]m`).FindString(s.raw.String()); name != "Korean" && colour != "" {
				t.Errorf("it wrote the colour %q", colour)
			}
			if name == "Korean" && strings.ContainsAny(s.screen(), "━╌─…·") {
				t.Errorf("ambiguous characters in a Korean locale:\n%s", s.screen())
			}
			s.write("q")
			s.ends()
		})
	}
}

// The sandbox serves other programs: an interactive redis-cli, and a console that
// takes it for any other server. Only this machine can reach it.
func TestE2ESandboxVerb(t *testing.T) {
	t.Parallel()
	served := open(t, terminal{}, "sandbox", "--listen", "127.0.0.1:0")
	served.sees("redis-cli -p ")
	port := regexp.MustCompile(`redis-cli -p (\d+)`).FindStringSubmatch(served.screen())[1]
	if cli, err := exec.LookPath("redis-cli"); err == nil {
		s := launch(t, terminal{}, exec.Command(cli, "-p", port))
		s.sees("127.0.0.1:" + port + ">")
		s.write("GET lock:report\r")
		s.sees(`"1"`)
		s.write("quit\r")
		s.ends()
	}
	s := open(t, terminal{}, "-p", port)
	s.sees("127.0.0.1:"+port, "live", "order:4711", "lock:report")
	s.write("q")
	s.ends()
	_ = served.cmd.Process.Signal(syscall.SIGINT)
	if code := served.ends(); code != 0 {
		t.Errorf("ctrl+c ended the sandbox with %d", code)
	}
	far := open(t, terminal{}, "sandbox", "--listen", "0.0.0.0:0")
	far.sees("loopback")
	if code := far.ends(); code != 2 {
		t.Errorf("listening for others ended with %d, want 2", code)
	}
}
