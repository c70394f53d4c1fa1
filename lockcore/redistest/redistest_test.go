package redistest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestServerLivesAndDies(t *testing.T) {
	s := Start(t)
	s.Do("SET", "k", "v")
	if got := s.Do("GET", "k"); got != "v" {
		t.Fatalf("GET k = %v", got)
	}
	if got := s.Do("GET", "missing"); got != nil {
		t.Fatalf("GET missing = %v, want nil", got)
	}
	pid := s.Pid()
	s.Kill()
	if _, err := net.DialTimeout("tcp", s.Addr, time.Second); err == nil {
		t.Fatal("a killed server still accepts")
	}
	s.Restart()
	if s.Pid() == pid || s.Do("GET", "k") != nil {
		t.Fatal("after a restart: the same process, or its data")
	}
	s.Stop()
	s.Restart()
	s.Restart() // stops it by itself
	s.Do("PING")
}

func TestPauseStopsAnswers(t *testing.T) {
	s := Start(t)
	c := s.Client()
	ctx := t.Context()
	s.Pause()
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := c.Ping(short).Err(); err == nil {
		t.Fatal("a paused server answered")
	}
	s.Resume()
	if err := c.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestPasswordOfTheServerIsUsed(t *testing.T) {
	s := Start(t, "--requirepass", "secret")
	if got := s.Do("ACL", "WHOAMI"); got != "default" {
		t.Fatalf("ACL WHOAMI = %v", got)
	}
}

func TestReplicaFollows(t *testing.T) {
	m := Start(t, "--requirepass", "secret")
	r := StartReplica(t, m, "--requirepass", "secret")
	m.Do("SET", "k", "v")
	m.Do("WAIT", 1, 5000)
	if got := r.Do("GET", "k"); got != "v" {
		t.Fatalf("on the replica: %v", got)
	}
	if _, err := r.Try("SET", "k", "w"); err == nil {
		t.Fatal("a replica took a write")
	}
}

func TestClusterServesAllSlots(t *testing.T) {
	nodes := StartCluster(t, 3)
	addrs := make([]string, len(nodes))
	for i, n := range nodes {
		addrs[i] = n.Addr
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	defer c.Close()
	for i := range 100 {
		if err := c.Set(t.Context(), fmt.Sprint("k", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range nodes {
		if n.Do("DBSIZE") == int64(0) {
			t.Errorf("node %s holds no key", n.Addr)
		}
	}
}

func TestSentinelNamesTheMaster(t *testing.T) {
	m := Start(t)
	StartReplica(t, m)
	s := StartSentinel(t, m, "mymaster", "requirepass sentinel-secret")
	addr := fmt.Sprint(s.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"))
	if addr != fmt.Sprintf("[127.0.0.1 %d]", m.Port) {
		t.Fatalf("the Sentinel names %s as master, not %s", addr, m.Addr)
	}
}

func TestTLSAsksForACertificate(t *testing.T) {
	s, certs := StartTLS(t)
	s.Do("SET", "k", "v")
	for _, file := range []string{certs.CA, certs.Cert, certs.Key} {
		if file == "" {
			t.Fatalf("certs = %+v", certs)
		}
	}
	plain := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	defer plain.Close()
	if err := plain.Ping(t.Context()).Err(); err == nil {
		t.Fatal("a TLS server answered plain text")
	}
}

func TestPopulate(t *testing.T) {
	for _, args := range [][]string{nil, {"--enable-debug-command", "yes"}} {
		s := Start(t, args...)
		Populate(t, s.Client(), 12_345, "user", 32)
		if n := s.Do("DBSIZE"); n != int64(12_345) {
			t.Errorf("%v: DBSIZE = %v", args, n)
		}
		got, _ := s.Do("GET", "user:12344").(string)
		if len(got) != 32 || !strings.HasPrefix(got, "value:12344") {
			t.Errorf("%v: user:12344 = %q", args, got)
		}
	}
}

// outcome records how a test would have ended.
type outcome struct {
	testing.TB
	skipped, failed bool
}

func (o *outcome) Helper()      {}
func (o *outcome) Skip(...any)  { o.skipped = true }
func (o *outcome) Fatal(...any) { o.failed = true }

func TestNeedSkipsUnlessRequired(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("FENCEPOST_REDIS", "")
	var o outcome
	Need(&o)
	if !o.skipped || o.failed {
		t.Errorf("without a server: skipped %v, failed %v", o.skipped, o.failed)
	}
	t.Setenv("FENCEPOST_REDIS", "required")
	o = outcome{}
	Need(&o)
	if !o.failed {
		t.Error("required, and no failure")
	}
}

func TestRounds(t *testing.T) {
	t.Setenv("FENCEPOST_LONG", "")
	if Rounds(1, 2) != 1 {
		t.Error("short run is not short")
	}
	t.Setenv("FENCEPOST_LONG", "1")
	if Rounds(1, 2) != 2 {
		t.Error("long run is not long")
	}
}
