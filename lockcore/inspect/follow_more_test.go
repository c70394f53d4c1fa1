package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// More names than prefixes can be asked for: each known lock is tracked by
// itself, and new ones are found by the number of keys.
func TestTooManyNamesAreTrackedSingly(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for i := range 2 * mostPrefixes {
		redisson(s, fmt.Sprintf("svc%d:lock", i), holderA, 600_000)
	}
	w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: []Source{ByNotification}})
	v := w.settled(ByTracking)
	if got := v.Nodes[0].Following; got != "by tracking of each known lock" {
		t.Fatalf("followed %s", got)
	}
	for i := range 20 { // again and again: a key is tracked until it is told of once
		s.Do("PEXPIRE", "svc7:lock", 700_000+10_000*i)
		began := time.Now()
		w.event(WasRenewed, "svc7:lock")
		if took := time.Since(began); took > 300*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	}
	release(s, "svc9:lock")
	w.event(WasReleased, "svc9:lock")
	redisson(s, "svcnew:lock", holderB, 600_000)
	w.event(WasAcquired, "svcnew:lock")
	s.Do("PEXPIRE", "svcnew:lock", 900_000)
	w.event(WasRenewed, "svcnew:lock")
	s.Do("CLIENT", "KILL", "TYPE", "pubsub")
	w.event(FeedGap, "")
	w.settled(ByTracking)
	s.Do("PEXPIRE", "svcnew:lock", 1_900_000)
	w.event(WasRenewed, "svcnew:lock")
}

// A lock that lives for milliseconds is seen where the source can see it, else
// marked as possibly missed.
func TestLockThatLivesForMilliseconds(t *testing.T) {
	t.Parallel()
	for _, c := range sources {
		if c.source == ByPolling {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := redistest.Start(t, c.args...)
			w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			for range 5 {
				w.events = nil
				s.Do("EVAL", "redis.call('SET', KEYS[1], ARGV[1], 'PX', 5000) redis.call('DEL', KEYS[1])", 1, "lock:short", tokenA)
				if !c.told {
					if e := w.event(FeedGap, "lock:short"); !e.Inferred || e.Note == "" {
						t.Errorf("%+v", e)
					}
					time.Sleep(tellTolerance)
					continue
				}
				if e := w.event(WasAcquired, "lock:short"); e.Holder.Known || e.Inferred {
					t.Errorf("%+v", e)
				}
				if e := w.event(WasReleased, "lock:short"); e.Previous.Known || e.Inferred {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// A handover within one tick: notifications tell of both halves.
func TestHandoverWithinOneTick(t *testing.T) {
	t.Parallel()
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			s.Do("SET", "lock:swap", tokenA, "PX", 60_000)
			w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			for i := range 4 {
				from, to := tokenA, tokenB
				if i%2 == 1 {
					from, to = to, from
				}
				s.Do("EVAL", "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], ARGV[1], 'PX', 60000)", 1, "lock:swap", to)
				if !c.told {
					if e := w.event(HandedOver, "lock:swap"); string(e.Previous.ID) != from || string(e.Holder.ID) != to {
						t.Errorf("%+v", e)
					}
					continue
				}
				if e := w.event(WasReleased, "lock:swap"); string(e.Previous.ID) != from {
					t.Errorf("%+v", e)
				}
				if e := w.event(WasAcquired, "lock:swap"); string(e.Holder.ID) != to {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// A release by this program, from anywhere, is told as one: by its receipt where
// the server tells of keys, else by whoever did it.
func TestForceReleaseIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			n := nodeOf(s)
			redisson(s, "lock:forced", holderA, 600_000)
			redisson(s, "lock:other", holderA, 600_000)
			w := follow(t, n, Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			in := New(n)
			l := oneLock(t, in, "lock:forced")
			out := carriedOut(t, in, Released)(in.PlanRelease(l))
			if c.source == ByPolling {
				w.f.Acted(&l, out)
			}
			if e := w.event(ForceReleased, "lock:forced"); e.Inferred || string(e.Previous.ID) != holderA {
				t.Errorf("%+v", e)
			}
			release(s, "lock:other")
			w.event(WasReleased, "lock:other")
		})
	}
}

// toldLate is a server whose changes are told through a proxy, which can hold them up.
func toldLate(t *testing.T, s *redistest.Server) (Node, *redistest.Proxy) {
	late := redistest.NewProxy(t, s.Addr)
	n := nodeOf(s)
	n.Another = func(change func(*redis.Options)) *redis.Client {
		o := *n.Client.Options()
		change(&o)
		if o.PoolSize == 1 { // what tells of changes
			o.Addr = late.Addr
		}
		return redis.NewClient(&o)
	}
	return n, late
}

// Who did it says so at once, before the server tells of it; that is the same
// end then, and not another lock's that nobody saw.
func TestAReleaseOfOursIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			n, late := toldLate(t, s)
			in := New(nodeOf(s))
			w := follow(t, n, Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			s.Do("SET", "lock:ours", tokenA, "PX", 600_000)
			w.event(WasAcquired, "lock:ours")
			l := oneLock(t, in, "lock:ours")
			late.DelayReplies(tellTolerance / 2)
			s.Do("DEL", "lock:ours")
			w.f.Acted(&l, Outcome{Word: Released})
			w.event(ForceReleased, "lock:ours")
			time.Sleep(2 * tellTolerance)
			w.until("nothing more comes", func(*View) bool { return w.idle() })
			for _, e := range w.events {
				t.Errorf("and then %+v", e)
			}
		})
	}
}

// Who takes the lock after a release of ours, and gives it up in good order, was
// not released by force.
func TestOnlyWhatWeDidIsForced(t *testing.T) {
	t.Parallel()
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			n := nodeOf(s)
			in := New(n)
			w := follow(t, n, Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			s.Do("SET", "lock:next", tokenA, "PX", 600_000)
			w.event(WasAcquired, "lock:next")
			l := oneLock(t, in, "lock:next")
			w.f.Acted(&l, carriedOut(t, in, Released)(in.PlanRelease(l)))
			w.event(ForceReleased, "lock:next")
			s.Do("SET", "lock:next", tokenB, "PX", 600_000)
			w.event(WasAcquired, "lock:next")
			s.Do("DEL", "lock:next")
			w.event(WasReleased, "lock:next")
		})
	}
}

// A feed that keeps silent about changes is not believed for ever. Here it is
// connected to another server, which knows nothing of these keys.
func TestSilentFeedIsGivenUp(t *testing.T) {
	t.Parallel()
	s, other := redistest.Start(t), redistest.Start(t)
	n := nodeOf(s)
	plain := n.Client
	n.Another = func(change func(*redis.Options)) *redis.Client {
		o := *plain.Options()
		change(&o)
		if o.PoolSize == 1 { // the feed's
			o.Dialer = redis.NewDialer(&redis.Options{Addr: other.Addr, DialTimeout: time.Second})
			var l leash
			l.put(&o)
			o.Addr = other.Addr
		}
		return redis.NewClient(&o)
	}
	for i := range 3 {
		redisson(s, fmt.Sprint("lock:", i), holderA, 1500)
	}
	w := follow(t, n, Query{}, FollowOptions{})
	followed := false
	for range 200 {
		for i := range 3 {
			s.Do("PEXPIRE", fmt.Sprint("lock:", i), 1500)
		}
		time.Sleep(50 * time.Millisecond)
		v := w.f.View()
		if followed = followed || v.Nodes[0].Source == ByTracking; followed && v.Nodes[0].Source == ByPolling {
			break
		}
	}
	if e := w.event(SourceChanged, ""); e.Source != ByPolling || e.Note == "" {
		t.Errorf("%+v", e)
	}
}

// Notifications that are switched off while they are relied on.
func TestNotificationsSwitchedOff(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--notify-keyspace-events", "KEA")
	w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: []Source{ByTracking}})
	w.settled(ByNotification)
	s.Do("CONFIG", "SET", "notify-keyspace-events", "")
	if e := w.event(SourceChanged, ""); e.Source != ByPolling {
		t.Errorf("%+v", e)
	}
	redisson(s, "lock:later", holderA, 60_000)
	w.event(WasAcquired, "lock:later")
}

// A user who may read and nothing else: locks are followed by polling, and
// nothing is taken for an error.
func TestFollowAsAUserWhoMayLittle(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Do("ACL", "SETUSER", "reader", "on", ">pw", "~lock:*", "+scan", "+get", "+getrange", "+pttl", "+type", "+hgetall", "+hlen", "+hget", "+hstrlen", "+hkeys", "+ping")
	c := redis.NewClient(&redis.Options{Addr: s.Addr, Username: "reader", Password: "pw", MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	redisson(s, "lock:a", holderA, 60_000)
	w := follow(t, Node{Addr: s.Addr, Client: c}, Query{}, FollowOptions{})
	w.until("the lock is there", func(v *View) bool { return len(v.Rows) == 1 })
	s.Do("PEXPIRE", "lock:a", 90_000)
	w.event(WasRenewed, "lock:a")
	redisson(s, "lock:b", holderB, 60_000)
	w.event(WasAcquired, "lock:b")
	release(s, "lock:a")
	if e := w.event(WentAway, "lock:a"); e.Note == "" { // INFO is denied: nobody knows whether it was evicted
		t.Errorf("%+v", e)
	}
	if v := w.f.View(); v.Nodes[0].Source != ByPolling || v.Nodes[0].Reach != Live {
		t.Errorf("%+v", v.Nodes[0])
	}
}

// Tracking has one namespace for all databases: what changes in another one is
// no change here.
func TestOtherDatabasesAreNotMistaken(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	other := redis.NewClient(&redis.Options{Addr: s.Addr, DB: 3})
	t.Cleanup(func() { _ = other.Close() })
	redisson(s, "lock:here", holderA, 60_000)
	w := follow(t, nodeOf(s), Query{}, FollowOptions{})
	w.settled(ByTracking)
	for range 5 {
		other.HSet(t.Context(), "lock:here", holderB, 1)
		other.Del(t.Context(), "lock:here")
		other.FlushDB(t.Context())
	}
	s.Do("PEXPIRE", "lock:here", 90_000)
	w.event(WasRenewed, "lock:here")
	for _, e := range w.events {
		t.Errorf("%s", eventLines([]Event{e}))
	}
	if r := w.row("lock:here"); r == nil || string(r.Holders[0].ID) != holderA {
		t.Errorf("%+v", r)
	}
}

// A fair lock's queue is another key: who waits shows when that changes.
func TestCompanionsAreFollowed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	redisson(s, "lock:fair", holderA, 60_000)
	s.Do("RPUSH", "redisson_lock_queue:{lock:fair}", holderB)
	s.Do("ZADD", "redisson_lock_timeout:{lock:fair}", time.Now().Add(time.Minute).UnixMilli(), holderB)
	w := follow(t, nodeOf(s), Query{}, FollowOptions{})
	w.settled(ByTracking)
	waiters := func(n int64) func(*View) bool {
		return func(*View) bool {
			r := w.row("lock:fair")
			return r != nil && r.Waiters != nil && r.Waiters.Count == n
		}
	}
	w.until("one waits", waiters(1))
	s.Do("RPUSH", "redisson_lock_queue:{lock:fair}", "11111111-0795-4907-87fd-6c719a6b4586:8")
	w.until("two wait", waiters(2))
}

// A lock that is taken for an operator is told as that.
func TestHoldIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			n := nodeOf(s)
			redisson(s, "lock:held", holderA, 600_000)
			w := follow(t, n, Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			in := New(n)
			carriedOut(t, in, Held)(in.PlanHold(oneLock(t, in, "lock:held"), time.Minute, "op@host", "test"))
			if e := w.event(OperatorHolds, "lock:held"); e.Inferred || string(e.Previous.ID) != holderA || !e.Holder.Known {
				t.Errorf("%+v", e)
			}
		})
	}
}

// While a server is silent nobody can poll it: that is a gap, and said.
func TestSilenceIsAGapWherePolled(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	redisson(s, "lock:a", holderA, 600_000)
	w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: withoutTelling})
	w.settled(ByPolling)
	s.Pause()
	w.until("the server is late", func(v *View) bool { return v.Nodes[0].Reach == Late })
	time.Sleep(1500 * time.Millisecond)
	s.Resume()
	if e := w.event(FeedGap, ""); !strings.Contains(e.Note, "nobody could look") {
		t.Errorf("%+v", e)
	}
}

// Renewals that come faster than a look is made are all counted, where the server
// tells of each.
func TestRenewalsFasterThanLooks(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--notify-keyspace-events", "KEA")
	p := redistest.NewProxy(t, s.Addr)
	redisson(s, "lock:fast", holderA, 600_000)
	w := follow(t, Node{Addr: s.Addr, Client: far(t, p)}, Query{}, FollowOptions{})
	w.settled(ByTracking)
	p.DelayReplies(60 * time.Millisecond)
	const n = 100
	for i := range n {
		s.Do("PEXPIRE", "lock:fast", 600_000+i)
		time.Sleep(10 * time.Millisecond)
	}
	renewed, limit := 0, time.Now().Add(30*time.Second)
	w.until("all are counted", func(*View) bool {
		for _, e := range w.events {
			if e.Kind == WasRenewed && !e.Inferred {
				renewed++
			}
		}
		w.events = nil
		return renewed >= n || time.Now().After(limit)
	})
	if renewed != n {
		t.Errorf("%d renewals of %d", renewed, n)
	}
}
