package inspect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// far is a client of the server behind a proxy.
func far(t *testing.T, p *redistest.Proxy) *redis.Client {
	c := redis.NewClient(&redis.Options{
		Addr: p.Addr, MaxRetries: -1, DisableIdentity: true, ContextTimeoutEnabled: true, PipelinePoolSize: -1,
		ReadTimeout: 10 * time.Second,
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// links are how far away a server may be, there and back.
var links = []struct{ there, back time.Duration }{
	{0, 0}, {50 * time.Millisecond, 50 * time.Millisecond}, {200 * time.Millisecond, 200 * time.Millisecond},
	{20 * time.Millisecond, 80 * time.Millisecond},
}

// The countdown is right to 20 ms and half of what the way there and the way
// back differ by, over many connections, and says itself how unsure it is.
func TestCountdownAgainstTheServer(t *testing.T) {
	connections := redistest.Rounds(5, 50)
	const locks = 20
	for _, link := range links {
		t.Run(fmt.Sprintf("%v there, %v back", link.there, link.back), func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			p := redistest.NewProxy(t, s.Addr)
			truth := map[string]time.Time{}
			for i := range locks {
				key := fmt.Sprint("lock:", i)
				s.Do("SET", key, tokenA, "PX", 60_000+rand.IntN(600_000))
				truth[key] = time.UnixMilli(s.Do("PEXPIRETIME", key).(int64))
			}
			p.DelayRequests(link.there)
			p.DelayReplies(link.back)
			var off []time.Duration
			for range connections {
				in := New(Node{Addr: s.Addr, Client: far(t, p)})
				found, _ := scanAll(t, in, Query{Depth: ByName})
				again, err := in.Refresh(t.Context(), found)
				if err != nil || len(again) != locks {
					t.Fatal(len(again), err)
				}
				for i := range again {
					l := &again[i]
					d := l.Deadline.Round(0).Sub(truth[string(l.Key)]).Abs()
					off = append(off, d)
					if d > l.Uncertainty+2*time.Millisecond {
						t.Errorf("off by %v, though sure to %v", d, l.Uncertainty)
					}
				}
			}
			slices.Sort(off)
			p99 := off[len(off)*99/100]
			limit := 20*time.Millisecond + (link.back-link.there).Abs()/2
			t.Logf("%d samples: p50 %v, p99 %v, limit %v", len(off), off[len(off)/2], p99, limit)
			if p99 > limit {
				t.Errorf("p99 %v, limit %v", p99, limit)
			}
		})
	}
}

// The moment at which the countdown ends is the moment at which the server lets
// the lock go, and the end is noticed soon after.
func TestZeroIsTheServersZero(t *testing.T) {
	for _, link := range links {
		t.Run(fmt.Sprintf("%v there, %v back", link.there, link.back), func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			p := redistest.NewProxy(t, s.Addr)
			p.DelayRequests(link.there)
			p.DelayReplies(link.back)
			w := follow(t, Node{Addr: s.Addr, Client: far(t, p)}, Query{}, FollowOptions{})
			w.settled(ByTracking)
			limit := 20*time.Millisecond + (link.back-link.there).Abs()/2
			for i := range redistest.Rounds(2, 10) {
				key := fmt.Sprint("lock:zero:", i)
				s.Do("SET", key, tokenA, "PX", 2000+12*(link.there+link.back).Milliseconds())
				over := time.UnixMilli(s.Do("PEXPIRETIME", key).(int64))
				w.event(WasAcquired, key)
				last := w.row(key)
				for r := last; r != nil; r = w.row(key) {
					last = r
					time.Sleep(10 * time.Millisecond)
				}
				if d := last.Deadline.Round(0).Sub(over).Abs(); d > limit {
					t.Errorf("the countdown ended %v off, limit %v (±%v)", last.Deadline.Round(0).Sub(over), limit, last.Uncertainty)
				}
				e := w.event(WasExpired, key)
				if late := e.At.Round(0).Sub(over); late > 300*time.Millisecond+8*(link.there+link.back) {
					t.Errorf("noticed %v later", late)
				}
			}
		})
	}
}
