package oneshot_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/oneshot"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// A cut reply must come back as an error of the connection, with the command
// run once: the plain client, with its defaults, runs it again.
func TestSendRunsOnceWhenTheReplyIsCut(t *testing.T) {
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr)
	c := redis.NewClient(&redis.Options{Addr: proxy.Addr, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := c.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	count := func() any { return s.Do("get", "n") }

	proxy.CutReply(1, "incr")
	if err := c.Incr(ctx, "n").Err(); err != nil {
		t.Fatalf("the client's own retry was to hide the cut: %v", err)
	}
	if count() != "2" {
		t.Fatalf("a plain INCR ran %v times; this test shows nothing if that is not 2", count())
	}
	proxy.Heal()
	proxy.CutReply(1, "incr")
	if _, err := oneshot.Send(ctx, c, wire.Command("INCR", "n")); err == nil {
		t.Error("Send hid a lost reply")
	}
	if count() != "3" {
		t.Errorf("Send ran the command %v times, not once", count())
	}
}

func TestSendFallsBackToTheTextOfAScript(t *testing.T) {
	s := redistest.Start(t)
	script := wire.NewScript("echo", "return {KEYS[1], ARGV[1]}")
	for _, state := range []string{"unknown", "known", "flushed"} {
		if state == "flushed" {
			s.Do("script", "flush")
		}
		got, err := oneshot.Send(t.Context(), s.Client(), script.Call([]string{"k"}, "a"))
		list, _ := got.([]any)
		if err != nil || len(list) != 2 || list[0] != "k" || list[1] != "a" {
			t.Errorf("%s: got %v, %v", state, got, err)
		}
	}
}
