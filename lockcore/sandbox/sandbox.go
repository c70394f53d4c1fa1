// Package sandbox is a Redis inside the program, with a dozen demo holders that
// take, renew, wait for, hand over and lose locks as real libraries do. A
// newcomer sees every kind of lock at once and may release any of them without
// harm. Nothing here is kept: it ends with the process.
//
// The server is miniredis in real time, and a thin layer that answers what an
// interactive redis-cli and this program ask besides (see shim.go). Its TTLs
// cost time in proportion to the number of keys that have one, so a sandbox is
// for a thousand of them at most.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"

	"github.com/alicebob/miniredis/v2"
)

// ErrNotLoopback says that a sandbox was to listen where others could reach it.
// It has no password, and runs any script that it is sent.
var ErrNotLoopback = errors.New("sandbox: it has no password, so it listens on loopback addresses only (127.0.0.1:6399)")

// Options says how a sandbox starts. The zero Options make one with demo
// holders that can be reached by Dial alone.
type Options struct {
	// Listen is a loopback address for other programs, "127.0.0.1:6399"; port 0
	// picks a free one. "" opens no port.
	Listen string
	// Seed makes the demo holders' ids; the same seed makes the same ids.
	Seed uint64
	// Empty starts without demo holders.
	Empty bool
	// Crash is told of a panic in a demo holder. nil: the panic takes its course.
	Crash func(value any, stack []byte)
}

// Sandbox is a running server. Close ends it and everything in it.
type Sandbox struct {
	m      *miniredis.Miniredis
	shim   *shim
	opts   Options
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	begun  sync.WaitGroup // actors that have not tried yet
	demos  []Demo
}

// Start starts a sandbox; it also ends when ctx does.
func Start(ctx context.Context, opts Options) (*Sandbox, error) {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if opts.Listen != "" {
		if err := listen(m, opts.Listen); err != nil {
			return nil, err
		}
	} else if err := startWithoutPort(m); err != nil {
		return nil, err
	}
	s := &Sandbox{m: m, opts: opts, shim: newShim(m)}
	m.Server().SetPreHook(s.shim.hook)
	s.ctx, s.cancel = context.WithCancel(ctx)
	if !opts.Empty {
		if err := s.populate(); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

func listen(m *miniredis.Miniredis, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("sandbox: --listen needs HOST:PORT: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return ErrNotLoopback
	}
	if err := m.StartAddr(addr); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// startWithoutPort makes the server that Dial reaches; miniredis does that at
// the first Dial.
func startWithoutPort(m *miniredis.Miniredis) error {
	c, err := m.Dial()
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return c.Close()
}

// Addr is the address that the sandbox listens on, "" where it has no port.
func (s *Sandbox) Addr() string {
	if s.opts.Listen == "" {
		return ""
	}
	return s.m.Addr()
}

// Dial connects inside the process: no port is involved. Its form is that of a
// go-redis Dialer; network and address are ignored.
func (s *Sandbox) Dial(_ context.Context, _, _ string) (net.Conn, error) {
	conn, err := s.m.Dial()
	if err != nil {
		return nil, err
	}
	return newRoomy(conn), nil
}

// Close stops the demo holders and the server, and waits for both.
func (s *Sandbox) Close() {
	s.cancel()
	s.wg.Wait()
	s.m.Close()
}

// spawn runs f beside the others until the sandbox ends.
func (s *Sandbox) spawn(f func()) {
	s.wg.Go(func() {
		defer func() {
			if s.opts.Crash == nil {
				return
			}
			if v := recover(); v != nil {
				s.opts.Crash(v, debug.Stack())
			}
		}()
		f()
	})
}
