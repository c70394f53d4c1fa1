// Package tui is the console: what stands on the screen, what a key does, and
// how both follow the server. It is flat, a file for each screen.
//
// Facts flow one way: the server, lockcore/inspect, a message, the model, the
// eye. A key takes the way back: an action's id, a screen, a command, a plan
// that was shown, one script, an outcome. Update does no I/O, View reads no
// clock, and a command never touches the model.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
)

// SignalError says that a signal ended the console (ctrl+c counts as SIGINT).
// By convention a program then exits with 128 and the signal's number.
type SignalError struct{ Signal syscall.Signal }

func (e SignalError) Error() string { return "ended by " + e.Signal.String() }

// Run shows the console until the operator leaves it. It returns nil then, a
// SignalError after a signal and a *CrashError after a fault in the program; in
// every case the terminal is as it was before.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the commands that still run, and what follows the locks
	return newConsole(ctx, o).run()
}

// console is a program that is set up, and what takes its faults.
type console struct {
	ctx       context.Context
	program   *tea.Program
	crash     *Crash
	following *following
	acts      *inFlight
}

func newConsole(ctx context.Context, o Options) *console {
	if o.Crash == nil {
		o.Crash = &Crash{}
	}
	out := &screen{out: o.Out}
	fw, acts := follow(ctx, &o), &inFlight{}
	p := tea.NewProgram(newRoot(ctx, o, fw, outlet{out.copy, out.ring, acts}), programOptions(o, out)...)
	o.Crash.onStop(p.Kill)
	return &console{ctx, p, o.Crash, fw, acts}
}

func (c *console) run() error {
	defer c.acts.settle(actsEnd) // by then a signal ends the program, as it does any other
	stop, got := watchSignals(c.program)
	defer stop()
	defer c.following.stop()
	_, err := c.program.Run()
	return ending(c.crash, got(), c.ctx.Err(), err)
}

// programOptions are how Bubble Tea is set up. Signals are ours: it would leave
// the alternate screen on at SIGHUP and hide SIGTERM in a successful exit.
// Panics are ours too, but one in its own code is left to it.
func programOptions(o Options, out *screen) []tea.ProgramOption {
	return []tea.ProgramOption{
		tea.WithInput(limitPastes(o.In)), tea.WithOutput(out.writer()), tea.WithAltScreen(), tea.WithoutSignalHandler(),
	}
}

// watchSignals kills the program at the first signal that asks it to end; got
// returns that signal, 0 when there was none.
func watchSignals(p *tea.Program) (stop func(), got func() syscall.Signal) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	var mu sync.Mutex
	var first syscall.Signal
	done := make(chan struct{})
	go func() {
		select {
		case s := <-ch:
			mu.Lock()
			first, _ = s.(syscall.Signal)
			mu.Unlock()
			p.Kill()
		case <-done:
		}
	}()
	stop = func() { signal.Stop(ch); close(done) }
	got = func() syscall.Signal { mu.Lock(); defer mu.Unlock(); return first }
	return stop, got
}

// ending says why the program ended: a fault before a signal before an error.
func ending(c *Crash, s syscall.Signal, cancelled, err error) error {
	switch {
	case c.Err() != nil:
		return c.Err()
	case s != 0:
		return SignalError{s}
	case errors.Is(err, tea.ErrInterrupted):
		return SignalError{syscall.SIGINT}
	case cancelled != nil:
		return cancelled
	case err != nil:
		return fmt.Errorf("console: %w", err)
	}
	return nil
}

// screen is the terminal's output. Frames and clipboard sequences are written
// by different goroutines, each with one Write, and must not mix.
type screen struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}

// terminal is a screen that is a terminal: Bubble Tea looks for its file
// descriptor to set it up.
type terminal struct {
	*os.File
	s *screen
}

func (t terminal) Write(b []byte) (int, error) { return t.s.Write(b) }

func (s *screen) writer() io.Writer {
	if f, ok := s.out.(*os.File); ok {
		return terminal{f, s}
	}
	return s
}
