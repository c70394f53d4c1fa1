package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
)

// watched is a running watch, and what it has printed so far.
type watched struct {
	t     *testing.T
	stop  context.CancelFunc
	ended chan int
	errs  *syncBuilder

	mu    sync.Mutex
	lines []string
}

type syncBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func watch(t *testing.T, env map[string]string, args ...string) *watched {
	t.Helper()
	r, out := io.Pipe()
	w := &watched{t: t, ended: make(chan int, 1), errs: &syncBuilder{}}
	inv := &invocation{env: func(k string) string { return env[k] }, in: strings.NewReader(""), out: out, err: w.errs}
	if code, done := inv.parse(append([]string{"watch"}, args...)); done {
		t.Fatalf("exit %d: %s", code, w.errs)
	}
	var ctx context.Context
	ctx, w.stop = context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		w.ended <- inv.verb.run(ctx, inv)
		_ = out.Close()
	})
	all.Go(func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			w.mu.Lock()
			w.lines = append(w.lines, s.Text())
			w.mu.Unlock()
		}
	})
	t.Cleanup(func() { w.stop(); all.Wait() })
	return w
}

// until waits for a line and forgets those before it.
func (w *watched) until(what string, match func(line string) bool) string {
	w.t.Helper()
	for limit := time.Now().Add(60 * time.Second); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		w.mu.Lock()
		i := slices.IndexFunc(w.lines, match)
		if i >= 0 {
			line := w.lines[i]
			w.lines = w.lines[i+1:]
			w.mu.Unlock()
			return line
		}
		w.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Fatalf("waited in vain for %s in\n%s\nand on standard error\n%s", what, strings.Join(w.lines, "\n"), w.errs)
	return ""
}

// event waits for an event of a kind on a key, as JSON.
func (w *watched) event(kind inspect.EventKind, key string) eventDoc {
	w.t.Helper()
	var doc eventDoc
	w.until(fmt.Sprintf("%s of %q", kind, key), func(line string) bool {
		doc = eventDoc{}
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			w.t.Errorf("no JSON: %s", line)
		}
		return doc.Kind == string(kind) && (doc.Key == nil && key == "" || doc.Key != nil && *doc.Key == key)
	})
	if doc.Schema != "fencepost/event/1" || doc.At == "" || doc.Source == "" {
		w.t.Errorf("%+v", doc)
	}
	return doc
}

// followedBy waits until standard error says how the server is followed.
func (w *watched) followedBy(words string) {
	w.t.Helper()
	for limit := time.Now().Add(15 * time.Second); !strings.Contains(w.errs.String(), words); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			w.t.Fatalf("standard error does not say %q:\n%s", words, w.errs)
		}
	}
}

const (
	watchA = "5f3b1e62-9df1-4c5e-8a35-0d1e2f3a4b5c"
	watchB = "0b1c2d3e-4f50-4a6b-9c7d-8e9fa0b1c2d3"
)

// watchSources are servers, and users on them, that allow one source each.
var watchSources = []struct {
	name, words, source string
	args                []string
	user                []string // rules for the user that watches
	told                bool
}{
	{"tracking", "by tracking", "tracking", nil, nil, false},
	{"notification", "by notifications", "notification", []string{"--notify-keyspace-events", "KEA"}, []string{"-client|tracking"}, true},
	{"poll", "by polling", "poll", nil, []string{"-client|tracking", "-config"}, false},
}

// Every kind of event comes out of watch --json from each source that can see it.
func TestWatchTellsEveryKind(t *testing.T) {
	for _, c := range watchSources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}, c.args...)
			args = append(append(args, "--user", "eye", "on", ">pw", "~*", "&*", "+@all"), c.user...)
			s := redistest.Start(t, args...)
			s.Do("SET", "lock:there", watchA, "PX", 600_000)
			w := watch(t, map[string]string{"REDISCLI_AUTH": "pw"}, "-p", fmt.Sprint(s.Port), "--user", "eye", "--json")
			if e := w.event(inspect.WasThere, "lock:there"); *e.Holder != watchA || e.TTLMS == nil || *e.RowID != "0/lock:there" {
				t.Errorf("%+v", e)
			}
			w.followedBy(c.words)
			expect := func(kind inspect.EventKind, key string, inferred bool) eventDoc {
				t.Helper()
				e := w.event(kind, key)
				if e.Inferred != inferred || e.Source != c.source {
					t.Errorf("%s of %s by %s, inferred %v", kind, key, e.Source, e.Inferred)
				}
				return e
			}
			s.Do("SET", "lock:a", watchA, "PX", 60_000)
			expect(inspect.WasAcquired, "lock:a", false)
			s.Do("PEXPIRE", "lock:a", 90_000)
			if e := expect(inspect.WasRenewed, "lock:a", false); *e.TTLMS < 85_000 || *e.PrevTTLMS > 60_000 {
				t.Errorf("%+v", e)
			}
			over := inspect.HandedOver
			if c.told {
				over = inspect.Overwritten
			}
			s.Do("GETSET", "lock:a", watchB)
			if e := expect(over, "lock:a", false); *e.Previous != watchA || *e.Holder != watchB {
				t.Errorf("%+v", e)
			}
			if e := expect(inspect.LostExpiry, "lock:a", false); e.TTLMS != nil || e.PrevTTLMS == nil {
				t.Errorf("%+v", e)
			}
			s.Do("DEL", "lock:a")
			expect(inspect.WasReleased, "lock:a", !c.told)
			s.Do("SET", "lock:a", watchB, "PX", 1500)
			expect(inspect.WasAcquired, "lock:a", false)
			expect(inspect.WasExpired, "lock:a", !c.told)
			s.Do("CONFIG", "SET", "maxmemory", "1")
			s.Try("SET", "filler", "x")
			gone := inspect.WentAway
			if c.told {
				gone = inspect.WasEvicted
			}
			expect(gone, "lock:there", false)
			s.Do("CONFIG", "SET", "maxmemory", "100mb")
			s.Do("SET", "lock:f", watchA, "PX", 60_000)
			expect(inspect.WasAcquired, "lock:f", false)
			s.Do("FLUSHALL")
			w.event(inspect.WasFlushed, "lock:f")
			s.Do("SET", "lock:r", watchA, "PX", 60_000)
			expect(inspect.WasAcquired, "lock:r", false)
			r := run(t, nil, "release", "lock:r", "-p", fmt.Sprint(s.Port), "--if-holder", watchA, "--reason", "test", "--yes", "--audit", "-")
			if r.code != exitOK {
				t.Fatalf("release: %+v", r)
			}
			if c.source == "poll" { // it was another process, and nobody tells
				expect(inspect.WasReleased, "lock:r", true)
			} else {
				expect(inspect.ForceReleased, "lock:r", false)
			}
			s.Do("HSET", "lock:o", threadA, 1)
			expect(inspect.WasAcquired, "lock:o", false)
			r = run(t, nil, "hold", "lock:o", "1m", "-p", fmt.Sprint(s.Port), "--if-holder", threadA, "--reason", "test", "--yes", "--audit", "-")
			if r.code != exitOK {
				t.Fatalf("hold: %+v", r)
			}
			if e := expect(inspect.OperatorHolds, "lock:o", false); *e.Previous != threadA || *e.Holder == threadA {
				t.Errorf("%+v", e)
			}
			s.Pause()
			w.followedBy("no answer")
			time.Sleep(1500 * time.Millisecond)
			s.Resume()
			if c.source == "poll" { // nobody looked meanwhile
				w.event(inspect.FeedGap, "")
			}
			s.Do("CLIENT", "PAUSE", 300, "ALL")
			s.Do("SET", "lock:p", watchA, "PX", 60_000)
			expect(inspect.WasAcquired, "lock:p", false)
			s.Do("CLIENT", "KILL", "TYPE", "normal")
			s.Do("CLIENT", "KILL", "TYPE", "pubsub")
			if c.source != "poll" {
				if e := w.event(inspect.FeedGap, ""); e.Note == nil || !e.Inferred {
					t.Errorf("%+v", e)
				}
			}
			s.Do("SET", "lock:p", watchB, "PX", 60_000)
			w.until("lock:p of another holder", func(line string) bool { return strings.Contains(line, `"lock:p"`) && strings.Contains(line, watchB) })
			if c.name == "notification" {
				s.Do("CONFIG", "SET", "notify-keyspace-events", "")
				if e := w.event(inspect.SourceChanged, ""); e.Source != "poll" || e.Note == nil {
					t.Errorf("%+v", e)
				}
				return
			}
			s.Stop()
			w.followedBy("lost for")
			s.Restart()
			w.event(inspect.FeedGap, "")
		})
	}
}

func TestWatchForPeople(t *testing.T) {
	s := redistest.Start(t)
	s.Do("SET", "lock:there", watchA, "PX", 600_000)
	w := watch(t, nil, "-p", fmt.Sprint(s.Port))
	has := func(words ...string) string {
		t.Helper()
		return w.until(strings.Join(words, " "), func(line string) bool {
			return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
		})
	}
	has("there", "lock:there", "by "+watchA, "for 10 min")
	w.followedBy("by tracking")
	s.Do("SET", "lock:\x1b[31mred", watchB, "PX", 59_500)
	has("acquired", `lock:\x1b[31mred`, "by "+watchB, "for 5")
	s.Do("PERSIST", "lock:there")
	has("lost expiry", "lock:there", "no expiry, 9 min 5", "were left")
	s.Do("DEL", "lock:there")
	has("released", "lock:there", "of "+watchA, "(inferred)")
	w.stop()
	select {
	case code := <-w.ended:
		if code != exitOK {
			t.Errorf("exit %d", code)
		}
	case <-time.After(time.Second):
		t.Error("it does not end within a second")
	}
}

func TestWatchNeedsAServer(t *testing.T) {
	run(t, nil, "watch").has(t, "no target", exitUsage, "watch needs a server")
	run(t, nil, "watch", "-p", "1", "--no-expiry").has(t, "not its flag", exitUsage)
	run(t, nil, "watch", "-p", "1").has(t, "nobody there", exitError)
}

// A read-only target, and one with a password, are followed with the same login
// and the same gate.
func TestWatchReadOnlyWithAPassword(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "secret")
	w := watch(t, map[string]string{"REDISCLI_AUTH": "secret"}, "-p", fmt.Sprint(s.Port), "--read-only", "--json")
	w.followedBy("by tracking")
	s.Do("SET", "lock:a", watchA, "PX", 60_000)
	w.event(inspect.WasAcquired, "lock:a")
	if strings.Contains(w.errs.String(), "secret") {
		t.Error("the password is printed")
	}
}
