package inspect

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"fencepost/lockcore/redistest"
)

// TestMain keeps go-redis from writing to the terminal what these tests do to it.
// Most of them wait for a server of their own, so more run at once than there
// are cores.
func TestMain(m *testing.M) {
	logging.Disable()
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		_ = flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0)))) // a number is fine
	}
	os.Exit(m.Run())
}

// atOnce is how many parallel tests run beside each other.
const atOnce = 8

// watching is a Follower under test, with all events that it has told so far.
type watching struct {
	t      *testing.T
	f      *Follower
	events []Event
	limit  time.Duration // of every wait, where it is more than a minute
}

func follow(t *testing.T, n Node, q Query, opt FollowOptions) *watching {
	t.Helper()
	f := New(n).Follow(t.Context(), q, opt)
	t.Cleanup(f.Stop)
	return &watching{t: t, f: f}
}

// until waits for a condition on the view.
func (w *watching) until(what string, cond func(v *View) bool) *View {
	w.t.Helper()
	limit := time.After(max(w.limit, time.Minute))
	for {
		v := w.f.View()
		events, _ := w.f.Drain()
		w.events = append(w.events, events...)
		if cond(v) {
			return v
		}
		select {
		case <-w.f.Changed():
		case <-limit:
			w.t.Fatalf("waited in vain until %s\nrows %v\nnodes %+v\nevents\n%s", what, rowKeys(v), v.Nodes, eventLines(w.events))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// event waits for an event of this kind on this key ("" for the feed), and
// forgets those before it.
func (w *watching) event(kind EventKind, key string) Event {
	w.t.Helper()
	var found Event
	w.until(fmt.Sprintf("%s of %q is told", kind, key), func(*View) bool {
		i := slices.IndexFunc(w.events, func(e Event) bool { return e.Kind == kind && string(e.Key) == key })
		if i < 0 {
			return false
		}
		found = w.events[i]
		w.events = w.events[i+1:]
		return true
	})
	return found
}

// settled waits until the first pass is through and the source is the one.
func (w *watching) settled(s Source) *View {
	w.t.Helper()
	w.until("the first pass is through, "+string(s), func(v *View) bool {
		n := v.Nodes[0]
		return n.Reach == Live && n.Coverage.Complete && !n.Scanning && n.Source == s && w.idle()
	})
	return w.f.View()
}

// idle reports whether every tracker has done what it was to do.
func (w *watching) idle() bool {
	done := make(chan bool, len(w.f.nodes))
	for _, t := range w.f.nodes {
		t.tell(func(t *tracker) {
			done <- len(t.read.marks) == 0 && t.read.job == nil && !t.feeds.arming && !t.feeds.lacking
		})
	}
	for range w.f.nodes {
		if !<-done {
			return false
		}
	}
	return true
}

func rowKeys(v *View) []string {
	var keys []string
	for _, r := range v.Rows {
		keys = append(keys, r.RowID())
	}
	slices.Sort(keys)
	return keys
}

func eventLines(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %s holder=%q previous=%q ttl=%d was=%d by %s inferred=%v %s\n",
			e.Kind, e.Key, e.Holder.ID, e.Previous.ID, e.TTL, e.PrevTTL, e.Source, e.Inferred, e.Note)
	}
	return b.String()
}

// row is the lock at a key; nil if there is none.
func (w *watching) row(key string) *Watched {
	for _, r := range w.f.View().Rows {
		if string(r.Key) == key {
			return r
		}
	}
	return nil
}

func release(s *redistest.Server, key string) { s.Do("DEL", key) }

var withoutTelling = []Source{ByTracking, ByNotification}

func TestFollowShowsWhatIsThereAndWhatComes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		source  Source
		args    []string
		without []Source
	}{
		{"tracking", ByTracking, nil, nil},
		{"tracking and notifications", ByTracking, []string{"--notify-keyspace-events", "KEA"}, nil},
		{"notification", ByNotification, []string{"--notify-keyspace-events", "KEA"}, []Source{ByTracking}},
		{"poll", ByPolling, nil, withoutTelling},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			redisson(s, "lock:old", holderA, 60_000)
			w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: c.without, Snapshot: true})
			w.settled(c.source)
			if e := w.event(WasThere, "lock:old"); e.Holder.ID != holderA {
				t.Errorf("%+v", e)
			}
			redisson(s, "lock:new", holderB, 60_000)
			e := w.event(WasAcquired, "lock:new")
			if e.Holder.ID != holderB || e.TTL < 55_000 {
				t.Errorf("%+v", e)
			}
			s.Do("PEXPIRE", "lock:new", 90_000)
			if e = w.event(WasRenewed, "lock:new"); e.TTL < 85_000 || e.PrevTTL > 60_000 || e.PrevTTL < 50_000 || e.Inferred {
				t.Errorf("%+v", e)
			}
			release(s, "lock:new")
			if e = w.event(WasReleased, "lock:new"); e.Previous.ID != holderB || e.Inferred != (c.args == nil) {
				t.Errorf("%+v", e)
			}
			if got := rowKeys(w.f.View()); !slices.Equal(got, []string{"0/lock:old"}) {
				t.Errorf("rows %v", got)
			}
		})
	}
}
