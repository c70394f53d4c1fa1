package inspect

import (
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// Channels know no database, so lockcore puts its number into their names: who
// waits in database 3 listens there, is counted there, and is woken there.
func TestOwnLockOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	const key, value, channel = "lock:{orders}", "bq1TnEJm0zYw2xkR9sVfQA:34:since=2026-11-30T07:39:00.000Z host=web-1 pid=4242", "lock:{orders}:wake:3"
	s := redistest.Start(t)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, DB: 3})
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Set(t.Context(), key, value, 0).Err(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		waiter := c.Subscribe(t.Context(), channel)
		t.Cleanup(func() { _ = waiter.Close() })
		if _, err := waiter.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	in := New(Node{Addr: s.Addr, DB: 3, Client: c})
	locks, err := in.Look(t.Context(), 3, key)
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	if w := locks[0].Waiters; w == nil || w.Count != 2 || w.How != "pubsub" {
		t.Errorf("two wait, and it says %+v", w)
	}
	ears := s.Listen()
	carriedOut(t, in, Released)(in.PlanRelease(locks[0]))
	if heard := ears.Heard(); !slices.Contains(heard, redistest.Message{Channel: channel, Payload: "free"}) {
		t.Errorf("told: %v", heard)
	}
}
