package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// says reports whether some evidence or sign has these words.
func (x *Examination) says(words string) (how string, ok bool) {
	for _, e := range x.Evidence {
		if strings.Contains(e.Says, words) {
			return e.How + " " + string(e.For), true
		}
	}
	for _, s := range x.Contention {
		if strings.Contains(s.Says, words) {
			return s.How, true
		}
	}
	return "", false
}

func (x *Examination) mustSay(t *testing.T, words, how string) {
	t.Helper()
	got, ok := x.says(words)
	if !ok || !strings.Contains(got, how) {
		t.Errorf("%q by %q is not said (%q):\n%+v", words, how, got, *x)
	}
}

func examine(t *testing.T, w *watching, n Node, key string) Examination {
	t.Helper()
	var row *Watched
	w.until(key+" is there", func(*View) bool { row = w.row(key); return row != nil })
	x, err := New(n).Examine(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestIdleTimeIsReadBeforeTheValue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	redisson(s, "lock:old", holderA, 600_000)
	time.Sleep(2100 * time.Millisecond)
	n := nodeOf(s)
	w := follow(t, n, Query{}, FollowOptions{})
	w.settled(ByTracking)
	if row := w.row("lock:old"); row.IdleBefore < 2 || row.IdleBefore > 4 {
		t.Errorf("idle for %d s before the first look", row.IdleBefore)
	}
	x := examine(t, w, n, "lock:old")
	x.mustSay(t, "nobody had read or written it for", "idle time")
	if len(x.Contention) > 0 {
		t.Errorf("%+v", x.Contention)
	}
}

// A failed SET NX touches the key: whoever polls for a lock shows by its idle
// time, when neither a renewal nor our own look explains it.
func TestPollersShowByIdleTime(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Do("SET", "lock:polled", tokenA, "PX", 600_000)
	s.Do("SET", "lock:quiet", tokenA, "PX", 600_000)
	n := nodeOf(s)
	w := follow(t, n, Query{}, FollowOptions{})
	w.settled(ByTracking)
	for range 8 {
		s.Do("SET", "lock:polled", tokenB, "NX", "PX", 1000)
		time.Sleep(400 * time.Millisecond)
	}
	x := examine(t, w, n, "lock:polled")
	x.mustSay(t, "somebody tries or reads it", "idle time")
	x = examine(t, w, n, "lock:quiet")
	if _, ok := x.says("somebody tries"); ok {
		t.Errorf("%+v", x)
	}
}

func TestHolderAndWaitersAmongTheConnections(t *testing.T) {
	s := redistest.Start(t)
	value := wire.Value{Token: "bq1TnEJm0zYw2xkR9sVfQA", Fence: "7", Since: time.Now().Add(-time.Hour), About: wire.About{Host: "web-1", PID: 4242}}
	s.Do("SET", "lock:{ours}", value.String(), "PX", 600_000)
	blocked := redis.NewClient(&redis.Options{Addr: s.Addr, ReadTimeout: 20 * time.Second})
	t.Cleanup(func() { _ = blocked.Close() })
	go blocked.BLPop(t.Context(), 15*time.Second, "some:list")
	n := nodeOf(s)
	w := follow(t, n, Query{}, FollowOptions{})
	w.settled(ByTracking)
	s.Until("somebody is blocked", func() bool {
		return strings.Contains(s.Do("INFO", "clients").(string), "blocked_clients:1")
	})
	x := examine(t, w, n, "lock:{ours}")
	x.mustSay(t, "1 connections of this server wait in a blocking command", "CLIENT LIST")
	x.mustSay(t, "no connection names web-1 process 4242", string(Dead))
	x.mustSay(t, "held for 1 h", "what the lock says of itself")
	named := redis.NewClient(&redis.Options{Addr: s.Addr, ClientName: "web-1:4242"})
	t.Cleanup(func() { _ = named.Close() })
	named.Ping(t.Context())
	x = examine(t, w, n, "lock:{ours}")
	x.mustSay(t, "named web-1:4242 is open", string(Alive))
}

// Waiters come with how they are known.
func TestWaitersAreASign(t *testing.T) {
	s := redistest.Start(t)
	redisson(s, "lock:wanted", holderA, 600_000)
	sub := s.Client().Subscribe(t.Context(), "redisson_lock__channel:{lock:wanted}")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := nodeOf(s)
	w := follow(t, n, Query{}, FollowOptions{})
	w.settled(ByTracking)
	x := examine(t, w, n, "lock:wanted")
	x.mustSay(t, "1 waits", "pubsub")
}

// A22: a watchdog that renews for ever looks alive; what shows it is for how
// long. Nothing calls the holder alive or dead.
func TestEvidenceIsNeverAVerdict(t *testing.T) {
	w := &Watched{Lock: *aLock(0, "A", 30_000), FirstSeen: t0, Began: true}
	w.Beat = &Beat{Renewals: 1150, Last: t0.Add(3*time.Hour + 12*time.Minute), Every: 10 * time.Second, Lease: lease}
	now := w.Beat.Last.Add(3100 * time.Millisecond)
	got := fmt.Sprint(w.Evidence(now))
	for _, want := range []string{"renewed 3.1 s ago, every 10 s, 1,150 times", "held for 3 h 12 min, renewed 1,150 times", string(Alive)} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	late := w.Evidence(now.Add(20 * time.Second))
	if !slices.ContainsFunc(late, func(e Evidence) bool { return e.For == Dead && strings.Contains(e.Says, "overdue by 13.1 s") }) {
		t.Errorf("%+v", late)
	}
}
