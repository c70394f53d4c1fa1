package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/wire"
)

// Crash takes panics from wherever the program runs code of its own, so that
// the terminal is put back before anything is said. Only the first one counts.
// It is safe for concurrent use.
type Crash struct {
	// Dir is where the trace is written; "" for the system's temporary directory.
	Dir string
	// Redact removes secrets from a text. nil: nothing is known to be secret.
	Redact func(string) string

	mu    sync.Mutex
	first *CrashError
	stop  func()
}

// CrashError says that the program had a fault, and where its trace lies.
type CrashError struct {
	Trace string // the file; "" where none could be written
	Err   error  // why not
	Value string // what the panic said, safe to print
}

func (e *CrashError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("internal fault: %s (no trace was written: %v)", e.Value, e.Err)
	}
	return fmt.Sprintf("internal fault: %s; the trace is in %s", e.Value, e.Trace)
}

func (e *CrashError) Unwrap() error { return e.Err }

// Report takes a panic and stops the console.
func (c *Crash) Report(value any, stack []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		text := wire.Clean(c.redact(fmt.Sprint(value)))
		c.first = &CrashError{Value: text}
		c.first.Trace, c.first.Err = c.write(text, c.redact(string(stack)))
	}
	if c.stop != nil {
		c.stop()
	}
}

func (c *Crash) redact(s string) string {
	if c.Redact == nil {
		return s
	}
	return c.Redact(s)
}

// write puts the trace into a file that only its owner can read. The stack has
// no values in it but the panic's own.
func (c *Crash) write(value, stack string) (string, error) {
	dir := c.Dir
	if dir == "" {
		dir = os.TempDir()
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	now := time.Now().UTC()
	name := filepath.Join(dir, fmt.Sprintf("crash-%s-%d.txt", now.Format("20060102T150405Z"), os.Getpid()))
	text := fmt.Sprintf("fencepost: internal fault\ntime: %s\ngo: %s %s/%s\npanic: %s\n\n%s\n",
		now.Format(time.RFC3339), runtime.Version(), runtime.GOOS, runtime.GOARCH, value, strings.TrimSpace(stack))
	return name, os.WriteFile(name, []byte(text), 0o600)
}

// onStop sets what stops the console, and calls it when it is too late already.
func (c *Crash) onStop(stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = stop
	if c.first != nil {
		stop()
	}
}

// Err is the first fault, nil where there was none.
func (c *Crash) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		return nil // not a nil *CrashError in an error
	}
	return c.first
}

// catch is deferred around code that may panic.
func (c *Crash) catch() {
	if v := recover(); v != nil {
		c.Report(v, debug.Stack())
	}
}

// guard makes a panic in a command a fault of the console.
//
// v1: Bubble Tea prints a command's panic into the alternate screen, where it
// is lost when the screen is put back. The commands of a batch run each for
// itself, so each is guarded.
func (c *Crash) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer c.catch()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = c.guard(batch[i])
			}
		}
		return msg
	}
}
