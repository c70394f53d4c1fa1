package libraries

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// missing skips a test for want of something; FENCEPOST_LIBRARIES=required
// makes that a failure, so that a run cannot pass by testing nothing.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("FENCEPOST_LIBRARIES") == "required" {
		t.Fatalf("%s, and FENCEPOST_LIBRARIES=required", what)
	}
	t.Skipf("SKIPPED: %s (FENCEPOST_LIBRARIES=required makes this a failure)", what)
}

// drivers is a copy of ../npm with its packages installed: nothing is ever
// installed inside the repository.
var drivers = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(program), "npm")
	if err := os.CopyFS(dir, os.DirFS("../npm")); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, nil
})

// event is one line that a driver printed, and when it was read.
type event struct {
	Event string `json:"event"`
	ID    string `json:"id"`
	Job   string `json:"job"`
	Error string `json:"error"`

	at time.Time
}

// driver is a Node process that takes a lock with a library of that world.
type driver struct {
	t      testing.TB
	stdin  io.WriteCloser
	events chan event
	errs   *bytes.Buffer // to be read after exited
	exited chan int      // its exit code
}

// drive starts ../npm/script on a server, with these settings.
func drive(t testing.TB, s *redistest.Server, script string, settings map[string]any) *driver {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, "no "+tool+" on PATH")
		}
	}
	dir, err := drivers()
	if err != nil {
		missing(t, err.Error())
	}
	arg, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script, strconv.Itoa(s.Port), string(arg))
	cmd.Dir = dir
	d := &driver{t: t, events: make(chan event, 1000), errs: new(bytes.Buffer), exited: make(chan int, 1)}
	cmd.Stderr = d.errs
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if d.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go d.read(stdout, cmd)
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended by itself
	return d
}

// read passes the process's events on until it ends.
func (d *driver) read(stdout io.Reader, cmd *exec.Cmd) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		e := event{at: time.Now()}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			e.Event, e.Error = "not JSON", lines.Text()
		}
		d.events <- e
	}
	_ = cmd.Wait() // the code says how it ended
	d.exited <- cmd.ProcessState.ExitCode()
	close(d.events)
}

// says sends the process a word.
func (d *driver) says(word string) {
	d.t.Helper()
	if _, err := io.WriteString(d.stdin, word+"\n"); err != nil {
		d.t.Fatal(err)
	}
}

// next is the next event, which must be of this kind.
func (d *driver) next(kind string) event {
	d.t.Helper()
	e := within(d.t, 20*time.Second, "waiting for "+kind, d.events)
	if e.Event != kind {
		d.t.Fatalf("the library says %+v, want %s\n%s", e, kind, d.ended(e))
	}
	return e
}

// until is the next event of this kind, whatever comes before it.
func (d *driver) until(kind string) event {
	d.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		e := within(d.t, 20*time.Second, "waiting for "+kind, d.events)
		if e.Event == kind {
			return e
		}
		if e.Event == "" {
			d.t.Fatalf("the process ended before %s\n%s", kind, d.ended(e))
		}
	}
	d.t.Fatalf("no %s", kind)
	return event{}
}

// ended is what the process said last, if the event is that of a closed channel.
func (d *driver) ended(e event) string {
	if e.Event != "" {
		return ""
	}
	return d.errs.String()
}

// silent checks that the process said nothing more so far, and lives.
func (d *driver) silent() {
	d.t.Helper()
	select {
	case e := <-d.events:
		d.t.Fatalf("the library says %+v, want nothing\n%s", e, d.ended(e))
	default:
	}
}
