package inspect_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// clusterOf is an inspector of a Cluster's masters.
func clusterOf(t *testing.T, servers []*redistest.Server) *inspect.Inspector {
	t.Helper()
	var nodes []inspect.Node
	for _, s := range servers {
		nodes = append(nodes, inspect.Node{Addr: s.Addr, Client: client(t, s.Addr), Cluster: true})
	}
	return inspect.New(nodes...)
}

// owning is the server that takes a key.
func owning(t *testing.T, servers []*redistest.Server, key string) *redistest.Server {
	t.Helper()
	for _, s := range servers {
		if _, err := s.Try("exists", key); err == nil {
			return s
		}
	}
	t.Fatalf("no node has %q", key)
	return nil
}

func allKeys(servers []*redistest.Server) map[string]string {
	all := map[string]string{}
	for _, s := range servers {
		maps.Copy(all, s.Dump())
	}
	return all
}

// In a Cluster a lock is released on the node that has it, its receipt lies in
// its slot, and those who wait are told on plain and on sharded channels.
func TestReleaseInACluster(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3)
	in := clusterOf(t, servers)
	for _, key := range []string{"order-lock", "{a}order-lock", "lock{}x", "lock{y"} {
		s := owning(t, servers, key)
		s.Do("hset", key, threadA, 1)
		s.Do("pexpire", key, 30000)
		l := s.Listen()
		p := releasePlan(t, in, key)
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, inspect.Released)
		var heard []redistest.Message
		for wait := 0; len(heard) == 0 && wait < 20; wait++ { // what another node published comes by the bus
			time.Sleep(100 * time.Millisecond)
			// And so may, late, what it published of the lock before.
			heard = slices.DeleteFunc(l.Heard(), func(m redistest.Message) bool { return !strings.Contains(m.Channel, key) })
		}
		if len(heard) != 1 || heard[0].Payload != "0" {
			t.Errorf("%s: heard %v", key, heard)
		}
		receipt := p.Steps[0].Call.Receipt().Key
		if (receipt == "") != (key == "lock{}x" || key == "lock{y") {
			t.Errorf("%s: receipt %q", key, receipt)
		}
		if got := s.Do("exists", key); got != int64(0) {
			t.Errorf("%s is still there", key)
		}
	}
}

// One lock in three keys that lie in different slots: step by step, which is
// said before.
func TestReleaseAcrossSlots(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 1)
	in := clusterOf(t, servers)
	token := strings.Repeat("\x01\xfe", 12)
	keys := []string{"rueidislock:0:job", "rueidislock:1:job", "rueidislock:2:job"}
	for _, k := range keys {
		owning(t, servers, k).Do("set", k, token, "px", "30000")
	}
	p := releasePlan(t, in, keys[0])
	if len(p.Steps) != 3 || len(p.Said) == 0 {
		t.Fatalf("%d steps, said %q", len(p.Steps), p.Said)
	}
	o := carryOut(t, in, p)
	expectOutcome(t, o, p, inspect.Released)
	left := allKeys(servers)
	maps.DeleteFunc(left, func(k, _ string) bool { return strings.Contains(k, ":fencepost:receipt:") })
	if len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// The list that waiters block on lies on another node than the lock: they are
// woken there.
func TestReleaseWakesOnAnotherNode(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 2)
	in := clusterOf(t, servers)
	other := 0
	for i := range 8 {
		name := strings.Repeat("j", i+1) // names of one length have the same distance of slots
		s, list := owning(t, servers, "lock:"+name), owning(t, servers, "lock-signal:"+name)
		if s == list {
			continue
		}
		other++
		s.Do("set", "lock:"+name, "ia8jIl3M5AjzSgmcgYVVYN99")
		p := releasePlan(t, in, "lock:"+name)
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, inspect.Released)
		if o.Told != 1 || o.ToldErr != "" || list.Do("llen", "lock-signal:"+name) != int64(1) {
			t.Errorf("%s: told %d, %q", name, o.Told, o.ToldErr)
		}
	}
	if other == 0 {
		t.Error("no lock of these had its list on another node")
	}
}

// When a slot has moved since the lock was seen, the step follows it.
func TestReleaseFollowsAMovedSlot(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 2)
	in := clusterOf(t, servers)
	const key = "lock:moved"
	from := owning(t, servers, key)
	to := servers[slices.IndexFunc(servers, func(s *redistest.Server) bool { return s != from })]
	from.Do("set", key, tokenA, "px", "60000")
	p := releasePlan(t, in, key)
	slot := from.Do("cluster", "keyslot", key)
	toID, fromID := to.Do("cluster", "myid"), from.Do("cluster", "myid")
	to.Do("cluster", "setslot", slot, "importing", fromID)
	from.Do("cluster", "setslot", slot, "migrating", toID)
	from.Do("migrate", to.Host, to.Port, key, 0, 5000)
	for _, s := range []*redistest.Server{to, from} {
		s.Do("cluster", "setslot", slot, "node", toID)
	}
	o := carryOut(t, in, p)
	expectOutcome(t, o, p, inspect.Released)
	if to.Do("exists", key) != int64(0) || o.Steps[0].Step.Node != to.Addr {
		t.Errorf("it is still there; sent to %s", o.Steps[0].Step.Node)
	}
}

// A lock on several masters is released on each, by a step of its own. Where
// somebody else has it on one of them by now, that is not hidden.
func TestReleaseOnSeveralMasters(t *testing.T) {
	masters := []*redistest.Server{redistest.Start(t), redistest.Start(t), redistest.Start(t)}
	var nodes []inspect.Node
	for _, s := range masters {
		nodes = append(nodes, inspect.Node{Addr: s.Addr, Client: client(t, s.Addr)})
	}
	in := inspect.New(nodes...)
	for _, c := range []struct {
		name string
		then func()
		want inspect.Word
	}{
		{"on all", func() {}, inspect.Released},
		{"it has gone from one", func() { masters[1].Do("del", "lock:a") }, inspect.Released},
		{"one has another's", func() { masters[1].Do("set", "lock:a", tokenB) }, inspect.Partial},
		{"the first has another's", func() { masters[0].Do("set", "lock:a", tokenB) }, inspect.Changed},
		{"one cannot be reached", func() { masters[2].Kill() }, inspect.Partial},
	} {
		var plans []inspect.Plan
		for i, s := range masters {
			s.Do("set", "lock:a", tokenA, "px", "60000")
			single := inspect.New(nodes[i])
			p, err := single.PlanRelease(one(t, single, "lock:a"), wire.Raw(tokenA))
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, p)
		}
		p := inspect.Join(plans...)
		if len(p.Steps) != 3 || len(p.Said) == 0 {
			t.Fatalf("%d steps, said %q", len(p.Steps), p.Said)
		}
		c.then()
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, c.want)
		for _, s := range masters[:2] {
			if got := s.Do("get", "lock:a"); got == tokenA && c.want != inspect.Changed {
				t.Errorf("%s: still held on %s", c.name, s.Addr)
			}
		}
	}
}
