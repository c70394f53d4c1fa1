package inspect

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// A deep pass on demand finds what no name promises, calls nothing of it new,
// and is made once: the passes after it go by name again.
func TestDeepen(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	s := redistest.Start(t)
	s.Do("HSET", "order:4711", "8743c9c0-0795-4907-87fd-6c719a6b4586:38", "1")
	s.Do("PEXPIRE", "order:4711", 600_000)
	w := follow(t, nodeOf(s), Query{Depth: ByName}, FollowOptions{})
	v := w.until("the first pass", func(v *View) bool { return v.Coverage.Complete && !v.Scanning })
	if len(v.Rows) != 0 || v.Coverage.Depth != ByName || !v.DeepAt.IsZero() {
		t.Fatalf("by name it found %d locks, with %+v", len(v.Rows), v.Coverage)
	}
	w.f.Deepen()
	v = w.until("the deep pass", func(v *View) bool { return !v.DeepAt.IsZero() })
	if len(v.Rows) != 1 || v.Coverage.Depth != Deep {
		t.Fatalf("the deep pass found %d locks, with %+v", len(v.Rows), v.Coverage)
	}
	w.f.Rescan()
	v = w.until("the next pass to go by name", func(v *View) bool { return v.Coverage.Depth == ByName })
	if len(v.Rows) != 1 {
		t.Error("the lock is forgotten when the next pass goes by name")
	}
	if slices.ContainsFunc(w.events, func(e Event) bool { return e.Kind == WasAcquired }) {
		t.Errorf("what was there all the while counts as acquired: %v", w.events)
	}
}

// A fault in a Follower's goroutine is handed on, and the Follower ends.
func TestFollowerHandsOnItsFaults(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	f := New(Node{Addr: "nowhere", Client: redis.NewClient(&redis.Options{Addr: fmt.Sprint("127.0.0.1:", redistest.FreePort(t))})}).Follow(t.Context(), Query{}, FollowOptions{
		Crash: func(v any, stack []byte) {
			got <- fmt.Sprint(v, strings.Contains(string(stack), "TestFollowerHandsOnItsFaults"))
		},
	})
	f.tell(func(*tracker) { panic("fault") })
	select {
	case said := <-got:
		if said != "faulttrue" {
			t.Errorf("it handed on %q", said)
		}
	case <-time.After(20 * time.Second):
		t.Error("the fault was hidden")
	}
	f.Stop()
}

// Why a node is lost is said in plain words.
func TestReasonsInPlainWords(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for want, err := range map[string]error{
		"connection refused: does Redis run there?": fmt.Errorf("dialing: %w", refused),
		"the connection was cut":                    io.EOF,
		"no answer in time":                         os.ErrDeadlineExceeded,
		`odd \x1b[2J`:                               fmt.Errorf("10.0.0.1:6379: %w", errors.New("odd \x1b[2J")),
	} {
		if got := reasonOf(err); got != want {
			t.Errorf("%v is said as %q, want %q", err, got, want)
		}
	}
}

// A TTL of centuries (A45: 634 years, a mistake of units) is no renewal at every
// look.
func TestA45CenturiesAreNoRenewals(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	s := redistest.Start(t)
	s.Do("SET", "report/lock:123", "GxwErhZvp2QmLvacHpVgjGjA", "EX", 19999999845)
	w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: withoutTelling, Poll: 50 * time.Millisecond})
	w.until("the lock is there", func(*View) bool { return w.row("report/lock:123") != nil })
	first := w.row("report/lock:123").SampledAt
	w.until("it was looked at some times again", func(*View) bool { return w.row("report/lock:123").SampledAt.Sub(first) > time.Second })
	if len(w.events) > 0 {
		t.Errorf("an endless lock that nobody touched has a history:\n%s", eventLines(w.events))
	}
	s.Do("PEXPIRE", "report/lock:123", 60_000)
	if e := w.event(WasRenewed, "report/lock:123"); e.TTL > 60_000 {
		t.Errorf("%+v", e)
	}
}
