package lockcore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// A server with a full memory may evict locks and counters. It is warned of,
// noticed, fenced, and repaired.
func TestH12_Eviction(t *testing.T) {
	s := redistest.Start(t, "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru", "--maxmemory-samples", "10")
	l := onServer(t, s.Addr, WithTTL(3*time.Second))
	risks, err := l.Risks(t.Context())
	if err != nil || !slices.Contains(risks, RiskEviction) {
		t.Errorf("risks %v, %v", risks, err)
	}
	g := guardOf(t, onServer(t, redistest.Start(t).Addr), "r")
	for range 3 {
		release(t, take(t, l, "a"))
	}
	lease := take(t, l, "a")
	if err := g.Enter(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	for i := 0; s.Do("exists", "lock:{a}", "lock:{a}:fence") != int64(0); i++ {
		if i > 20000 {
			t.Fatal("nothing is evicted")
		}
		s.Do("set", fmt.Sprint("fill", i), strings.Repeat("x", 1000))
	}
	<-lease.Context().Done()
	wantErr(t, "the lease", context.Cause(lease.Context()), ErrLost)
	next := take(t, l, "a") // begins again at 1
	err = g.Set(t.Context(), next, nil)
	var stale *StaleError
	if !errors.As(err, &stale) {
		t.Fatalf("the guard said %v", err)
	}
	release(t, next)
	next = take(t, l, "a", FenceFloor(stale.Seen))
	if err := g.Set(t.Context(), next, nil); err != nil {
		t.Errorf("repaired: %v", err)
	}
	if risks, err := onServer(t, redistest.Start(t).Addr).Risks(t.Context()); err != nil || slices.Contains(risks, RiskEviction) {
		t.Errorf("a server that evicts nothing: %v, %v", risks, err)
	}
}

// All keys of a lock, whatever its name, are in one slot.
func TestH66_OneSlotForEveryName(t *testing.T) {
	s := redistest.Start(t, "--cluster-enabled", "yes")
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.StringOf(rapid.SampledFrom([]rune("{}ab:"))), rapid.String()).Draw(rt, "name")
		k, err := wire.NewKeys("lock:", name)
		if err != nil {
			return
		}
		slot := s.Do("cluster", "keyslot", k.Lock)
		for _, key := range []string{k.Counter, k.Queue, k.Alive, k.Tombstone("t")} {
			if got := s.Do("cluster", "keyslot", key); got != slot {
				rt.Fatalf("%q is in slot %v, the lock in %v", key, got, slot)
			}
		}
	})
	l := onServer(t, s.Addr)
	for _, name := range []string{"", "}", "}a", "{}a}"} {
		_, err := l.TryAcquire(t.Context(), name)
		if bad := name != "{}a}"; bad != errors.Is(err, ErrUsage) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	if _, err := New(clientOf(t, s.Addr), WithPrefix("a{b}")); !errors.Is(err, ErrUsage) {
		t.Errorf("a prefix with braces: %v", err)
	}
}

// cluster starts three masters and a Locker on them.
func cluster(t *testing.T, opts ...Option) ([]*redistest.Server, *redis.ClusterClient, *Locker) {
	nodes := redistest.StartCluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nodes[0].Addr}})
	t.Cleanup(func() { _ = c.Close() })
	l, err := New(c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return nodes, c, l
}

// In a Cluster, everything that lockcore does keeps to one slot; and a slot may
// move while its lock is held, waited for and renewed.
func TestH66_ASlotMoves(t *testing.T) {
	nodes, _, l := cluster(t, WithTTL(time.Second))
	g := guardOf(t, l, "{a}:data")
	for _, opts := range [][]Option{nil, {WithFair()}, {Entering(g)}, {WithExpiringFence(24 * time.Hour)}} {
		release(t, take(t, l, "a", opts...))
	}
	lease := take(t, l, "a")
	waiting := wait(t.Context(), l, "a")
	fair := wait(t.Context(), l, "a", WithFair())
	moveSlot(t, nodes, "lock:{a}")
	time.Sleep(2500 * time.Millisecond) // several renewals
	if err := lease.Err(); err != nil {
		t.Fatalf("the lease did not survive the move: %v", err)
	}
	if err := g.Enter(t.Context(), lease); err != nil {
		t.Errorf("the guard after the move: %v", err)
	}
	release(t, lease)
	drain(t, []*waiter{waiting, fair})
	if a, b := take(t, l, "a"), lease; a.Fence().Compare(b.Fence()) <= 0 {
		t.Errorf("after the move %v, before %v", a.Fence(), b.Fence())
	}
}

// A request that waits for replicas goes to one node, which may not be the right
// one any more: it is followed to where the slot is, also while that moves.
func TestH66_ASlotMovesBehindTheBarrier(t *testing.T) {
	nodes, _, l := cluster(t, WithTTL(time.Second), WithReplicas(1, 20*time.Millisecond))
	var short *replicaError // there are no replicas here: as far as it can get
	_, err := l.TryAcquire(t.Context(), "a")
	if !errors.As(err, &short) {
		t.Errorf("before the move: %v", err)
	}
	moved := make(chan struct{})
	go func() { defer close(moved); moveSlot(t, nodes, "lock:{a}") }()
	for under := true; under; {
		_, err := l.TryAcquire(t.Context(), "a")
		// Some of its keys may be here and some there: then it cannot be given back either.
		half := err != nil && strings.Contains(err.Error(), "TRYAGAIN") || errors.Is(err, ErrNotAcquired)
		if !errors.As(err, &short) && !half {
			t.Errorf("during the move: %v", err)
		}
		select {
		case <-moved:
			under = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	if _, err = l.Acquire(soon(t, 3*time.Second), "a"); !errors.As(err, &short) {
		t.Errorf("after the move: %v", err)
	}
}

// moveSlot moves the slot of a key to the next node, key by key as redis-cli does.
func moveSlot(t *testing.T, nodes []*redistest.Server, key string) {
	t.Helper()
	slot := nodes[0].Do("cluster", "keyslot", key).(int64)
	from := slices.IndexFunc(nodes, func(s *redistest.Server) bool {
		_, err := s.Try("exists", key)
		return err == nil
	})
	src, dst := nodes[from], nodes[(from+1)%len(nodes)]
	srcID, dstID := src.Do("cluster", "myid"), dst.Do("cluster", "myid")
	dst.Do("cluster", "setslot", slot, "importing", srcID)
	src.Do("cluster", "setslot", slot, "migrating", dstID)
	for {
		keys := src.Do("cluster", "getkeysinslot", slot, 1).([]any)
		if len(keys) == 0 {
			break
		}
		src.Do("migrate", dst.Host, dst.Port, keys[0], 0, 5000)
		time.Sleep(100 * time.Millisecond) // half moved: ASK, TRYAGAIN
	}
	for _, n := range []*redistest.Server{dst, src, nodes[(from+2)%len(nodes)]} {
		n.Do("cluster", "setslot", slot, "node", dstID)
	}
}

// A failover may forget the newest lock. The barrier makes that rarer and takes
// back what it cannot confirm; the guard tells the two holders apart.
func TestH67_Failover(t *testing.T) {
	primary := redistest.Start(t)
	replica := redistest.StartReplica(t, primary)
	var seen events
	l := onServer(t, primary.Addr, seen.option())
	lease := take(t, l, "a", WithReplicas(1, time.Second))
	if v := replica.Do("get", "lock:{a}").(string); !strings.HasPrefix(v, lease.Pass().Token) {
		t.Errorf("the replica has %q", v)
	}
	held, err := l.TryAcquire(t.Context(), "a", WithReplicas(1, time.Second))
	if held != nil || !errors.Is(err, ErrNotAcquired) {
		t.Errorf("a held lock behind the barrier: %v", err)
	}
	release(t, lease)
	replica.Pause()
	lease, err = l.TryAcquire(t.Context(), "b", WithReplicas(1, 100*time.Millisecond))
	var op *OpError
	if lease != nil || !errors.As(err, &op) || op.Outcome != Failed || errors.Is(err, ErrNotAcquired) {
		t.Errorf("no replica had it: %v", err)
	}
	if n := primary.Do("exists", "lock:{b}"); n != int64(0) {
		t.Error("what was not confirmed was not taken back")
	}
	replica.Resume()
	replica.Do("replicaof", "no", "one") // promoted; the old primary does not know
	g := guardOf(t, onServer(t, redistest.Start(t).Addr), "r")
	first := take(t, l, "c")
	if err := g.Enter(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	second := take(t, onServer(t, replica.Addr), "c")
	if second.Fence() != first.Fence() {
		t.Fatalf("fences %v and %v: this test shows nothing", first.Fence(), second.Fence())
	}
	wantErr(t, "the same number from the promoted replica", g.Set(t.Context(), second, nil), ErrStale, ErrSplit)
	release(t, second)
	second = take(t, onServer(t, replica.Addr), "c") // acquiring again heals it
	if err := g.Set(t.Context(), second, nil); err != nil {
		t.Error(err)
	}
	wantErr(t, "the first holder", g.Set(t.Context(), first, nil), ErrStale)
}

// A replica refuses to write, and what it says of a lock is not sure. The lease
// is neither lost nor released by that; its own time ends it.
func TestH70_AReplicaKnowsNothingForSure(t *testing.T) {
	primary := redistest.Start(t)
	replica := redistest.StartReplica(t, primary)
	l := onServer(t, primary.Addr, WithTTL(1500*time.Millisecond))
	lease := take(t, l, "a")
	onReplica := clientOf(t, replica.Addr)
	l.send.rdb = onReplica // as if the name now pointed to it
	for _, there := range []string{"the lock is there", "the lock is not there yet"} {
		if there != "the lock is there" {
			replica.Do("replicaof", "no", "one")
			replica.Do("flushall")
			replica.Do("replicaof", primary.Host, primary.Port+1) // a replica without a primary
		}
		var op *OpError
		if err := lease.Renew(t.Context()); !errors.As(err, &op) || errors.Is(err, ErrLost) {
			t.Errorf("%s: renew: %v", there, err)
		}
		if _, err := l.TryAcquire(t.Context(), "new"); !errors.As(err, &op) || errors.Is(err, ErrNotAcquired) {
			t.Errorf("%s: acquire: %v", there, err)
		}
	}
	if err := lease.Release(t.Context()); err == nil || errors.Is(err, ErrLost) {
		t.Errorf("release: %v", err)
	}
	l.send.rdb = clientOf(t, primary.Addr)
	release(t, lease)
	if primary.Do("exists", "lock:{a}") != int64(0) {
		t.Error("it is not released")
	}
}

// Scripts may be gone at any moment.
func TestH71_ScriptsAreForgotten(t *testing.T) {
	primary := redistest.Start(t)
	redistest.StartReplica(t, primary)
	var seen events
	l := onServer(t, primary.Addr, WithTTL(300*time.Millisecond), seen.option())
	g := guardOf(t, l, "r")
	flush := func() { primary.Do("script", "flush") }
	for _, opts := range [][]Option{nil, {WithFair()}, {WithReplicas(1, time.Second)}} {
		flush()
		lease := take(t, l, "a", opts...)
		for range 5 { // with renewals in a pipeline in between
			flush()
			time.Sleep(80 * time.Millisecond)
		}
		if err := lease.Err(); err != nil {
			t.Fatalf("the lease: %v", err)
		}
		for what, do := range map[string]func() error{
			"renew": func() error { return lease.Renew(t.Context()) },
			"enter": func() error { return g.Enter(t.Context(), lease) },
			"set":   func() error { return g.Set(t.Context(), lease, nil) },
		} {
			flush()
			if err := do(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		flush()
		release(t, lease)
	}
	if n := len(seen.of(EventRenewalFailed)); n != 0 {
		t.Errorf("%d renewals failed", n)
	}
}

// With its memory full the server takes no new lock, and those that are there
// can be kept and released.
func TestH72_MemoryFull(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr)
	for _, opts := range [][]Option{nil, {WithFair()}} {
		lease := take(t, l, "a", opts...)
		lost := take(t, l, "lost", opts...)
		s.Do("del", "lock:{lost}")
		s.Do("config", "set", "maxmemory", 1) // and nothing is evicted
		_, err := l.TryAcquire(t.Context(), "b", opts...)
		var op *OpError
		if !errors.As(err, &op) || op.Outcome != Failed || errors.Is(err, ErrNotAcquired) {
			t.Errorf("acquire: %v", err)
		}
		if s.Do("exists", "lock:{b}") != int64(0) {
			t.Error("half a lock was left")
		}
		if err := lease.Renew(t.Context()); err != nil {
			t.Errorf("renew: %v", err)
		}
		if err := lease.Release(t.Context()); err != nil || s.Do("exists", "lock:{a}") != int64(0) {
			t.Errorf("release: %v", err)
		}
		if s.Do("exists", lease.h.tombstone) != int64(1) {
			t.Error("the token was not forbidden")
		}
		wantErr(t, "releasing what is not there", lost.Release(t.Context()), ErrLost)
		s.Do("config", "set", "maxmemory", 0)
	}
}

// The server wants more replicas than there are.
func TestH73_TooFewReplicas(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithTTL(400*time.Millisecond))
	release(t, take(t, l, "a"))
	s.Do("config", "set", "min-replicas-to-write", 2)
	began := time.Now()
	for what, try := range map[string]func() (*Lease, error){
		"TryAcquire": func() (*Lease, error) { return l.TryAcquire(t.Context(), "a") },
		"Acquire":    func() (*Lease, error) { return l.Acquire(t.Context(), "a") },
	} {
		_, err := try()
		var op *OpError
		if !errors.As(err, &op) || op.Outcome != Failed || !strings.Contains(err.Error(), "NOREPLICAS") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("asked for %v", took)
	}
	if s.Do("exists", "lock:{a}") != int64(0) || s.Do("get", "lock:{a}:fence") != "1" {
		t.Error("something was written")
	}
	waiting := wait(t.Context(), l, "a", WithTTL(5*time.Second))
	time.Sleep(200 * time.Millisecond)
	s.Do("config", "set", "min-replicas-to-write", 0)
	waiting.within(t, 5*time.Second) // it was asked again
	release(t, waiting.lease)
}

// A lease is used from many goroutines; the race detector watches.
func TestH74_ALeaseIsSafeForConcurrentUse(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithTTL(50*time.Millisecond), WithOpTimeout(50*time.Millisecond))
	for range redistest.Rounds(10, 300) {
		lease := take(t, l, "a")
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 5 {
					_, _, _ = lease.Err(), lease.Deadline(), lease.State()
					_, _ = lease.Fence(), lease.Context().Err()
					_ = lease.Renew(t.Context()) // fails once it is released
				}
				if i%2 == 0 {
					_ = lease.Release(t.Context())
				}
			})
		}
		all.Wait()
		if err := lease.Err(); err == nil {
			t.Fatal("held after its release")
		}
		s.Do("del", "lock:{a}") // where this machine stood still and it was lost
	}
}

// CLIENT PAUSE and CLIENT KILL: what any operator may do.
func TestPausedAndKilledClients(t *testing.T) {
	s := redistest.Start(t)
	l := onServer(t, s.Addr, WithTTL(time.Second))
	lease := take(t, l, "a")
	waiting := wait(t.Context(), l, "a")
	for range 3 {
		s.Do("client", "pause", 250, "all")
		time.Sleep(350 * time.Millisecond)
		s.Do("client", "kill", "type", "normal", "skipme", "yes")
		s.Do("client", "kill", "type", "pubsub")
		time.Sleep(100 * time.Millisecond)
	}
	if err := lease.Err(); err != nil {
		t.Fatalf("the lease: %v", err)
	}
	release(t, lease)
	waiting.within(t, 3*time.Second)
	release(t, waiting.lease)
}
