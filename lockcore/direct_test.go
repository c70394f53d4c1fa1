package lockcore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// Who cannot leave a command runs it itself, where the client ends it in time.
func TestOnWhoseGoroutine(t *testing.T) {
	s := redistest.Start(t)
	live, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		name    string
		options redis.Options
		ttl     time.Duration
		ctx     context.Context
		workers int
	}{
		{"by itself", redis.Options{}, time.Minute, context.Background(), 0},
		{"who may leave", redis.Options{}, time.Minute, live, 1},
		{"the client takes longer", redis.Options{}, 8 * time.Second, context.Background(), 1},
		{"the client takes less", redis.Options{ReadTimeout: time.Second, WriteTimeout: time.Second / 2}, 8 * time.Second, context.Background(), 0},
		{"the client waits for ever", redis.Options{ReadTimeout: -1}, time.Minute, context.Background(), 1},
		{"the client heeds deadlines", redis.Options{ReadTimeout: -1, ContextTimeoutEnabled: true}, 8 * time.Second, context.Background(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Addr = s.Addr
			rdb := redis.NewClient(&c.options)
			defer rdb.Close()
			l, err := New(rdb, WithTTL(c.ttl))
			if err != nil {
				t.Fatal(err)
			}
			lease, err := l.TryAcquire(c.ctx, "goroutine")
			if err != nil {
				t.Fatal(err)
			}
			if err := lease.Release(c.ctx); err != nil {
				t.Fatal(err)
			}
			if got := len(l.send.workers.idle); got != c.workers {
				t.Errorf("%d workers, want %d", got, c.workers)
			}
		})
	}
}

// A Release on its caller's goroutine ends in time as well, whether there is no
// connection to be had or no answer, and goes on where it was when tried again.
func TestDirectReleaseEndsInTime(t *testing.T) {
	t.Parallel()
	const timeout, never = 400 * time.Millisecond, time.Minute
	for _, c := range []struct {
		name string
		cut  func(t *testing.T, rdb *redis.Client, p *redistest.Proxy) (mend func())
		want error
	}{
		{"no connection", func(t *testing.T, rdb *redis.Client, p *redistest.Proxy) func() {
			conn := rdb.Conn()
			if err := conn.Ping(context.Background()).Err(); err != nil {
				t.Fatal(err)
			}
			return func() { _ = conn.Close() }
		}, errTimeout},
		{"no answer", func(t *testing.T, rdb *redis.Client, p *redistest.Proxy) func() {
			p.HoldReplies()
			return p.Heal
		}, nil},
		{"no answer, and no other connection", func(t *testing.T, rdb *redis.Client, p *redistest.Proxy) func() {
			p.HoldReplies()
			p.CutAll()
			return p.Heal
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			p := redistest.NewProxy(t, s.Addr)
			rdb := redis.NewClient(&redis.Options{
				Addr: p.Addr, PoolSize: 1, PoolTimeout: never, DialTimeout: never,
				ReadTimeout: timeout / 4, WriteTimeout: timeout / 4, MaxRetries: -1,
			})
			defer rdb.Close()
			l, err := New(rdb, WithTTL(never), WithOpTimeout(timeout))
			if err != nil {
				t.Fatal(err)
			}
			lease, err := l.TryAcquire(context.Background(), "direct")
			if err != nil {
				t.Fatal(err)
			}
			mend := c.cut(t, rdb, p)
			began := time.Now()
			err = lease.Release(context.Background())
			var op *OpError
			if took := time.Since(began); took > never/2 || !errors.As(err, &op) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("after %v: %v", took, err)
			}
			mend()
			if err := lease.Release(context.Background()); err != nil {
				t.Errorf("again: %v", err)
			}
			if n := s.Do("EXISTS", "lock:{direct}"); n != int64(0) {
				t.Error("the lock is still there")
			}
		})
	}
}
