package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// client is one as a target makes it: it sends once, and keeps to deadlines.
func client(t testing.TB, addr string, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	o := &redis.Options{
		Addr: addr, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, PipelinePoolSize: -1, PoolSize: 4,
		DialTimeout: 2 * time.Second, ReadTimeout: 2 * time.Second, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	for _, f := range change {
		f(o)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// at is an inspector of one server.
func at(t testing.TB, addr string, change ...func(*redis.Options)) *inspect.Inspector {
	t.Helper()
	return inspect.New(inspect.Node{Addr: addr, Client: client(t, addr, change...)})
}

// as logs in as another user.
func as(user string) func(*redis.Options) {
	return func(o *redis.Options) { o.Username, o.Password = user, "pw" }
}

// user makes a user with these rules.
func user(s *redistest.Server, name string, rules ...any) {
	s.Do(append([]any{"ACL", "SETUSER", name, "reset", "on", ">pw"}, rules...)...)
}

// one looks at a key that holds one lock.
func one(t testing.TB, in *inspect.Inspector, key string) inspect.Lock {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	locks, err := in.Look(ctx, 0, key)
	if err != nil || len(locks) != 1 {
		t.Fatalf("looking at %q: %d locks, %v", key, len(locks), err)
	}
	return locks[0]
}

// releasePlan is a plan to release all of it, as seen now.
func releasePlan(t testing.TB, in *inspect.Inspector, key string, holders ...wire.Raw) inspect.Plan {
	t.Helper()
	p, err := in.PlanRelease(one(t, in, key), holders...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func carryOut(t testing.TB, in *inspect.Inspector, p inspect.Plan) inspect.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return in.Run(ctx, p)
}

// give sends commands written as one would type them; the words hold no blanks.
func give(s *redistest.Server, lines ...string) {
	for _, line := range lines {
		var args []any
		for _, w := range strings.Fields(line) {
			args = append(args, w)
		}
		s.Do(args...)
	}
}

const (
	threadA = "6e3d30b7-83b1-433a-9335-5e8b9916d3ac:42"
	threadB = "6e3d30b7-83b1-433a-9335-5e8b9916d3ac:43"
	tokenA  = "uuwXUfc+QzqZ5tab/h20Eg==" // as redsync makes them
	tokenB  = "Zm9vYmFyYmF6cXV4MTIzNA=="
)

// expectOutcome compares the word of an outcome, and shows all of it otherwise.
func expectOutcome(t testing.TB, o inspect.Outcome, p inspect.Plan, want inspect.Word) {
	t.Helper()
	if o.Word != want {
		t.Errorf("got %s %s, want %s", o.Word, o.Detail(&p), want)
	}
}

func token(n int) string { return fmt.Sprintf("%020dAAQ==", n)[:21] + "Q==" }
