package inspect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// takeMany makes n string locks that nobody touches.
func takeMany(t *testing.T, s *redistest.Server, n int, prefix string) {
	t.Helper()
	c := s.Client()
	for from := 0; from < n; from += 1000 {
		_, err := c.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for i := from; i < min(n, from+1000); i++ {
				p.Set(t.Context(), fmt.Sprintf("%s%d", prefix, i), fmt.Sprintf("5f3b1e62-9df1-4c5e-8a35-%012d", i), time.Hour)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// commands is how many commands the server has run, but for those by which the
// test looks at it.
func commands(s *redistest.Server) int {
	stats, _ := s.Do("INFO", "commandstats").(string)
	total := 0
	for line := range strings.Lines(stats) {
		name, rest, ok := strings.Cut(line, ":calls=")
		if !ok || name == "cmdstat_info" {
			continue
		}
		n, _, _ := strings.Cut(rest, ",")
		var calls int
		if _, err := fmt.Sscan(n, &calls); err != nil {
			panic(err) // INFO counts calls in numbers
		}
		total += calls
	}
	return total
}

// counted has a node count the round trips of all clients that are made of it.
func counted(n Node, trips *atomic.Int64) Node {
	c := n.Client
	n.Another = func(change func(*redis.Options)) *redis.Client {
		o := *c.Options()
		change(&o)
		own := redis.NewClient(&o)
		own.AddHook(tripHook{trips})
		return own
	}
	return n
}

type tripHook struct{ n *atomic.Int64 }

func (h tripHook) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h tripHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { h.n.Add(1); return next(ctx, cmd) }
}
func (h tripHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { h.n.Add(1); return next(ctx, cmds) }
}

// An idle console costs a server next to nothing: with 1,000 locks that nobody
// touches at most 2 commands a second while the server tells of changes, else at
// most 20 round trips.
func TestIdleCost(t *testing.T) {
	t.Parallel()
	watch := time.Duration(redistest.Rounds(6, 60)) * time.Second
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			takeMany(t, s, 1000, "lock:")
			var trips atomic.Int64
			w := follow(t, counted(nodeOf(s), &trips), Query{}, FollowOptions{Without: c.without})
			if v := w.settled(c.source); len(v.Rows) != 1000 {
				t.Fatalf("%d rows", len(v.Rows))
			}
			time.Sleep(500 * time.Millisecond)
			before, tripsBefore, began := commands(s), trips.Load(), time.Now()
			time.Sleep(watch)
			took := time.Since(began).Seconds()
			rate, tripRate := float64(commands(s)-before)/took, float64(trips.Load()-tripsBefore)/took
			t.Logf("%.2f commands and %.2f round trips a second", rate, tripRate)
			if c.source == ByPolling && tripRate > 20 || c.source != ByPolling && rate > 2 {
				t.Errorf("%.2f commands and %.2f round trips a second", rate, tripRate)
			}
		})
	}
}

// A change is on the list within 100 ms.
func TestChangeIsSeenAtOnce(t *testing.T) {
	rounds := redistest.Rounds(60, 500)
	for _, c := range sources {
		if c.source == ByPolling {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := redistest.Start(t, c.args...)
			takeMany(t, s, 200, "lock:")
			w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			var took []time.Duration
			for i := range rounds {
				key := fmt.Sprintf("lock:new:%d", i)
				began := time.Now()
				s.Do("SET", key, tokenA, "PX", 60_000)
				for w.row(key) == nil {
					select {
					case <-w.f.Changed():
					case <-time.After(5 * time.Second):
						t.Fatalf("%s is not seen", key)
					}
				}
				took = append(took, time.Since(began))
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			}
			slices.Sort(took)
			p50, p99 := took[len(took)/2], took[len(took)*99/100]
			t.Logf("p50 %v, p99 %v", p50, p99)
			if long := redistest.Rounds(0, 1) == 1; long && p99 > 100*time.Millisecond { // a busy machine is late for reasons of its own
				t.Errorf("p99 %v", p99)
			}
		})
	}
}

// Nothing is left behind, whatever the Follower was doing: no goroutine, no
// connection, and the end comes within a second.
func TestStopLeavesNothing(t *testing.T) {
	for _, c := range sources {
		for _, when := range []string{"idle", "scanning", "hung", "at once"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				s := redistest.Start(t, c.args...)
				n := nodeOf(s)
				redistest.Populate(t, s.Client(), 3000, "user", 0)
				redisson(s, "lock:a", holderA, 60_000)
				connections := clients(s)
				before := runtime.NumGoroutine()
				q := Query{}
				if when == "scanning" {
					q.Rate = 200
				}
				f := New(n).Follow(t.Context(), q, FollowOptions{Without: c.without})
				w := &watching{t: t, f: f}
				switch when {
				case "idle":
					w.settled(c.source)
				case "scanning":
					w.until("the scan is under way", func(v *View) bool { return v.Scanning && v.Coverage.Scanned > 0 })
				case "hung":
					w.settled(c.source)
					s.Pause()
					w.until("the server is late", func(v *View) bool { return v.Nodes[0].Reach != Live })
				}
				began := time.Now()
				f.Stop()
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v", took)
				}
				s.Resume()
				s.Until("the connections are gone", func() bool { return clients(s) <= connections })
				for wait := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(wait); {
					time.Sleep(10 * time.Millisecond)
				}
				if after := runtime.NumGoroutine(); after > before {
					buf := make([]byte, 1<<16)
					t.Errorf("%d goroutines are left of %d\n%s", after-before, after, buf[:runtime.Stack(buf, true)])
				}
			})
		}
	}
}

// clients is how many connections a server has.
func clients(s *redistest.Server) int {
	list, _ := s.Do("CLIENT", "LIST").(string)
	return strings.Count(list, "\n")
}

// A Follower stops at once also when the server cannot be reached at all.
func TestStopWithoutAServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := redis.NewClient(&redis.Options{Addr: l.Addr().String(), MaxRetries: -1})
	defer c.Close()
	f := New(Node{Addr: l.Addr().String(), Client: c}).Follow(t.Context(), Query{}, FollowOptions{})
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	f.Stop()
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

// Memory grows with the locks and with what happened to them, and with nothing else.
func TestMemoryOfManyLocks(t *testing.T) {
	n := redistest.Rounds(10_000, 100_000)
	s := redistest.Start(t)
	takeMany(t, s, n, "lock:")
	before := heapUsed()
	w := follow(t, nodeOf(s), Query{Rate: 0}, FollowOptions{})
	w.limit = 2 * time.Minute
	w.until("all locks are there", func(v *View) bool { return len(v.Rows) == n && !v.Scanning && w.idle() })
	each := int64(heapUsed()-before) / int64(n)
	t.Logf("%d bytes for each lock", each)
	if each > 1300 {
		t.Errorf("%d bytes for each lock: 100,000 do not fit", each)
	}
}
