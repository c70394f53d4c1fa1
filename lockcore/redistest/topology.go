package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const slots = 16384 // of every Redis Cluster

// StartReplica starts a replica of a server and waits until it is linked.
func StartReplica(t testing.TB, of *Server, args ...string) *Server {
	t.Helper()
	own := []string{"--replicaof", of.Host, strconv.Itoa(of.Port)}
	if of.pass != "" {
		own = append(own, "--masterauth", of.pass)
	}
	s := Start(t, append(own, args...)...)
	s.Until("the replica is linked", func() bool {
		return strings.Contains(s.info("replication"), "master_link_status:up")
	})
	return s
}

// StartCluster starts a Cluster of so many masters, without replicas, and
// waits until every one of them says that all is well. The slots are dealt in
// equal ranges, in the order of the servers.
func StartCluster(t testing.TB, masters int, args ...string) []*Server {
	t.Helper()
	nodes := make([]*Server, masters)
	for i := range nodes {
		nodes[i] = Start(t, append([]string{
			"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
			"--cluster-node-timeout", "2000",
		}, args...)...)
		from, to := i*slots/masters, (i+1)*slots/masters-1
		nodes[i].Do("CLUSTER", "SET-CONFIG-EPOCH", i+1)
		nodes[i].Do("CLUSTER", "ADDSLOTSRANGE", from, to)
	}
	for _, n := range nodes[1:] {
		nodes[0].Do("CLUSTER", "MEET", n.Host, n.Port)
	}
	known := fmt.Sprintf("cluster_known_nodes:%d\r\n", masters)
	for _, n := range nodes {
		n.Until("the Cluster agrees", func() bool {
			state, _ := n.Do("CLUSTER", "INFO").(string)
			return strings.Contains(state, "cluster_state:ok") && strings.Contains(state, known)
		})
	}
	return nodes
}

// StartSentinel starts a Sentinel, alone in its quorum, that watches master
// under this name. lines are added to its configuration file, as
// "requirepass secret".
func StartSentinel(t testing.TB, master *Server, name string, lines ...string) *Server {
	t.Helper()
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	s := start(t, nil, func(port int) []string {
		text := []string{
			"port " + strconv.Itoa(port), "bind 127.0.0.1", "dir " + filepath.Dir(conf),
			fmt.Sprintf("sentinel monitor %s %s %d 1", name, master.Host, master.Port),
			"sentinel down-after-milliseconds " + name + " 1000",
			"sentinel failover-timeout " + name + " 3000",
		}
		if master.pass != "" {
			text = append(text, "sentinel auth-pass "+name+" "+master.pass)
		}
		text = append(text, lines...)
		if err := os.WriteFile(conf, []byte(strings.Join(text, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{conf, "--sentinel"}
	})
	for _, line := range lines {
		if pass, ok := strings.CutPrefix(line, "requirepass "); ok {
			s.pass = pass
		}
	}
	s.Until("the Sentinel sees its master", func() bool {
		v, _ := s.Try("SENTINEL", "MASTER", name)
		facts, _ := v.(map[any]any)
		return facts["flags"] == "master" // and nothing like "s_down"
	})
	return s
}

// Until waits until cond holds, and fails the test when that takes too long.
// what says what was waited for.
func (s *Server) Until(what string, cond func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(startWithin); time.Now().Before(deadline); {
		if cond() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("redistest: waited %v in vain until %s\n%s", startWithin, what, s.log())
}

func (s *Server) info(section string) string {
	s.t.Helper()
	text, _ := s.Do("INFO", section).(string)
	return text
}
