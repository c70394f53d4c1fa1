package lockcore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// holderProcess is another process that holds a lock: this test's own binary,
// run as TestHolderProcess.
type holderProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	pass Pass
}

func startHolder(t *testing.T, addr string, ttl time.Duration) *holderProcess {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHolderProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "LOCKCORE_HOLDER="+addr, "LOCKCORE_TTL="+ttl.String())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &holderProcess{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	var fence uint64
	if _, err := fmt.Sscan(p.read("held"), &fence, &p.pass.Token); err != nil {
		t.Fatal(err)
	}
	p.pass.Fence = Fence{fence}
	return p
}

// read returns what the process says after this word.
func (p *holderProcess) read(word string) string {
	p.t.Helper()
	for p.out.Scan() {
		if rest, ok := strings.CutPrefix(p.out.Text(), word+" "); ok {
			return rest
		}
	}
	p.t.Fatalf("the process ended without %q", word)
	return ""
}

// TestHolderProcess is the other process. It holds the lock, and writes when it
// is told to, without looking whether it still has it.
func TestHolderProcess(t *testing.T) {
	addr := os.Getenv("LOCKCORE_HOLDER")
	if addr == "" {
		t.Skip("only as another process")
	}
	ttl, err := time.ParseDuration(os.Getenv("LOCKCORE_TTL"))
	if err != nil {
		t.Fatal(err)
	}
	l := onServer(t, addr, WithTTL(ttl))
	g := guardOf(t, l, "r")
	lease := take(t, l, "a")
	fmt.Println("held", lease.Fence(), lease.Pass().Token)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Printf("wrote %v\n", g.Set(context.Background(), lease, []byte("late")))
		fmt.Printf("lease %v\n", lease.Err())
		fmt.Printf("cause %v\n", context.Cause(lease.Context()))
	}
}

// A whole process stands still for longer than its lease: no timer runs, nothing
// renews. When it goes on, in the middle of a write, the guard refuses it.
func TestH47_AProcessStandsStill(t *testing.T) {
	s := redistest.Start(t)
	const ttl = 300 * time.Millisecond
	p := startHolder(t, s.Addr, ttl)
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	l := onServer(t, s.Addr)
	g := guardOf(t, l, "r")
	began := time.Now()
	lease, err := l.Acquire(soon(t, 5*time.Second), "a", Entering(g))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*ttl {
		t.Errorf("the lock of a process that stands still was free after %v", took)
	}
	time.Sleep(ttl)
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(p.in, "write\n")
	if got := p.read("wrote"); !strings.Contains(got, "stale fence") {
		t.Errorf("the late write: %s", got)
	}
	if got := p.read("lease"); !strings.Contains(got, "lease lost") {
		t.Errorf("its lease: %s", got)
	}
	if got := p.read("cause"); !strings.Contains(got, "lease lost") {
		t.Errorf("its context: %s", got)
	}
	if err := lease.Err(); err != nil {
		t.Errorf("the new holder: %v", err)
	}
	if v, _ := s.Do("get", "r").(string); v == "late" {
		t.Error("the late write passed")
	}
	release(t, lease)
}

// A holder is killed: the next one waits for the TTL, no longer.
func TestAProcessIsKilled(t *testing.T) {
	s := redistest.Start(t)
	const ttl = 500 * time.Millisecond
	for _, opts := range [][]Option{nil, {WithFair()}} {
		p := startHolder(t, s.Addr, ttl)
		l := onServer(t, s.Addr)
		w := wait(t.Context(), l, "a", opts...)
		time.Sleep(2 * ttl) // it is renewed
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		w.within(t, 5*time.Second)
		if took := w.at.Sub(killed); took > ttl+200*time.Millisecond {
			t.Errorf("after %v", took)
		}
		if w.lease.Fence().Compare(p.pass.Fence) <= 0 {
			t.Errorf("fence %v after %v", w.lease.Fence(), p.pass.Fence)
		}
		release(t, w.lease)
	}
}
