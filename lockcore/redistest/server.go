package redistest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startWithin bounds every wait for a server: to answer, to link, to agree.
const startWithin = 20 * time.Second

// Server is one redis-server process on a port of its own. It ends with the
// test. Its methods fail the test where they cannot do what they say, so they
// belong on the test's own goroutine.
type Server struct {
	Addr string // Host:Port
	Host string // 127.0.0.1
	Port int

	t      testing.TB
	dir    string
	argv   []string // after the program's name
	tls    *tls.Config
	pass   string // what Do and Client authenticate with, as default
	proc   *exec.Cmd
	exited chan struct{}

	mu     sync.Mutex
	client *redis.Client // for Do
}

// Start runs a redis-server on a free loopback port, without persistence, in
// a directory of the test's own, and waits until it answers. args are added to
// its command line, as "--maxmemory", "10mb"; where an option is given twice
// the later one wins. It calls Need.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, nil, func(port int) []string {
		return append([]string{"--port", strconv.Itoa(port)}, args...)
	})
}

// start tries free ports until a server stands on one: between the look for a
// free port and the server's own bind, another process may take it.
func start(t testing.TB, tlsConf *tls.Config, argv func(port int) []string) *Server {
	t.Helper()
	Need(t)
	dir := t.TempDir()
	for range 5 {
		port := FreePort(t)
		s := &Server{
			Host: "127.0.0.1", Port: port, Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
			t: t, dir: dir, tls: tlsConf,
		}
		common := []string{
			"--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no",
			"--repl-diskless-sync-delay", "0", "--logfile", s.logFile(),
		}
		own := argv(port)
		if len(own) > 0 && !strings.HasPrefix(own[0], "--") {
			s.argv = own // a configuration file says it all
		} else {
			s.argv = append(common, own...)
		}
		s.pass = optionValue(s.argv, "--requirepass")
		err := s.run()
		if err == nil {
			t.Cleanup(s.end)
			return s
		}
		if !strings.Contains(s.log(), "in use") {
			t.Fatalf("redistest: %v\n%s", err, s.log())
		}
	}
	t.Fatal("redistest: found no port that stayed free")
	return nil
}

func optionValue(argv []string, option string) string {
	for i := len(argv) - 2; i >= 0; i-- {
		if argv[i] == option {
			return argv[i+1]
		}
	}
	return ""
}

// FreePort returns a loopback port on which nothing listens now, such that
// nothing listens on port+10000 either, where a Cluster node has its bus. Both
// lie below the range from which outgoing connections take theirs.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 200 {
		port := 10000 + rand.IntN(12000)
		if portFree(port) && portFree(port+10000) {
			return port
		}
	}
	t.Fatal("redistest: no free port")
	return 0
}

func portFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// run starts the process and waits until it answers.
func (s *Server) run() error {
	cmd := exec.Command("redis-server", s.argv...)
	cmd.SysProcAttr = procAttr()
	out, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the child has its own descriptor
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // a killed server's error is what the test wanted
		close(exited)
	}()
	s.proc, s.exited = cmd, exited
	for deadline := time.Now().Add(startWithin); time.Now().Before(deadline); {
		if s.answers() {
			return nil
		}
		select {
		case <-exited:
			return errors.New("redis-server ended at once")
		case <-time.After(5 * time.Millisecond):
		}
	}
	s.end()
	return fmt.Errorf("redis-server did not answer within %v", startWithin)
}

// answers reports whether the server says anything to PING but that it is
// still loading; "NOAUTH" counts.
func (s *Server) answers() bool {
	conn, err := s.dial()
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && !strings.HasPrefix(line, "-LOADING")
}

func (s *Server) dial() (net.Conn, error) {
	d := &net.Dialer{Timeout: time.Second}
	if s.tls != nil {
		return tls.DialWithDialer(d, "tcp", s.Addr, s.tls)
	}
	return d.Dial("tcp", s.Addr)
}

// Dir is the server's working directory.
func (s *Server) Dir() string { return s.dir }

// Pid is the process id of the running server.
func (s *Server) Pid() int { return s.proc.Process.Pid }

// Stop ends the server as an operator would, with SIGTERM, and waits for it.
func (s *Server) Stop() {
	s.signal(syscall.SIGCONT) // a paused process would not see it
	s.signal(syscall.SIGTERM)
	s.wait()
}

// Kill ends the server without giving it a chance (SIGKILL), and waits for it.
func (s *Server) Kill() {
	s.signal(syscall.SIGKILL)
	s.wait()
}

// Restart starts the server again on the same port, in the same directory,
// after stopping it where it still runs.
func (s *Server) Restart() {
	s.t.Helper()
	if s.running() {
		s.Stop()
	}
	if err := s.run(); err != nil {
		s.t.Fatalf("redistest: restart: %v\n%s", err, s.log())
	}
}

// Pause stops the process (SIGSTOP): its connections stay open, nothing is
// answered, its clock runs on.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a paused server run on.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) running() bool {
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if !s.running() {
		return
	}
	err := s.proc.Process.Signal(sig)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Errorf("redistest: %v: %v", sig, err)
	}
}

func (s *Server) wait() {
	s.t.Helper()
	s.forget()
	select {
	case <-s.exited:
	case <-time.After(startWithin):
		s.t.Fatalf("redistest: redis-server %d does not end", s.Pid())
	}
}

// end is the cleanup: the server goes at once, and a failed test shows what
// it said last.
func (s *Server) end() {
	s.Kill()
	if s.t.Failed() {
		s.t.Logf("redis-server on %s said last:\n%s", s.Addr, s.log())
	}
}

func (s *Server) logFile() string { return filepath.Join(s.dir, "redis-"+strconv.Itoa(s.Port)+".log") }

// log is the end of the server's log.
func (s *Server) log() string {
	data, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-6):], "\n")
}
