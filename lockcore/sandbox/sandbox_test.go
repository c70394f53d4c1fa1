package sandbox

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
)

// open starts a sandbox in the test's bubble and returns a client of it.
func open(t *testing.T, opts Options) (*Sandbox, *actor) {
	t.Helper()
	s, err := Start(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.actor("test")
	if err != nil {
		t.Fatal(err)
	}
	return s, a
}

func (a *actor) must(t *testing.T, args ...string) any {
	t.Helper()
	reply, err := a.do(args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return reply
}

func (a *actor) pttl(t *testing.T, key string) time.Duration {
	t.Helper()
	return time.Duration(a.must(t, "PTTL", key).(int)) * time.Millisecond
}

func TestEveryDemoIsThereAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := open(t, Options{Seed: 1})
		defer s.Close()
		for _, d := range s.Demos() {
			if a.must(t, "EXISTS", d.Key) != 1 {
				t.Errorf("%s is not there when the sandbox has started", d.Key)
			}
			if s.Says(d.Key) == "" {
				t.Errorf("%s is not explained", d.Key)
			}
		}
		if n := a.must(t, "DBSIZE").(int); n > 100 {
			t.Errorf("%d keys: the sandbox must stay small", n)
		}
	})
}

// A watchdog keeps its lock between 20 and 30 s for as long as it works.
func TestRedissonIsRenewedAndHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := open(t, Options{Seed: 1})
		defer s.Close()
		time.Sleep(time.Second)
		first := a.must(t, "HKEYS", "order:4711").([]any)[0]
		for range 43 {
			if left := a.pttl(t, "order:4711"); left < 19*time.Second || left > 30*time.Second {
				t.Fatalf("the watchdog let it run to %s", left)
			}
			time.Sleep(time.Second)
		}
		if subs := a.must(t, "PUBSUB", "NUMSUB", "redisson_lock__channel:{order:4711}").([]any); subs[1] != 2 {
			t.Errorf("%v listen for the lock, want the two instances that wait", subs[1])
		}
		time.Sleep(3 * time.Second)
		if now := a.must(t, "HKEYS", "order:4711").([]any); len(now) != 1 || now[0] == first {
			t.Errorf("after 45 s of work it is still held by %v", now)
		}
	})
}

func TestFencingTokenGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := open(t, Options{Seed: 1})
		defer s.Close()
		time.Sleep(time.Second)
		before := a.must(t, "GET", "redisson_lock_token:{payments:settle}")
		time.Sleep(15 * time.Second)
		if after := a.must(t, "GET", "redisson_lock_token:{payments:settle}"); before != "1" || after != "2" {
			t.Errorf("token %v, then %v, want 1 and 2", before, after)
		}
	})
}

// A fair lock goes to the first in its queue, not to whoever asks first.
func TestFairQueueIsServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := open(t, Options{Seed: 1})
		defer s.Close()
		for range 4 {
			time.Sleep(5 * time.Second)
			queue := a.must(t, "LRANGE", "redisson_lock_queue:{stock:sku-77}", "0", "-1").([]any)
			if len(queue) != 2 {
				t.Fatalf("%d wait, want 2", len(queue))
			}
			time.Sleep(11 * time.Second)
			if got := a.must(t, "HKEYS", "stock:sku-77").([]any); got[0] != queue[0] {
				t.Fatalf("%v has it, %v was first", got[0], queue[0])
			}
		}
	})
}

// A lock that nobody renews is gone at its deadline, and then another has it.
func TestRedsyncRunsDownAndIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := open(t, Options{Seed: 1})
		defer s.Close()
		time.Sleep(7 * time.Second)
		first := a.must(t, "GET", "invoice:2024-11")
		if left := a.pttl(t, "invoice:2024-11"); left > 2*time.Second {
			t.Errorf("%s left after 7 s of 8", left)
		}
		time.Sleep(2 * time.Second)
		if now := a.must(t, "GET", "invoice:2024-11"); now == nil || now == first {
			t.Errorf("a second after the deadline it holds %v", now)
		}
	})
}

// Whoever releases by hand must see what the library's waiters and holders do.
func TestDemosReactToARelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := open(t, Options{Seed: 1})
		defer s.Close()
		time.Sleep(time.Second)
		holder := a.must(t, "HKEYS", "order:4711").([]any)[0].(string)
		a.run(scriptRedissonDrop, []string{"order:4711"}, holder, "redisson_lock__channel:{order:4711}")
		time.Sleep(100 * time.Millisecond)
		if now := a.must(t, "HKEYS", "order:4711").([]any); len(now) != 1 || now[0] == holder {
			t.Errorf("a tenth of a second after a release that tells the waiters it is held by %v", now)
		}
		token := a.must(t, "GET", "lock:import-customers").(string)
		a.run(scriptSignalDrop, []string{"lock:import-customers", "lock-signal:import-customers"}, token)
		time.Sleep(100 * time.Millisecond)
		if now := a.must(t, "GET", "lock:import-customers"); now == nil || now == token {
			t.Errorf("the blocked client was not woken: %v", now)
		}
	})
}

func TestSameSeedSameIDs(t *testing.T) {
	ids := func(seed uint64) (got string) {
		synctest.Test(t, func(t *testing.T) {
			s, a := open(t, Options{Seed: seed})
			defer s.Close()
			time.Sleep(time.Second)
			got = a.must(t, "GET", "invoice:2024-11").(string) + a.must(t, "GET", "lock:import-customers").(string)
		})
		return got
	}
	if a, b, c := ids(7), ids(7), ids(8); a != b || a == c {
		t.Errorf("seeds 7, 7, 8 gave %s, %s, %s", a, b, c)
	}
}

func TestUUID1IsReadableByPython(t *testing.T) {
	at := time.Date(2026, 11, 30, 7, 33, 58, 123_000_000, time.UTC)
	got := uuid1(at, [6]byte{2, 0x42, 0xac, 0x11, 0, 7}, 0x1234)
	// python3 -c 'import uuid; u=uuid.UUID(hex="…"); print((u.time-0x01b21dd213814000)/1e7, u.version, "%012x" % u.node)'
	if got != "67823bb0ec9011f192340242ac110007" {
		t.Errorf("uuid1 = %s", got)
	}
}

func TestListenKeepsToLoopback(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:6379", "[::]:0"} {
		if s, err := Start(t.Context(), Options{Listen: addr, Empty: true}); !errors.Is(err, ErrNotLoopback) {
			if s != nil {
				s.Close()
			}
			t.Errorf("listening on %s: %v", addr, err)
		}
	}
	s, err := Start(t.Context(), Options{Listen: "127.0.0.1:0", Empty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := proto.Dial(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if pong, err := c.Do("PING"); err != nil || pong != "+PONG\r\n" {
		t.Errorf("PING answered %q, %v", pong, err)
	}
}

func TestCrashIsReportedNotFatal(t *testing.T) {
	told := make(chan any, 1)
	s, err := Start(t.Context(), Options{Empty: true, Crash: func(v any, stack []byte) {
		if len(stack) == 0 {
			t.Error("no stack")
		}
		told <- v
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.spawn(func() { panic("a demo is broken") })
	if v := <-told; v != "a demo is broken" {
		t.Errorf("told %v", v)
	}
	s.Close()
}

// An interactive redis-cli 7 asks COMMAND DOCS and aborts when the answer has
// another form than it expects.
func TestInteractiveRedisCli(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("no redis-cli here")
	}
	s, err := Start(t.Context(), Options{Listen: "127.0.0.1:0", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Addr())
	for _, flag := range []string{"-2", "-3"} {
		cmd := exec.CommandContext(t.Context(), cli, flag, "-p", port)
		cmd.Stdin = strings.NewReader("GET lock:report\nINFO keyspace\nCONFIG GET maxmemory*\nCLIENT LIST\nROLE\nACL WHOAMI\nOBJECT HELP\n")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("redis-cli %s: %v\n%s", flag, err, out)
		}
		for _, want := range []string{"1", "db0:keys=", "noeviction", "name=order-1", "master", "default"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("redis-cli %s: no %q in\n%s", flag, want, out)
			}
		}
	}
}

// A script holds miniredis' lock: what it asks must not wait for that lock.
func TestShimInsideAScriptDoesNotDeadlock(t *testing.T) {
	s, a := open(t, Options{Empty: true})
	defer s.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.do("EVAL", "return redis.call('INFO', 'keyspace')", "0")
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("INFO inside a script hangs")
	}
}

// A pipeline that is longer than any buffer between the two ends comes through: a
// client that writes on and a server that answers must not wait for each other.
func TestLongPipelineComesThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, Options{Empty: true})
		defer s.Close()
		conn, err := s.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		const many = 5000
		for range many {
			if _, err := conn.Write([]byte("*2\r\n$4\r\nECHO\r\n$6\r\nabcdef\r\n")); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, many*len("$6\r\nabcdef\r\n"))
		if _, err := io.ReadFull(conn, got); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("x")); err == nil {
			t.Error("a closed connection takes more")
		}
	})
}
