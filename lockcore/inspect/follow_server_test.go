package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

func TestFollowReplica(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t)
	replica := redistest.StartReplica(t, master)
	redisson(master, "lock:a", holderA, 60_000)
	w := follow(t, nodeOf(replica), Query{}, FollowOptions{})
	v := w.settled(ByTracking)
	w.until("the lock is there", func(v *View) bool { return len(v.Rows) == 1 })
	if n := v.Nodes[0]; !n.Replica || n.MasterDown || !strings.Contains(n.Words(time.Now()), "a replica") {
		t.Errorf("%+v: %s", n, n.Words(time.Now()))
	}
	master.Do("PEXPIRE", "lock:a", 1200)
	w.event(WasRenewed, "lock:a")
	if e := w.event(WasExpired, "lock:a"); !e.Inferred {
		t.Errorf("%+v", e)
	}
}

// B06: every master of a Cluster is followed, not one of them.
func TestFollowCluster(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{servers[0].Addr}})
	t.Cleanup(func() { _ = c.Close() })
	var nodes []Node
	for _, s := range servers {
		n := nodeOf(s)
		n.Cluster = true
		nodes = append(nodes, n)
	}
	take := func(key string) {
		c.HSet(t.Context(), key, holderA, 1)
		c.PExpire(t.Context(), key, time.Minute)
	}
	for i := range 30 {
		take(fmt.Sprint("lock:", i))
	}
	f := New(nodes...).Follow(t.Context(), Query{}, FollowOptions{})
	t.Cleanup(f.Stop)
	w := &watching{t: t, f: f}
	v := w.until("all nodes are followed", func(v *View) bool {
		return len(v.Rows) == 30 && v.Coverage.NodesScanned == 3 &&
			!slices.ContainsFunc(v.Nodes, func(n NodeStatus) bool { return n.Source != ByTracking })
	})
	if !v.Coverage.Complete || v.Coverage.Scanned < 30 {
		t.Errorf("%+v", v.Coverage)
	}
	for i := 30; i < 40; i++ {
		take(fmt.Sprint("lock:", i))
		w.event(WasAcquired, fmt.Sprint("lock:", i))
	}
	servers[1].Pause()
	v = w.until("one node is late", func(v *View) bool {
		return slices.ContainsFunc(v.Nodes, func(n NodeStatus) bool { return n.Reach != Live })
	})
	live := 0
	for _, n := range v.Nodes {
		if n.Reach == Live {
			live++
		}
	}
	if live != 2 || len(v.Rows) != 40 {
		t.Errorf("%d nodes live, %d rows", live, len(v.Rows))
	}
	servers[1].Resume()
	w.until("it is back", func(v *View) bool {
		return !slices.ContainsFunc(v.Nodes, func(n NodeStatus) bool { return n.Reach != Live })
	})
}

// RESP2, as old servers and proxies speak it: the connection redirects to itself.
func TestFollowWithRESP2(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, Protocol: 2, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	redisson(s, "lock:a", holderA, 60_000)
	w := follow(t, Node{Addr: s.Addr, Client: c}, Query{}, FollowOptions{})
	w.settled(ByTracking)
	s.Do("PEXPIRE", "lock:a", 90_000)
	w.event(WasRenewed, "lock:a")
	s.Do("FLUSHALL")
	if e := w.event(WasFlushed, "lock:a"); e.Inferred {
		t.Errorf("%+v", e)
	}
}

func TestPauseAndResumeOfTheFirstPass(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	redistest.Populate(t, s.Client(), 20_000, "user", 0)
	redisson(s, "lock:a", holderA, 60_000)
	w := follow(t, nodeOf(s), Query{Rate: 4000}, FollowOptions{Paused: true})
	w.until("the node answers", func(v *View) bool { return v.Nodes[0].Reach == Live })
	time.Sleep(200 * time.Millisecond)
	if v := w.f.View(); v.Coverage.Scanned != 0 || !v.Paused {
		t.Errorf("%+v", v.Coverage)
	}
	w.f.Resume()
	w.until("it scans", func(v *View) bool { return v.Coverage.Scanned > 1000 })
	w.f.Pause()
	w.until("it is paused", func(v *View) bool { return v.Paused })
	time.Sleep(300 * time.Millisecond)
	at := w.f.View().Coverage.Scanned
	time.Sleep(300 * time.Millisecond)
	if now := w.f.View().Coverage.Scanned; now != at || now > 20_000 {
		t.Errorf("scanned %d, then %d, while paused", at, now)
	}
	w.f.Resume()
	v := w.until("it is through", func(v *View) bool { return v.Coverage.Complete })
	if v.Coverage.Scanned < 20_001 || v.Coverage.Scanned > 21_000 || len(v.Rows) != 1 {
		t.Errorf("%+v", v.Coverage)
	}
}

// A prefix under which much is written that is no lock: only the known locks are
// tracked then.
func TestFloodUnderAPrefixIsTurnedOff(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	redisson(s, "order:lock:7", holderA, 600_000) // makes "order:" a prefix
	w := follow(t, nodeOf(s), Query{Depth: ByName}, FollowOptions{})
	w.settled(ByTracking)
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	c := s.Client()
	go func() {
		for i := 0; ctx.Err() == nil; {
			_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
				for range 400 {
					i++
					p.Set(ctx, fmt.Sprint("order:item:", i%100_000), i, 0)
				}
				return nil
			})
			if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	w.until("only known locks are tracked", func(v *View) bool { return v.Nodes[0].Following == "by tracking of each known lock" })
	s.Do("PEXPIRE", "order:lock:7", 900_000)
	w.event(WasRenewed, "order:lock:7")
}
