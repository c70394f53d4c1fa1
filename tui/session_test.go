package tui_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/term"
)

// session is a program on a terminal of its own, as a user has it.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	before *term.State
	vt     vt10x.Terminal
	raw    *lockedBuffer
	exit   chan int
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// terminal options of a session.
type terminal struct {
	cols, rows int
	mute       bool // it answers no query
	env        []string
}

// binary builds the program once, where TestMain has made room for it.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.Getenv("FENCEPOST_TEST_BUILD"), "fencepost")
	out, err := exec.Command("go", "build", "-o", path, "..").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// built returns the program; a short run has none.
func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("end to end, on a terminal")
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// open starts fencepost with these arguments.
func open(t *testing.T, tm terminal, args ...string) *session {
	t.Helper()
	return launch(t, tm, exec.Command(built(t), args...))
}

// races is where a program built with the race detector writes what it found,
// rather than across its screen; after the test any such file fails it. Bubble
// Tea, when it is killed, closes the descriptors that its input still waits on:
// that is at the very end, not ours, and let pass.
func races(t *testing.T) (prefix string) {
	dir, err := os.MkdirTemp(os.Getenv("FENCEPOST_TEST_BUILD"), "race") // the path may hold no comma
	if err != nil {
		t.Fatal(err)
	}
	prefix = filepath.Join(dir, "race")
	t.Cleanup(func() {
		reports, _ := filepath.Glob(prefix + "*")
		for _, name := range reports {
			text, err := os.ReadFile(name)
			if err != nil || !bytes.Contains(text, []byte("cancelreader.(*epollCancelReader).Close()")) {
				t.Errorf("the program has a data race (%v):\n%s", err, text)
			}
		}
	})
	return prefix
}

func launch(t *testing.T, tm terminal, cmd *exec.Cmd) *session {
	t.Helper()
	if tm.cols == 0 {
		tm.cols, tm.rows = 80, 24
	}
	master, slave, err := pty.Open()
	switch {
	case err != nil && os.Getenv("FENCEPOST_REDIS") == "required":
		t.Fatal("no terminal can be opened: ", err)
	case err != nil:
		t.Skip("SKIPPED, no terminal can be opened: ", err)
	}
	if err := pty.Setsize(slave, &pty.Winsize{Cols: uint16(tm.cols), Rows: uint16(tm.rows)}); err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, cmd: cmd, master: master, slave: slave, raw: &lockedBuffer{}, exit: make(chan int, 1)}
	if s.before, err = term.GetState(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	var answers io.Writer = master
	if tm.mute {
		answers = io.Discard
	}
	s.vt = vt10x.New(vt10x.WithWriter(answers), vt10x.WithSize(tm.cols, tm.rows))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=", "NO_COLOR=", "REDISCLI_AUTH=", "TMUX=",
		"XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Env = append(cmd.Env, tm.env...)
	cmd.Env = append(cmd.Env, "GORACE=log_path="+races(t))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.watch()
	go func() {
		_ = cmd.Wait()
		s.exit <- cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = slave.Close()
		_ = master.Close()
	})
	return s
}

// watch feeds what the program writes to the emulated terminal, whole characters
// at a time: vt10x loses one that comes in two parts.
func (s *session) watch() {
	var rest []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := s.master.Read(buf)
		_, _ = s.raw.Write(buf[:n])
		rest = append(rest, buf[:n]...)
		whole := len(rest)
		for i := len(rest) - 1; i >= max(0, len(rest)-utf8.UTFMax); i-- {
			if utf8.RuneStart(rest[i]) {
				if !utf8.FullRune(rest[i:]) {
					whole = i
				}
				break
			}
		}
		_, _ = s.vt.Write(rest[:whole])
		rest = append([]byte(nil), rest[whole:]...)
		if err != nil {
			return
		}
	}
}

// screen is what the terminal shows.
func (s *session) screen() string {
	lines := strings.Split(s.vt.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// patience bounds every wait for the screen.
const patience = 15 * time.Second

// until waits for the screen to be as wanted.
func (s *session) until(what string, ok func(screen string) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ok(s.screen()) {
			return
		}
	}
	s.t.Fatalf("waited for %s; the screen is\n%s", what, s.screen())
}

func (s *session) sees(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		s.until(fmt.Sprintf("%q", text), func(screen string) bool { return strings.Contains(screen, text) })
	}
}

func (s *session) loses(text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("%q to vanish", text), func(screen string) bool { return !strings.Contains(screen, text) })
}

func (s *session) write(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the program to end and checks that the terminal is as before.
func (s *session) ends() (code int) {
	s.t.Helper()
	select {
	case code = <-s.exit:
	case <-time.After(patience):
		s.t.Fatalf("it did not end; the screen is\n%s", s.screen())
	}
	after, err := term.GetState(int(s.slave.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(s.before, after) {
		s.t.Errorf("the terminal's settings were %v and are %v", s.before, after)
	}
	s.until("the terminal to be as before", func(string) bool { return s.restored() == "" })
	return code
}

// restored says what a program has left switched on, by the last sequence of
// each pair that it wrote.
func (s *session) restored() string {
	out := s.raw.String()
	for what, pair := range map[string][2]string{
		"the alternate screen": {"\x1b[?1049h", "\x1b[?1049l"}, "a hidden cursor": {"\x1b[?25l", "\x1b[?25h"},
		"bracketed paste": {"\x1b[?2004h", "\x1b[?2004l"}, "the mouse": {"\x1b[?1002h", "\x1b[?1002l"},
	} {
		if on := strings.LastIndex(out, pair[0]); on >= 0 && strings.LastIndex(out, pair[1]) < on {
			return what
		}
	}
	return ""
}
