package target

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

func TestOpenReplica(t *testing.T) {
	m := redistest.Start(t)
	r := redistest.StartReplica(t, m)
	tg, err := Open(t.Context(), on(r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	if tg.Info.Role != Replica || len(tg.Warnings) != 1 || !strings.Contains(tg.Warnings[0], "replica") {
		t.Errorf("role %q, warnings %q", tg.Info.Role, tg.Warnings)
	}
}

func TestOpenThroughSentinels(t *testing.T) {
	m := redistest.Start(t, "--requirepass", "data")
	r := redistest.StartReplica(t, m, "--requirepass", "data")
	s := redistest.StartSentinel(t, m, "orders", "requirepass watch")
	o := Options{
		Addrs: []string{"127.0.0.1:" + fmt.Sprint(redistest.FreePort(t)), s.Addr}, SentinelMaster: "orders",
		SentinelPassword: "watch", Password: secret("data"), Timeout: 5 * time.Second,
	}
	tg := mustOpen(t, o)
	if tg.Info.Mode != Sentinel || tg.Addr() != m.Addr || tg.Info.Role != Master {
		t.Errorf("addr %s, info %+v", tg.Addr(), tg.Info)
	}
	bad := o
	bad.SentinelMaster = "order"
	refusedWith(t, bad) // the first Sentinel is not there
	bad.Addrs = bad.Addrs[1:]
	refusedWith(t, bad, "no master of this name", "it watches: orders")
	bad = o
	bad.Addrs, bad.SentinelPassword = bad.Addrs[1:], "s3cret"
	if ce := refusalOf(t, bad); !ce.Auth || strings.Contains(ce.Error(), "s3cr") {
		t.Errorf("%v", ce)
	}
	bad.SentinelPassword = ""
	refusedWith(t, bad, "FENCEPOST_SENTINEL_AUTH")
	bad = o
	bad.Addrs = []string{m.Addr}
	bad.SentinelPassword = "data"
	refusedWith(t, bad, "not a Sentinel")
	// a Sentinel given as a server
	wrong := on(s)
	wrong.Password = secret("watch")
	refusedWith(t, wrong, "this is a Sentinel", "--sentinel-master orders")

	s.Until("the Sentinel finds the replica good enough", func() bool {
		_, err := s.Try("SENTINEL", "FAILOVER", "orders")
		return err == nil
	})
	s.Until("the client follows the failover", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return tg.Client.Set(ctx, "k", "after", 0).Err() == nil && tg.Addr() == r.Addr
	})
	if got := r.Do("GET", "k"); got != "after" {
		t.Errorf("on the new master: %v", got)
	}
}

func TestOpenCluster(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	tg := mustOpen(t, on(nodes[1]))
	if tg.Info.Mode != Cluster || tg.Info.Nodes != 3 {
		t.Errorf("info = %+v", tg.Info)
	}
	for i := range 20 {
		if err := tg.Client.Set(t.Context(), fmt.Sprint("k", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	masters, err := tg.Masters(t.Context())
	if err != nil || len(masters) != 3 {
		t.Fatalf("masters = %v, %v", masters, err)
	}
	var sum int64
	for i, n := range masters {
		sum += n.Client.DBSize(t.Context()).Val()
		if i > 0 && masters[i-1].Addr >= n.Addr {
			t.Error("masters are not in order")
		}
	}
	if sum != 21 {
		t.Errorf("%d keys on all nodes, want 21", sum)
	}

	one := on(nodes[0])
	one.Single = true
	single, err := Open(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = single.Close() })
	if _, ok := single.Client.(*redis.Client); !ok || single.Info.Mode != Cluster || single.Info.Nodes != 3 {
		t.Errorf("--single: %T, info %+v", single.Client, single.Info)
	}
	replicaNamesItsCluster(t, nodes)
	db := on(nodes[0])
	db.DB = new(1)
	refusedWith(t, db, "only database 0")

	plain := on(redistest.Start(t))
	plain.Cluster = true
	refusedWith(t, plain, "not a Cluster")
	seeds := Options{Addrs: []string{"127.0.0.1:1", nodes[2].Addr}, Timeout: 5 * time.Second}
	mustOpen(t, seeds)

	// a user that may not look at the Cluster's layout by INFO
	for _, n := range nodes {
		n.Do("ACL", "SETUSER", "op", "on", ">pw", "~*", "+@all", "-@dangerous", "+cluster|slots", "+cluster|shards", "-command")
	}
	o := on(nodes[0])
	o.User, o.Password = "op", secret("pw")
	if tg := mustOpen(t, o); tg.Info.Mode != Cluster || tg.Info.Nodes != 3 {
		t.Errorf("info = %+v", tg.Info)
	}
}

// replicaNamesItsCluster opens a Cluster by one of its replicas: what is shown
// is the masters', and they take changes. With --single it is the replica's.
func replicaNamesItsCluster(t *testing.T, nodes []*redistest.Server) {
	t.Helper()
	r := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "2000")
	r.Do("CLUSTER", "MEET", nodes[0].Host, nodes[0].Port)
	r.Until("it follows a master", func() bool {
		answer, err := r.Try("CLUSTER", "REPLICATE", nodes[0].Do("CLUSTER", "MYID"))
		return err == nil && answer == "OK"
	})
	r.Until("it knows the Cluster", func() bool {
		state, _ := r.Do("CLUSTER", "INFO").(string)
		return strings.Contains(state, "cluster_state:ok") && strings.Contains(r.Do("INFO", "replication").(string), "master_link_status:up")
	})
	whole := mustOpen(t, on(r))
	if whole.Info.Mode != Cluster || whole.Info.Role != Master || len(whole.Warnings) > 0 {
		t.Errorf("by a replica: %s %s, warned of %q", whole.Info.Mode, whole.Info.Role, whole.Warnings)
	}
	one := on(r)
	one.Single = true
	single, err := Open(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = single.Close() })
	if single.Info.Role != Replica || len(single.Warnings) != 1 {
		t.Errorf("the replica alone: %s, warned of %q", single.Info.Role, single.Warnings)
	}
}
