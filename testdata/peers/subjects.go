package main

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"fencepost/lockcore"
)

// ttl is so long that nothing expires while it is measured.
const ttl = 60 * time.Second

// process stands for one process that uses a lock library: it has a client of
// its own.
type process struct {
	*counter
	// try takes the lock at once, lock waits for it; both return what releases it.
	try, lock func(ctx context.Context, name string) (unlock func() error, err error)
	close     func()
}

// subject is a library, with the settings that its documentation shows.
type subject struct {
	name  string
	start func(addr string, c *counter) (*process, error)
}

const baseline = "SET NX PX + compare-and-delete"

var subjects = []subject{
	{"lockcore", lockcoreProcess()},
	{"redsync", redsyncProcess},
	{"redislock", redislockProcess},
	{"rueidislock", rueidislockProcess},
}

var lockcoreFair = subject{"lockcore, fair", lockcoreProcess(lockcore.WithFair())}

func goRedis(addr string, c *counter) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, Dialer: c.dial})
}

func lockcoreProcess(opts ...lockcore.Option) func(string, *counter) (*process, error) {
	return func(addr string, count *counter) (*process, error) {
		rdb := goRedis(addr, count)
		l, err := lockcore.New(rdb, append([]lockcore.Option{lockcore.WithTTL(ttl)}, opts...)...)
		if err != nil {
			return nil, err
		}
		with := func(acquire func(context.Context, string, ...lockcore.Option) (*lockcore.Lease, error)) func(context.Context, string) (func() error, error) {
			return func(ctx context.Context, name string) (func() error, error) {
				lease, err := acquire(ctx, name)
				if err != nil {
					return nil, err
				}
				return func() error { return lease.Release(ctx) }, nil
			}
		}
		return &process{count, with(l.TryAcquire), with(l.Acquire), func() { _ = rdb.Close() }}, nil
	}
}

func redsyncProcess(addr string, count *counter) (*process, error) {
	rdb := goRedis(addr, count)
	rs := redsync.New(goredis.NewPool(rdb))
	with := func(tries int) func(context.Context, string) (func() error, error) {
		return func(ctx context.Context, name string) (func() error, error) {
			mutex := rs.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithTries(tries))
			if err := mutex.LockContext(ctx); err != nil {
				return nil, err
			}
			return func() error {
				ok, err := mutex.UnlockContext(ctx)
				if err == nil && !ok {
					err = errors.New("not unlocked")
				}
				return err
			}, nil
		}
	}
	return &process{count, with(1), with(1 << 30), func() { _ = rdb.Close() }}, nil
}

// redislock has no way of waiting of its own; 10 ms is the pause of its examples'
// size that gives it the best hand-off.
func redislockProcess(addr string, count *counter) (*process, error) {
	rdb := goRedis(addr, count)
	client := redislock.New(rdb)
	with := func(retry func() redislock.RetryStrategy) func(context.Context, string) (func() error, error) {
		return func(ctx context.Context, name string) (func() error, error) {
			// Without a deadline it waits for one TTL at most.
			lock, err := client.Obtain(ctx, name, ttl, &redislock.Options{RetryStrategy: retry()})
			if err != nil {
				return nil, err
			}
			return func() error { return lock.Release(ctx) }, nil
		}
	}
	linear := func() redislock.RetryStrategy { return redislock.LinearBackoff(10 * time.Millisecond) }
	return &process{count, with(redislock.NoRetry), with(linear), func() { _ = rdb.Close() }}, nil
}

func rueidislockProcess(addr string, count *counter) (*process, error) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress: []string{addr},
			DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tlsConfig) (net.Conn, error) {
				return count.dial(ctx, "tcp", addr)
			},
		},
		KeyMajority: 1, NoLoopTracking: true, KeyValidity: ttl,
	})
	if err != nil {
		return nil, err
	}
	with := func(acquire func(context.Context, string) (context.Context, context.CancelFunc, error)) func(context.Context, string) (func() error, error) {
		return func(ctx context.Context, name string) (func() error, error) {
			_, cancel, err := acquire(ctx, name)
			if err != nil {
				return nil, err
			}
			return func() error { cancel(); return nil }, nil // it tells no error
		}
	}
	return &process{count, with(locker.TryWithContext), with(locker.WithContext), locker.Close}, nil
}

// baselineProcess is what one would write by hand, without a fence, without a
// notification, and not idempotent.
func baselineProcess(addr string, count *counter) (*process, error) {
	rdb := goRedis(addr, count)
	unlock := redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
	try := func(ctx context.Context, name string) (func() error, error) {
		token := newToken()
		ok, err := rdb.SetNX(ctx, name, token, ttl).Result()
		if err != nil || !ok {
			return nil, errors.Join(err, errors.New("held"))
		}
		return func() error { return unlock.Run(ctx, rdb, []string{name}, token).Err() }, nil
	}
	return &process{count, try, nil, func() { _ = rdb.Close() }}, nil
}
