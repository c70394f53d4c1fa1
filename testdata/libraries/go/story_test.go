package libraries

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"

	"github.com/redis/go-redis/v9"
)

// slack is what a busy machine may add to the time in which a library promises
// a waiter its lock. Every lock here has a TTL that is far longer, so that a
// waiter which only outlived the TTL is never taken for one that was woken.
const slack = 1500 * time.Millisecond

// want is the row that the program must show for a lock.
type want struct {
	key, resource, family, kind, typ string
	candidates                       []string // in any order, at least these; the family is unknown then
	holders                          []string // ids, in any order
	ttl                              time.Duration
	rows                             int // how many rows there are in all; 0 means 1
}

// sees checks that the program shows the lock as it is, and returns the row.
// None of these libraries leaves a trace of its waiters or a fencing token, so
// none may be shown.
func (w want) sees(t testing.TB, s *redistest.Server) row {
	t.Helper()
	r := theRow(t, s, w.key, max(w.rows, 1))
	text := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s is %q, want %q", w.key, what, got, want)
		}
	}
	text("family", r.Family, w.family)
	text("resource", r.Resource, w.resource)
	text("kind", r.Kind, w.kind)
	text("type", r.Type, w.typ)
	text("state", r.State, "held")
	if w.candidates == nil && (r.Confidence == "possible" || len(r.Candidates) > 0) {
		t.Errorf("%s: confidence is %s with candidates %v", w.key, r.Confidence, r.Candidates)
	}
	for _, c := range w.candidates {
		if !slices.Contains(r.Candidates, c) {
			t.Errorf("%s: candidates are %v, want %s among them", w.key, r.Candidates, c)
		}
	}
	var ids []string
	for _, h := range r.Holders {
		ids = append(ids, h.raw(t))
	}
	slices.Sort(ids)
	if wantIDs := slices.Sorted(slices.Values(w.holders)); !slices.Equal(ids, wantIDs) {
		t.Errorf("%s: holders are %q, want %q", w.key, ids, wantIDs)
	}
	if r.Persistent || r.TTL == nil || *r.TTL <= 0 || *r.TTL > w.ttl.Milliseconds() {
		t.Errorf("%s: ttl_ms is %v (persistent %v), want 0 < ttl <= %v", w.key, number(r.TTL), r.Persistent, w.ttl)
	}
	if r.Waiters != nil || r.Fence != nil {
		t.Errorf("%s: waiters %+v, fence %v: the library keeps neither", w.key, r.Waiters, r.Fence)
	}
	if t.Failed() {
		t.Fatalf("the row: %+v", r)
	}
	return r
}

func number(p *int64) string {
	if p == nil {
		return "null"
	}
	return strconv.FormatInt(*p, 10)
}

var commandCalls = regexp.MustCompile(`(?m)^cmdstat_(?:set|eval|evalsha|eval_ro)(?:\|\w+)?:calls=(\d+)`)

// lockCommands counts what a client sends to take a lock.
func lockCommands(s *redistest.Server) int {
	sum := 0
	for _, m := range commandCalls.FindAllStringSubmatch(s.Do("INFO", "commandstats").(string), -1) {
		n, _ := strconv.Atoi(m[1]) // the pattern lets only digits through
		sum += n
	}
	return sum
}

// whileTrying runs start, which sends a waiter off, and returns when the server
// has seen the waiter try. Nobody else may use the server meanwhile.
func whileTrying(s *redistest.Server, start func()) {
	before := lockCommands(s)
	start()
	s.Until("the waiter has tried for the lock", func() bool { return lockCommands(s) > before })
}

// removals hears when the server removes a key, or a member of one, so that the
// time a waiter needed is counted from the removal itself and not from the end
// of the program that asked for it.
type removals struct{ at chan time.Time }

func hearRemovals(t testing.TB, s *redistest.Server, key string) removals {
	t.Helper()
	s.Do("CONFIG", "SET", "notify-keyspace-events", "Kgz")
	sub := s.Client().Subscribe(context.Background(), "__keyspace@0__:"+key)
	if _, err := sub.Receive(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() }) // the server ends with the test
	r := removals{make(chan time.Time, 64)}
	go r.listen(sub.Channel())
	return r
}

func (r removals) listen(messages <-chan *redis.Message) {
	for m := range messages {
		if m.Payload == "del" || m.Payload == "unlink" || m.Payload == "zrem" {
			r.at <- time.Now()
		}
	}
}

// woken checks that a waiter which got its lock at this time got it no later
// than the library promises after the removal, and reports the time it took.
func (r removals) woken(t testing.TB, got time.Time, promised time.Duration) {
	t.Helper()
	select {
	case removed := <-r.at:
		took := got.Sub(removed)
		if took > promised+slack {
			t.Errorf("the waiter got the lock %v after the release, the library promises %v", took, promised)
		}
		t.Logf("waiter woken in %v (its library: %v)", took.Round(time.Millisecond/10), promised)
	case <-time.After(slack):
		t.Error("the server told of no removal")
	}
}

// changedHands checks that a release which still names the old holder is
// refused and leaves everything on the server as it was, but for the keys that
// the library itself rewrites meanwhile.
func changedHands(t testing.TB, s *redistest.Server, key, oldID string, rewritten ...string) {
	t.Helper()
	before := locksOf(s, rewritten...)
	release(t, s, key, oldID).ends(t, "CHANGED", 4)
	if after := locksOf(s, rewritten...); !maps.Equal(before, after) {
		t.Fatalf("a release that said CHANGED changed\n%v\nto\n%v", before, after)
	}
}

// locksOf is what the server holds, without the short-lived receipts of earlier
// releases, which may end at any moment, and without these other keys.
func locksOf(s *redistest.Server, without ...string) map[string]string {
	all := s.Dump()
	maps.DeleteFunc(all, func(key, _ string) bool {
		return strings.Contains(key, ":fencepost:receipt:") || slices.Contains(without, key)
	})
	return all
}

// gone checks that a release of what is there no more says so.
func gone(t testing.TB, s *redistest.Server, key, id string) {
	t.Helper()
	release(t, s, key, id).ends(t, "GONE", 3)
}

// within fails the test when nothing comes from a channel in time.
func within[T any](t testing.TB, d time.Duration, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(d):
		t.Fatalf("%s: nothing within %v", what, d)
		panic("unreachable")
	}
}

func mustContain(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q: %s", what, p, text)
		}
	}
}

// got is a waiter's lock, and when it came.
type got[T any] struct {
	lock T
	err  error
	at   time.Time
}

// waiting runs take on a goroutine of its own.
func waiting[T any](take func() (T, error)) <-chan got[T] {
	out := make(chan got[T], 1)
	go func() {
		lock, err := take()
		out <- got[T]{lock, err, time.Now()}
	}()
	return out
}

// theLock waits for it.
func theLock[T any](t testing.TB, from <-chan got[T]) got[T] {
	t.Helper()
	g := within(t, 10*time.Second, "the waiter", from)
	if g.err != nil {
		t.Fatal(fmt.Errorf("the waiter: %w", g.err))
	}
	return g
}
