package redistest

import (
	"bufio"
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// through returns a client that reaches the server through the proxy.
func through(t *testing.T, p *Proxy) *redis.Client {
	c := redis.NewClient(&redis.Options{
		Addr: p.Addr, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestProxyPassesEverything(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr)
	c := through(t, p)
	ctx := within(t, 10*time.Second)

	big := strings.Repeat("x\r\n", 1<<18)
	if err := c.Set(ctx, "big", big, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(ctx, "big").Result(); err != nil || got != big {
		t.Fatalf("a value of %d bytes came back as %d bytes, %v", len(big), len(got), err)
	}
	sub := c.Subscribe(ctx, "news")
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	c.Publish(ctx, "news", "hello")
	if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "hello" {
		t.Fatalf("message %v, %v", m, err)
	}
	if p.Seen("set") != 1 || p.Seen("get") != 1 {
		t.Errorf("seen SET %d, GET %d", p.Seen("set"), p.Seen("get"))
	}
}

func TestCutReplyRunsTheCommand(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr)
	c := through(t, p)
	ctx := within(t, 10*time.Second)
	c.Ping(ctx)

	p.CutReply(2, "INCR")
	for range 2 {
		if err := c.Incr(ctx, "n").Err(); err == nil {
			t.Error("a cut reply arrived")
		}
		if err := c.Ping(ctx).Err(); err != nil {
			t.Errorf("the fault hit another command: %v", err)
		}
	}
	if n, err := c.Incr(ctx, "n").Result(); err != nil || n != 3 {
		t.Errorf("third INCR = %d, %v; the first two should have run", n, err)
	}
}

func TestHeldRepliesComeLate(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr)
	c := through(t, p)
	ctx := within(t, 10*time.Second)
	c.Ping(ctx)

	p.HoldReplies()
	got := make(chan error, 1)
	go func() { got <- c.Set(ctx, "k", "v", 0).Err() }()
	s.Until("SET has run", func() bool { return s.Do("GET", "k") == "v" })
	select {
	case err := <-got:
		t.Fatalf("a held reply arrived (%v)", err)
	case <-time.After(50 * time.Millisecond):
	}
	p.ReleaseReplies()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

// A request of a client that has given up long ago still reaches the server:
// this is how a stale owner's command arrives after its lease.
func TestHeldRequestsOutliveTheirClient(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr)
	c := through(t, p)
	c.Ping(within(t, time.Second))

	p.HoldRequests()
	if err := c.Set(within(t, 50*time.Millisecond), "k", "late", 0).Err(); err == nil {
		t.Fatal("a held request was answered")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if s.Do("GET", "k") != nil {
		t.Fatal("a held request reached the server")
	}
	p.DeliverRequests()
	s.Until("the late SET has run", func() bool { return s.Do("GET", "k") == "late" })
	s.Until("the connection is gone", func() bool { return p.Connections() == 0 })
}

func TestDelays(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr)
	c := through(t, p)
	ctx := within(t, 10*time.Second)
	c.Ping(ctx)
	const d = 200 * time.Millisecond
	for name, set := range map[string]func(time.Duration){"requests": p.DelayRequests, "replies": p.DelayReplies} {
		set(d)
		start := time.Now()
		if err := c.Ping(ctx).Err(); err != nil || time.Since(start) < d {
			t.Errorf("%s: PING took %v, %v", name, time.Since(start), err)
		}
		start = time.Now()
		if _, err := c.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i := range 50 {
				pipe.Set(ctx, fmt.Sprint(i), i, 0)
			}
			return nil
		}); err != nil || time.Since(start) > 25*d {
			t.Errorf("%s: delays add up in a pipeline: %v, %v", name, time.Since(start), err)
		}
		p.Heal()
	}
}

func TestBlackHoleAndHeal(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr)
	c := through(t, p)
	p.BlackHole()
	if err := c.Ping(within(t, 50*time.Millisecond)).Err(); err == nil {
		t.Fatal("a black hole answered")
	}
	p.Heal()
	if err := c.Ping(within(t, 5*time.Second)).Err(); err != nil {
		t.Fatal(err)
	}
	p.CutAll()
	s.Until("all connections are cut", func() bool { return p.Connections() == 0 })
	if err := c.Ping(within(t, 5*time.Second)).Err(); err != nil {
		t.Fatalf("no new connection after CutAll: %v", err)
	}
}

// Faults change while many clients work; run with -race.
func TestProxyUnderLoad(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr)
	ctx := within(t, 20*time.Second)
	var clients sync.WaitGroup
	for i := range 8 {
		c := through(t, p)
		clients.Go(func() {
			for range Rounds(50, 1000) {
				_ = c.Incr(ctx, fmt.Sprint("n", i)).Err() // many fail, as they should
			}
		})
	}
	for range Rounds(20, 400) {
		p.CutReply(2)
		p.HoldReplies()
		p.CutAll()
		p.DelayRequests(time.Millisecond)
		p.Heal()
		time.Sleep(time.Millisecond)
	}
	clients.Wait()
	if err := through(t, p).Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestFrames(t *testing.T) {
	frames := []string{
		"+OK\r\n", ":1\r\n", "$-1\r\n", "*-1\r\n", "$0\r\n\r\n", "$4\r\na\r\nb\r\n", "_\r\n", "#t\r\n",
		"*2\r\n$1\r\na\r\n*1\r\n:7\r\n", "%1\r\n+a\r\n*0\r\n", ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n",
		"|1\r\n+ttl\r\n:1\r\n:5\r\n", "=5\r\ntxt:a\r\n", "~1\r\n,1.5\r\n", "PING\r\n",
	}
	r := bufio.NewReader(strings.NewReader(strings.Join(frames, "")))
	for _, want := range frames {
		if got, err := readFrame(r); err != nil || string(got) != want {
			t.Errorf("read %q, %v; want %q", got, err, want)
		}
	}
	words := argv([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n\r\nx\r\n"))
	if !reflect.DeepEqual(words, []string{"SET", "k", "\r\nx"}) {
		t.Errorf("argv = %q", words)
	}
}
