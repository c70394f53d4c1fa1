package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

func readOnly(t *testing.T, s *redistest.Server) *Target {
	t.Helper()
	o := on(s)
	o.ReadOnly = true
	return mustOpen(t, o)
}

// Every command that the server has is either named as one that reads, or is
// refused before it is sent.
func TestReadOnlyRefusesAllOtherCommands(t *testing.T) {
	s := redistest.Start(t)
	tg := readOnly(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	names, _ := s.Do("COMMAND", "LIST").([]any)
	if len(names) < 200 {
		t.Fatalf("the server names only %d commands", len(names))
	}
	s.Do("CONFIG", "RESETSTAT")
	refused := 0
	for _, n := range names {
		name, sub, _ := strings.Cut(fmt.Sprint(n), "|")
		if reads(name, sub) {
			continue
		}
		if sub == "" && hasReader(name) {
			sub = "no-such-subcommand"
		}
		refused++
		args := []any{name, sub, "x", "y"}
		if err := tg.Client.Do(ctx, args...).Err(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%v: %v, want ErrReadOnly", n, err)
		}
		both := func(p redis.Pipeliner) error {
			p.Get(ctx, "k")
			p.Do(ctx, args...)
			return nil
		}
		if _, err := tg.Client.Pipelined(ctx, both); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%v in a pipeline: %v", n, err)
		}
		if _, err := tg.Client.TxPipelined(ctx, both); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%v in a transaction: %v", n, err)
		}
	}
	if refused < 150 {
		t.Errorf("only %d commands were tried", refused)
	}
	stats, _ := s.Do("INFO", "commandstats").(string)
	for line := range strings.Lines(stats) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		name, sub, _ := strings.Cut(name, "|")
		if strings.HasPrefix(line, "cmdstat_") && !reads(name, sub) && name != "config" { // RESETSTAT was ours
			t.Errorf("%s reached the server", strings.TrimSpace(line))
		}
	}
}

// hasReader reports whether any subcommand of a command may pass.
func hasReader(name string) bool {
	for r := range readers {
		if first, _, _ := strings.Cut(r, "|"); strings.EqualFold(first, name) {
			return true
		}
	}
	return false
}

// Commands whose subcommands differ: some read, some change the server.
func TestReadOnlyRefusesBySubcommand(t *testing.T) {
	s := redistest.Start(t)
	tg := readOnly(t, s)
	ctx := t.Context()
	for _, line := range []string{
		"CONFIG SET maxmemory 1", "config rewrite", "CONFIG RESETSTAT", "CLIENT KILL TYPE normal", "CLIENT PAUSE 1000", "CLIENT UNBLOCK 1",
		"CLIENT NO-EVICT ON", "CLIENT REPLY OFF", "ACL SETUSER x on", "ACL DELUSER x", "ACL LOG RESET", "SCRIPT FLUSH", "SCRIPT LOAD x", "SCRIPT KILL",
		"OBJECT", "MEMORY PURGE", "SLOWLOG RESET", "LATENCY RESET", "CLUSTER FAILOVER", "CLUSTER RESET", "EVAL return 0", "EVALSHA x 0", "FCALL f 0",
		"FUNCTION DELETE x", "MODULE LOAD x", "PUBLISH c m", "SPUBLISH c m", "GETDEL k", "GETEX k", "SORT k STORE x", "DEBUG SLEEP 0", "SHUTDOWN", "RESET",
		"MONITOR", "SWAPDB 0 1", "REPLICAOF NO ONE", "WAIT 1 1", "EXPIRE k 1", "TOUCH k", "SET k v", "set k v", "SeT k v", "nonsense",
	} {
		words := strings.Fields(line)
		args := make([]any, len(words))
		for i, w := range words {
			args[i] = w
		}
		if err := tg.Client.Do(ctx, args...).Err(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if err := tg.Client.Get(ctx, "k").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("after refusals a GET fails: %v", err)
	}
}

// Subscriptions do not pass a client's hooks; the gate in the connection sees
// them, and whatever else is written there.
func TestReadOnlySubscribes(t *testing.T) {
	s := redistest.Start(t)
	tg := readOnly(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	sub := tg.Client.Subscribe(ctx, "news")
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	s.Do("PUBLISH", "news", "hello")
	if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "hello" {
		t.Errorf("%v, %v", m, err)
	}
}

func TestReadOnlyThroughSentinelsAndInAcluster(t *testing.T) {
	m := redistest.Start(t)
	s := redistest.StartSentinel(t, m, "orders")
	nodes := redistest.StartCluster(t, 3)
	for name, o := range map[string]Options{
		"sentinel": {Addrs: []string{s.Addr}, SentinelMaster: "orders", ReadOnly: true},
		"cluster":  {Addrs: []string{nodes[0].Addr}, ReadOnly: true},
	} {
		tg := mustOpen(t, o)
		if err := tg.Client.Set(t.Context(), "k", "v", 0).Err(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: SET: %v", name, err)
		}
		if err := tg.Client.Get(t.Context(), "k").Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("%s: GET: %v", name, err)
		}
		masters, err := tg.Masters(t.Context())
		if err != nil || len(masters) == 0 {
			t.Fatalf("%s: %v, %v", name, masters, err)
		}
		for _, n := range masters {
			if err := n.Client.FlushAll(t.Context()).Err(); !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s: FLUSHALL on a node: %v", name, err)
			}
		}
	}
}

// record is a connection that keeps what is written to it.
type record struct {
	net.Conn
	sent []byte
}

func (r *record) Write(p []byte) (int, error) { r.sent = append(r.sent, p...); return len(p), nil }

func TestGateInTheConnection(t *testing.T) {
	get := "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
	set := "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n"
	info := "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$6\r\n*1\r\nSE\r\n" // an argument that looks like a command
	for _, tc := range []struct {
		written []string
		sent    string
		fails   bool
	}{
		{[]string{get}, get, false},
		{[]string{get + info + get}, get + info + get, false},
		{strings.SplitAfter(get+info, ""), get + info, false}, // byte by byte
		{[]string{get[:7], get[7:]}, get, false},
		{[]string{get[:7]}, "", false},
		{[]string{set}, "", true},
		{[]string{get + set}, "", true},
		{[]string{get, set[:5], set[5:]}, get, true},
		{[]string{"SET k v\r\n"}, "", true}, // inline
		{[]string{"GET k\r\n"}, "", true},
		{[]string{"*-1\r\n"}, "", true},
		{[]string{"*0\r\n" + set}, "", true},
		{[]string{"*1\r\n:3\r\n"}, "", true},
		{[]string{"*99999999999999999999"}, "", true},
		{[]string{"*2\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n"}, "", true},
	} {
		r := &record{}
		g := gated(r)
		var failed bool
		for _, w := range tc.written {
			if _, err := g.Write([]byte(w)); err != nil {
				failed = true
				break
			}
		}
		if string(r.sent) != tc.sent || failed != tc.fails {
			t.Errorf("%q: sent %q, failed %v", tc.written, r.sent, failed)
		}
	}
}

// Whatever is written, and in whatever pieces: only whole reading commands are
// sent.
func FuzzGate(f *testing.F) {
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n"), 5)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		r := &record{}
		g := gated(r)
		cut = min(max(cut, 0), len(data))
		if _, err := g.Write(data[:cut]); err == nil {
			_, _ = g.Write(data[cut:]) // what counts is what was sent
		}
		for rest := r.sent; len(rest) > 0; {
			name, first, n, err := command(rest)
			if err != nil || n == 0 || !reads(name, first) {
				t.Fatalf("%q: sent %q", data, r.sent)
			}
			rest = rest[n:]
		}
	})
}
