package inspect

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// beforeInfo does something once, right before the server is asked for its counts.
type beforeInfo struct{ do atomic.Pointer[func()] }

func (b *beforeInfo) on(n Node) Node {
	o := *n.Client.Options()
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &infoConn{conn, b}, err
	}
	n.Client = redis.NewClient(&o)
	return n
}

type infoConn struct {
	net.Conn
	before *beforeInfo
}

func (c *infoConn) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("\r\ninfo\r\n")) {
		if do := c.before.do.Swap(nil); do != nil {
			(*do)()
		}
	}
	return c.Conn.Write(p)
}

// What is counted right after a look that still saw a lock ended it all the same;
// of one that began in that moment, nobody knows.
func TestCountedRightAfterALook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   []any
		want EventKind
	}{
		{"flush", []any{"FLUSHDB"}, WasFlushed},
		{"eviction", []any{"CONFIG", "SET", "maxmemory", "1"}, WentAway},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
			before := &beforeInfo{}
			node := before.on(nodeOf(s))
			defer node.Client.Close()
			w := follow(t, node, Query{}, FollowOptions{Without: withoutTelling})
			w.settled(ByPolling)
			for _, key := range []string{"lock:old", "lock:new"} {
				s.Do("SET", key, tokenA, "PX", 600_000)
				w.event(WasAcquired, key)
			}
			time.Sleep(2 * time.Second) // until what was counted before is long ago
			do := func() {
				s.Do(c.do...)
				s.Try("SET", "filler", "x") // evicts all there is, where there is no room
			}
			before.do.Store(&do)
			s.Do("SET", "lock:new", tokenB, "PX", 600_000)
			w.event(HandedOver, "lock:new")
			got := map[string]EventKind{}
			w.until("both are gone", func(*View) bool {
				for _, e := range w.events {
					got[string(e.Key)] = e.Kind
				}
				return got["lock:old"] != "" && got["lock:new"] != ""
			})
			if got["lock:old"] != c.want || got["lock:new"] != WentAway {
				t.Errorf("told %v", got)
			}
		})
	}
}

// A flush while the server could not be reached is counted all the same; one that
// a restart or a reset of the counts only seems to show is none.
func TestCountsTaken(t *testing.T) {
	began := time.Now()
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	facts := func(run string, flushes, evicted int64) serverFacts {
		return serverFacts{known: true, runID: run, flushes: flushes, evicted: evicted}
	}
	for _, c := range []struct {
		name             string
		was, is          serverFacts
		flushed, evicted bool
	}{
		{"nothing", facts("a", 3, 5), facts("a", 3, 5), false, false},
		{"flushed", facts("a", 3, 5), facts("a", 4, 5), true, false},
		{"evicted", facts("a", 3, 5), facts("a", 3, 6), false, true},
		{"counts reset", facts("a", 3, 5), facts("a", 0, 0), false, true}, // by which keys may have been evicted before
		{"started again", facts("a", 3, 5), facts("b", 4, 6), false, false},
		{"not said before", factsOf(nil, false), facts("a", 4, 6), false, false},
		{"not said, and it may evict", facts("a", 3, 5), factsOf(nil, false), false, true},
	} {
		k := counts{facts: c.was, asked: at(10)}
		k.take(c.is, at(20), at(21))
		if want := (span{at(10), at(21)}); (k.flushes == want) != c.flushed || (k.evicted == want) != c.evicted {
			t.Errorf("%s: %+v", c.name, k)
		}
	}
	s := span{at(10), at(21)}
	for _, c := range []struct {
		first, seen   int
		began         bool
		ended, unsure bool
	}{
		{5, 9, true, true, false},
		{5, 15, true, true, false},
		{5, 22, true, false, false},
		{15, 16, true, false, true}, // it began in the same stretch
		{15, 16, false, true, false},
		{15, 22, true, false, false},
	} {
		w := &Watched{Lock: Lock{SampledAt: at(c.seen)}, FirstSeen: at(c.first), Began: c.began}
		if ended, unsure := s.ended(w); ended != c.ended || unsure != c.unsure {
			t.Errorf("%+v: %v, %v", c, ended, unsure)
		}
	}
}
