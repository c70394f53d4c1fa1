package target

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// poolSize is enough for an operator's program, and little for the server.
const poolSize = 4

// options are what all clients have in common.
func (t *Target) options(addr string) *redis.Options {
	return &redis.Options{
		Network: t.place.network, Addr: addr, DB: t.place.db, Dialer: t.place.dial, OnConnect: introduce(),
		// Whoever sends decides whether to send again, and knows that it may
		// have run already.
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		DialTimeout: t.place.timeout, ReadTimeout: t.place.timeout, WriteTimeout: t.place.timeout,
		PoolSize: poolSize, PipelinePoolSize: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// hooked adds to a client what every connection must have.
func (t *Target) hooked(c *redis.Client) *redis.Client {
	c.AddHook(t.place.login.hook())
	if t.place.readOnly {
		c.AddHook(gate{})
	}
	return c
}

// ForDB returns a client of the same server for another of its databases. It
// is the caller's to close.
func (t *Target) ForDB(db int) *redis.Client {
	o := t.options(t.Addr())
	o.DB = db
	return t.hooked(redis.NewClient(o))
}

func (t *Target) cluster(addr string) *redis.ClusterClient {
	o := t.options(addr)
	seeds := append([]string{addr}, t.place.addrs...)
	slices.Sort(seeds)
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: slices.Compact(seeds), Dialer: o.Dialer, OnConnect: o.OnConnect,
		MaxRetries: o.MaxRetries, DialerRetries: 1, ContextTimeoutEnabled: true,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		PoolSize: poolSize, PipelinePoolSize: -1, DisableIdentity: true,
		MaintNotificationsConfig: o.MaintNotificationsConfig,
		// One command goes to one node: never to all shards behind our back.
		DisableRoutingPolicies: true,
		NewClient: func(node *redis.Options) *redis.Client {
			return t.hooked(redis.NewClient(node))
		},
	})
}

func (t *Target) failover() *redis.Client {
	o := t.options("")
	c := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: t.place.master, SentinelAddrs: t.place.addrs, Dialer: o.Dialer, OnConnect: o.OnConnect,
		SentinelUsername: t.place.sentinel.user, SentinelPassword: string(deref(t.place.sentinel.password)),
		DB: o.DB, MaxRetries: o.MaxRetries, DialerRetries: 1, ContextTimeoutEnabled: true,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		PoolSize: poolSize, PipelinePoolSize: -1, DisableIdentity: true,
	})
	t.hooked(c)
	c.AddHook(masterHook{t})
	return c
}

// Another makes one more client of the server that c talks to, after change has
// had its options: with the same login, the same gate and, behind Sentinels, the
// same way to the master. The caller closes it.
func (t *Target) Another(c *redis.Client, change func(*redis.Options)) *redis.Client {
	o := *c.Options()
	change(&o)
	own := t.hooked(redis.NewClient(&o))
	if t.place.master != "" {
		own.AddHook(masterHook{t})
	}
	return own
}

// masterHook notes which master was dialled, and keeps the Sentinel's password
// out of the errors of those dials.
type masterHook struct{ t *Target }

// DialHook is where the master's address is known.
func (h masterHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			if errors.As(err, new(*ConnectError)) {
				return nil, err
			}
			text := scrub(innermost(err), deref(h.t.place.sentinel.password))
			return nil, &ConnectError{Text: "no master from the Sentinels: " + text}
		}
		h.t.master.Store(conn.RemoteAddr().String())
		return conn, nil
	}
}

// ProcessHook leaves commands as they are.
func (h masterHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook leaves pipelines as they are.
func (h masterHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// introduce names the connection in CLIENT LIST, and asks that reading by it
// does not keep keys from eviction (NO-TOUCH, since 7.2). Where the server
// refuses, it is not asked again: refusals are logged there.
func introduce() func(context.Context, *redis.Conn) error {
	var refused [2]atomic.Bool
	return func(ctx context.Context, cn *redis.Conn) error {
		for i, args := range [2][]any{{"CLIENT", "SETNAME", "fencepost"}, {"CLIENT", "NO-TOUCH", "ON"}} {
			if refused[i].Load() {
				continue
			}
			err := cn.Do(ctx, args...).Err()
			var said redis.Error
			if errors.As(err, &said) {
				refused[i].Store(true)
			} else if err != nil {
				return err
			}
		}
		return nil
	}
}
