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

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/redistest"
)

// threeMasters is a Cluster with 30 locks, each with a fence counter that has no
// hash tag: most of the counters lie on another node than their lock.
func threeMasters(t *testing.T) (servers []*redistest.Server, nodes []Node) {
	servers = redistest.StartCluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{servers[0].Addr}})
	t.Cleanup(func() { _ = c.Close() })
	for i := range 30 {
		c.Set(t.Context(), fmt.Sprint("lock:", i), fmt.Sprintf("5f3b1e62-9df1-4c5e-8a35-%012d", i), time.Hour)
		c.Set(t.Context(), fmt.Sprint("fence:", i), 100+i, 0)
	}
	for _, s := range servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr, ReadTimeout: 2 * time.Second, MaxRetries: -1, ContextTimeoutEnabled: true, DisableIdentity: true})
		t.Cleanup(func() { _ = c.Close() })
		nodes = append(nodes, Node{Addr: s.Addr, Client: c, Cluster: true})
	}
	return servers, nodes
}

// withoutFullCoverage has the masters answer reads whatever becomes of another.
func withoutFullCoverage(servers []*redistest.Server) {
	for _, s := range servers {
		s.Do("CONFIG", "SET", "cluster-require-full-coverage", "no")
	}
}

// has reports whether a server of a Cluster has a key's slot.
func has(s *redistest.Server, key string) bool {
	_, err := s.Try("TYPE", key)
	return err == nil
}

// fenced counts the rows whose fence is the one that was set.
func fenced(locks []Lock) (n int) {
	for i := range locks {
		var at int
		if _, err := fmt.Sscanf(string(locks[i].Key), "lock:%d", &at); err == nil && locks[i].Fence == fmt.Sprint(100+at) {
			n++
		}
	}
	return n
}

// scanned is what a scan finds, be it complete or not.
func scanned(t *testing.T, in *Inspector) (locks []Lock, cov Coverage) {
	t.Helper()
	cov, err := in.Scan(t.Context(), Query{}, func(p Progress) bool { locks = append(locks, p.Found...); return true })
	if err != nil {
		t.Fatal(err)
	}
	return locks, cov
}

func rowsOf(v *View) []Lock {
	var out []Lock
	for _, r := range v.Rows {
		out = append(out, r.Lock)
	}
	return out
}

func warned(l *Lock, code string) string {
	for _, w := range l.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

// What belongs to a lock is read at the node that has it.
func TestCompanionsInOtherSlotsAreRead(t *testing.T) {
	t.Parallel()
	servers, nodes := threeMasters(t)
	in := New(nodes...)
	locks, cov := scanAll(t, in, Query{})
	if len(locks) != 30 || fenced(locks) != 30 || !cov.Complete {
		t.Errorf("%d locks, %d with their fence, %+v", len(locks), fenced(locks), cov)
	}
	for i := range locks {
		l := &locks[i]
		at := slices.IndexFunc(servers, func(s *redistest.Server) bool { return s.Addr == l.Node })
		if at < 0 || !has(servers[at], string(l.Key)) || warned(l, family.Unread) != "" {
			t.Errorf("%s is said to lie on %s: %v", l.Key, l.Node, l.Warnings)
		}
		if one, err := in.Look(t.Context(), 0, string(l.Key)); err != nil || fenced(one) != 1 {
			t.Errorf("%s: %v, %v", l.Key, one, err)
		}
		alone, err := New(nodes[at]).Look(t.Context(), 0, string(l.Key))
		if err != nil || len(alone) != 1 || (alone[0].Fence == "") != (warned(&alone[0], family.Unread) != "") {
			t.Errorf("%s seen from one node alone: %v, %v", l.Key, alone, err)
		}
	}
	f := in.Follow(t.Context(), Query{}, FollowOptions{})
	t.Cleanup(f.Stop)
	w := &watching{t: t, f: f}
	w.until("every row has its fence", func(v *View) bool { return len(v.Rows) == 30 && fenced(rowsOf(v)) == 30 })
}

// One dead master hides no other: their locks stay true, and what it has is said
// not to be known.
func TestOneDeadMasterHidesNoOther(t *testing.T) {
	t.Parallel()
	servers, nodes := threeMasters(t)
	in := New(nodes...)
	all, _ := scanAll(t, in, Query{})
	f := in.Follow(t.Context(), Query{}, FollowOptions{})
	t.Cleanup(f.Stop)
	w := &watching{t: t, f: f}
	w.until("every row has its fence", func(v *View) bool { return len(v.Rows) == 30 && fenced(rowsOf(v)) == 30 })
	dead := servers[0]
	theirs := 0
	for i := range all {
		if all[i].Node == dead.Addr {
			theirs++
		}
	}
	withoutFullCoverage(servers)
	dead.Pause()
	again, err := in.Refresh(t.Context(), all)
	if err == nil || !strings.Contains(err.Error(), dead.Addr) || len(again) != 30-theirs || theirs == 0 {
		t.Errorf("%d of %d were read: %v", len(again), 30-theirs, err)
	}
	for i := range again {
		if l := &again[i]; (l.Fence == "") != (warned(l, family.Unread) != "") {
			t.Errorf("%s: fence %q, %v", l.Key, l.Fence, l.Warnings)
		}
	}
	v := w.until("the header says which node", func(v *View) bool {
		return slices.ContainsFunc(v.Nodes, func(n NodeStatus) bool { return n.Addr == dead.Addr && n.Reach != Live })
	})
	if len(v.Rows) != 30 {
		t.Errorf("%d rows", len(v.Rows))
	}
	dead.Resume()
	w.until("it is back", func(v *View) bool {
		return !slices.ContainsFunc(v.Nodes, func(n NodeStatus) bool { return n.Reach != Live }) && len(v.Rows) == 30
	})
}

// A look at one key finds its node though another hangs, and a scan names the
// one that does. What the dead one may have is no "no such key".
func TestLookAndScanWithADeadMaster(t *testing.T) {
	t.Parallel()
	servers, nodes := threeMasters(t)
	in := New(nodes...)
	dead := servers[0]
	mine, theirs := "", ""
	for i := range 30 {
		switch key := fmt.Sprint("lock:", i); {
		case has(dead, key):
			theirs = key
		default:
			mine = key
		}
	}
	withoutFullCoverage(servers)
	dead.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if locks, err := in.LookKey(ctx, 0, mine); err != nil || len(locks) != 1 {
		t.Errorf("%s: %v, %v", mine, locks, err)
	}
	var unread *UnreadError
	if locks, err := in.LookKey(ctx, 0, theirs); !errors.As(err, &unread) || !strings.Contains(err.Error(), dead.Addr) {
		t.Errorf("%s: %v, %v", theirs, locks, err)
	}
	if _, err := in.Exists(ctx, 0, theirs); err == nil {
		t.Errorf("%s is said not to exist", theirs)
	}
	began := time.Now()
	locks, cov := scanned(t, in)
	if cov.Complete || cov.NodesScanned != 2 || cov.Depth != Deep || len(cov.Errors) == 0 || !strings.Contains(cov.Errors[0], dead.Addr) {
		t.Errorf("%+v", cov)
	}
	for i := range locks {
		if locks[i].Node == dead.Addr {
			t.Errorf("%s is said to be read at the dead node", locks[i].Key)
		}
	}
	if took := time.Since(began); len(locks) == 0 || took > 8*time.Second {
		t.Errorf("%d locks in %v", len(locks), took)
	}
}

// A Cluster without one of its masters answers no reads at all: that is said, and
// no lock is taken for gone.
func TestClusterThatIsDown(t *testing.T) {
	t.Parallel()
	servers, nodes := threeMasters(t)
	f := New(nodes...).Follow(t.Context(), Query{}, FollowOptions{})
	t.Cleanup(f.Stop)
	w := &watching{t: t, f: f}
	w.until("all are there", func(v *View) bool { return len(v.Rows) == 30 && fenced(rowsOf(v)) == 30 })
	servers[0].Kill()
	w.until("it is lost", func(v *View) bool {
		return slices.ContainsFunc(v.Nodes, func(n NodeStatus) bool { return n.Addr == servers[0].Addr && n.Reach == Lost })
	})
	servers[1].Until("the Cluster is down", func() bool {
		_, err := servers[1].Try("GET", "lock:1")
		_, err2 := servers[2].Try("GET", "lock:1")
		return unable(err) || unable(err2)
	})
	f.Rescan()
	f.tell(func(t *tracker) { t.rereadAll(time.Now(), "") })
	w.until("the others say so", func(v *View) bool {
		return slices.ContainsFunc(v.Nodes, func(n NodeStatus) bool {
			return n.Addr != servers[0].Addr && n.Reach == Late && strings.Contains(n.Words(time.Now()), "Cluster is down")
		})
	})
	if v := f.View(); len(v.Rows) != 30 {
		t.Errorf("%d rows", len(v.Rows))
	}
	for _, e := range w.events {
		if e.Key != "" {
			t.Errorf("%s", eventLines([]Event{e}))
		}
	}
}

// What a user may not read is refused, and that is said: it is neither free nor
// no lock.
func TestRefusedKeysAreNotFree(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Do("ACL", "SETUSER", "some", "on", ">pw", "~lock:*", "+@all")
	for i := range 5 {
		redisson(s, fmt.Sprint("lock:", i), holderA, 600_000)
		redisson(s, fmt.Sprint("other:", i), holderA, 600_000)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr, Username: "some", Password: "pw", MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	n := Node{Addr: s.Addr, Client: c}
	in := New(n)
	locks, cov := scanned(t, in)
	if len(locks) != 5 || cov.Complete || cov.Refused != 5 || len(cov.Errors) != 1 || !strings.Contains(cov.Errors[0], "5 keys could not be read") ||
		!strings.Contains(cov.Errors[0], "NOPERM") {
		t.Errorf("%d locks, %+v", len(locks), cov)
	}
	var unread *UnreadError
	if got, err := in.LookKey(t.Context(), 0, "other:1"); !errors.As(err, &unread) || unread.Key != "other:1" {
		t.Errorf("%v, %v", got, err)
	}
	w := follow(t, n, Query{}, FollowOptions{Without: withoutTelling})
	w.until("five locks", func(v *View) bool { return len(v.Rows) == 5 && !v.Scanning })
	s.Do("ACL", "SETUSER", "some", "resetkeys", "~nothing")
	v := w.until("the rows say that they cannot be read", func(v *View) bool {
		return !slices.ContainsFunc(v.Rows, func(r *Watched) bool { return !strings.Contains(r.Unread, "NOPERM") })
	})
	if len(v.Rows) != 5 || !v.Known(v.Rows[0]).Equal(v.Rows[0].SampledAt) {
		t.Errorf("%d rows", len(v.Rows))
	}
	s.Do("ACL", "SETUSER", "some", "allkeys")
	v = w.until("they can be read again", func(v *View) bool {
		return !slices.ContainsFunc(v.Rows, func(r *Watched) bool { return r.Unread != "" })
	})
	for _, e := range w.events {
		if len(v.Rows) < 5 || strings.HasPrefix(string(e.Key), "lock:") {
			t.Errorf("%d rows\n%s", len(v.Rows), eventLines([]Event{e}))
		}
	}
}

// A server that is busy with a script answers nobody: nothing is gone by that.
func TestBusyServerLosesNoLocks(t *testing.T) {
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, append([]string{"--lua-time-limit", "50"}, c.args...)...)
			redisson(s, "lock:a", holderA, 600_000)
			n := nodeOf(s)
			w := follow(t, n, Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			busy := s.Client()
			go busy.Eval(t.Context(), "while true do end", nil)
			w.until("the header turns", func(v *View) bool { return v.Nodes[0].Reach != Live })
			s.Until("it says that it is busy", func() bool { return redis.HasErrorPrefix(s.Client().Get(t.Context(), "lock:x").Err(), "BUSY") })
			if locks, err := New(n).LookKey(t.Context(), 0, "lock:a"); err == nil {
				t.Errorf("%v: busy, and nothing said", locks)
			}
			if _, cov := scanned(t, New(n)); cov.Complete || len(cov.Errors) == 0 {
				t.Errorf("%+v", cov)
			}
			time.Sleep(500 * time.Millisecond)
			if w.row("lock:a") == nil {
				t.Error("the row is gone while nobody answers")
			}
			s.Client().ScriptKill(t.Context())
			w.until("it answers again", func(v *View) bool { return v.Nodes[0].Reach == Live })
			s.Do("PEXPIRE", "lock:a", 900_000)
			w.event(WasRenewed, "lock:a")
			for _, e := range w.events {
				if e.Kind == WasReleased || e.Kind == WentAway || e.Kind == WasExpired {
					t.Errorf("%s", eventLines([]Event{e}))
				}
			}
		})
	}
}

// A key of another type than was known is read anew, and a field that has left a
// large hash is gone.
func TestWhatChangedItsFormIsReadAnew(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	in := New(nodeOf(s))
	s.Do("SET", "lock:a", tokenA, "PX", 600_000)
	known, err := in.Look(t.Context(), 0, "lock:a")
	if err != nil || len(known) != 1 {
		t.Fatal(known, err)
	}
	s.Do("DEL", "lock:a")
	redisson(s, "lock:a", holderB, 600_000)
	if now, err := in.Refresh(t.Context(), known); err != nil || len(now) != 1 || now[0].Type != family.Hash || string(now[0].Holders[0].ID) != holderB {
		t.Errorf("%+v, %v", now, err)
	}
	hash := "huey.results.app" // where huey keeps its locks, beside what else it keeps
	for i := range 2000 {
		s.Do("HSET", hash, fmt.Sprint("r:", i), "x")
	}
	s.Do("HSET", hash, "huey.lock.flush", "1")
	if known, err = in.Look(t.Context(), 0, hash); err != nil || len(known) != 1 {
		t.Fatal(known, err)
	}
	if again, err := in.Refresh(t.Context(), known); err != nil || len(again) != 1 {
		t.Errorf("%v, %v", again, err)
	}
	s.Do("HDEL", hash, "huey.lock.flush")
	if again, err := in.Refresh(t.Context(), known); err != nil || len(again) != 0 {
		t.Errorf("%v, %v", again, err)
	}
}

// Who waits for a Redisson lock of a Cluster may listen on any of its nodes.
func TestListenersOnOtherNodesAreCounted(t *testing.T) {
	t.Parallel()
	servers, nodes := threeMasters(t)
	withoutFullCoverage(servers)
	owner := slices.IndexFunc(servers, func(s *redistest.Server) bool { return has(s, "order-lock") })
	redisson(servers[owner], "order-lock", holderA, 600_000)
	for _, s := range servers {
		sub := s.Client().Subscribe(t.Context(), "redisson_lock__channel:{order-lock}")
		t.Cleanup(func() { _ = sub.Close() })
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	in := New(nodes...)
	locks, err := in.Look(t.Context(), 0, "order-lock")
	if err != nil || len(locks) != 1 || locks[0].Waiters == nil || locks[0].Waiters.Count != 3 || warned(&locks[0], family.Unread) != "" {
		t.Fatalf("%+v, %v", locks, err)
	}
	f := in.Follow(t.Context(), Query{}, FollowOptions{})
	t.Cleanup(f.Stop)
	w := &watching{t: t, f: f}
	w.until("three wait", func(*View) bool {
		r := w.row("order-lock")
		return r != nil && r.Waiters != nil && r.Waiters.Count == 3
	})
	dead := servers[(owner+1)%3]
	dead.Pause()
	w.until("it is missed", func(v *View) bool {
		return slices.ContainsFunc(v.Nodes, func(n NodeStatus) bool { return n.Addr == dead.Addr && n.Reach != Live })
	})
	f.tell(func(t *tracker) { t.rereadAll(time.Now(), "") })
	w.until("it is said that one could not be asked", func(*View) bool {
		r := w.row("order-lock")
		return r != nil && r.Waiters.Count == 2 && strings.Contains(warned(&r.Lock, family.Unread), "who listens on "+dead.Addr)
	})
	dead.Resume()
}
