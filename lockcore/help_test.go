package lockcore

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// onServer returns a Locker on a real server, through a client with go-redis's
// own settings.
func onServer(t testing.TB, addr string, opts ...Option) *Locker {
	t.Helper()
	l, err := New(clientOf(t, addr), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func clientOf(t testing.TB, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// take acquires, or fails the test.
func take(t testing.TB, l *Locker, name string, opts ...Option) *Lease {
	t.Helper()
	lease, err := l.TryAcquire(t.Context(), name, opts...)
	if err != nil {
		t.Fatalf("TryAcquire %s: %v", name, err)
	}
	return lease
}

// release releases, or fails the test.
func release(t testing.TB, lease *Lease) {
	t.Helper()
	if err := lease.Release(t.Context()); err != nil {
		t.Fatalf("Release %s: %v", lease.Name(), err)
	}
}

func guardOf(t testing.TB, l *Locker, resource string) *Guard {
	t.Helper()
	g, err := l.Guard(resource)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// wantErr fails the test unless err matches all of these.
func wantErr(t testing.TB, what string, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Errorf("%s: got %v, want %v", what, err, target)
		}
	}
}

// until waits for a condition, which must come true within the time.
func until(t testing.TB, what string, within time.Duration, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(time.Millisecond)
	}
}

// sendCall runs a call on a real server, as raw as it is.
func sendCall(t testing.TB, s *redistest.Server, c wire.Call) any {
	t.Helper()
	argv := c.Argv()
	args := make([]any, len(argv))
	for i, a := range argv {
		args[i] = a
	}
	return s.Do(args...)
}

func keysOf(t testing.TB, name string) wire.Keys {
	t.Helper()
	k, err := wire.NewKeys(wire.DefaultPrefix, name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// events collects what an observer is told.
type events struct {
	mu  sync.Mutex
	all []Event
}

func (e *events) option() Option { return WithObserver(e.add) }

func (e *events) add(event Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

func (e *events) kinds() (kinds []EventKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.all {
		kinds = append(kinds, event.Kind)
	}
	return kinds
}

// of returns the events of a kind.
func (e *events) of(kind EventKind) (found []Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.all {
		if event.Kind == kind {
			found = append(found, event)
		}
	}
	return found
}

func (e *events) has(kind EventKind) bool { return slices.Contains(e.kinds(), kind) }

// soon is a context that ends after d.
func soon(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestMain keeps go-redis from writing to the terminal what these tests do to it.
func TestMain(m *testing.M) {
	logging.Disable()
	os.Exit(m.Run())
}

func clientInDB(t testing.TB, addr string, db int) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, DisableIdentity: true, DB: db})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
