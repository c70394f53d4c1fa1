package lockcore

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// Locker takes locks on one Redis: a single server, a primary found by
// Sentinel, or a Cluster. It is safe for concurrent use. It has no goroutine
// and no connection of its own while no lease is renewed and nobody waits, so
// there is nothing to close; end the leases before the client.
type Locker struct {
	cfg    config
	send   sender
	clock  clock
	random randomSource
	sched  scheduler
	ears   listener
	lines  lines

	mu    sync.RWMutex
	names map[string]*names
}

// maxNames bounds how many locks' key names are kept ready.
const maxNames = 1024

// names are the keys of one lock, made once; as any, so that sending them
// costs nothing.
type names struct {
	name    string
	keys    wire.Keys
	channel string

	lockArg, counterArg, channelArg any
}

// New returns a Locker that uses this client. It sends nothing. The client's
// own options hold; lockcore sends each of its commands once, whatever they say
// of retries. A *redis.Ring is refused: it moves keys to another server when one
// is down, and two servers would both grant.
func New(rdb redis.UniversalClient, opts ...Option) (*Locker, error) {
	switch rdb.(type) {
	case nil:
		return nil, usage("no client")
	case *redis.Ring:
		return nil, usage("a Ring moves a lock to another server when one is down: give each shard its own client")
	}
	l := &Locker{
		cfg: defaults(), clock: newClock(), random: systemRandom, names: map[string]*names{},
	}
	l.send.init(rdb, l.clock)
	if err := l.cfg.apply(opts); err != nil {
		return nil, err
	}
	if l.cfg.db < 0 {
		l.cfg.db = databaseOf(rdb)
	}
	l.cfg.oneLock = true // for the copies
	l.sched.init(l)
	l.ears.init(rdb, &l.cfg)
	l.lines.init(&l.ears)
	return l, nil
}

// databaseOf is the number of the client's database; 0 where it does not tell.
func databaseOf(rdb redis.UniversalClient) int {
	if c, ok := rdb.(*redis.Client); ok {
		return c.Options().DB
	}
	return 0
}

// namesOf returns the keys of a lock.
func (l *Locker) namesOf(name string) (*names, error) {
	l.mu.RLock()
	n := l.names[name]
	l.mu.RUnlock()
	if n != nil {
		return n, nil
	}
	keys, err := wire.NewKeys(l.cfg.prefix, name)
	if err != nil {
		return nil, usage("name %q: %v", name, err)
	}
	n = &names{name: name, keys: keys, channel: keys.Channel(l.cfg.db)}
	n.lockArg, n.counterArg, n.channelArg = n.keys.Lock, n.keys.Counter, n.channel
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names) >= maxNames {
		clear(l.names)
	}
	l.names[name] = n
	return n, nil
}

// with returns the Locker's settings changed by options.
func (l *Locker) with(opts []Option) (*config, error) {
	if len(opts) == 0 {
		return &l.cfg, nil
	}
	cfg := l.cfg
	if err := cfg.apply(opts); err != nil {
		return nil, err
	}
	return &cfg, nil
}

// TryAcquire takes the lock if it is free. Otherwise the error is a *HeldError
// that says who has it, and matches ErrNotAcquired. Any other error: the server
// could not be asked (OpError), a key is not ours (ErrCorrupt), or the call was
// wrong (ErrUsage). The lease is nil exactly when the error is not.
//
// The lease does not end with ctx; see BoundTo.
func (l *Locker) TryAcquire(ctx context.Context, name string, opts ...Option) (*Lease, error) {
	h, err := l.newHold(ctx, name, opts)
	if err != nil {
		return nil, err
	}
	lease, err := h.tryOnce(ctx)
	h.tellAcquired(ctx, lease, err)
	return lease, err
}

// Acquire takes the lock, waiting for it as long as ctx (and WaitAtMost) lets
// it. While it waits it sends nothing: the release of the lock is told by the
// server, and its expiry is known from its TTL. The error is as for TryAcquire;
// after a wait it also matches what ended it, context.Cause(ctx).
//
// A server that cannot be reached, or is not ready, is asked again until one
// TTL has passed; then the error is an OpError.
func (l *Locker) Acquire(ctx context.Context, name string, opts ...Option) (*Lease, error) {
	h, err := l.newHold(ctx, name, opts)
	if err != nil {
		return nil, err
	}
	waitCtx := ctx
	if h.cfg.maxWait > 0 {
		var cancel context.CancelFunc
		waitCtx, cancel = context.WithTimeout(ctx, h.cfg.maxWait)
		defer cancel()
	}
	lease, err := h.waitFor(waitCtx)
	h.tellAcquired(ctx, lease, err)
	return lease, err
}

// Do runs fn while it holds the lock: it waits as Acquire does, runs fn with a
// context that ends when the lease is lost or ctx ends, and releases, also when
// fn panics or ends its goroutine.
//
// The error is the acquisition's (fn did not run); or fn's own, as it is, joined
// with a failed release and with ErrLost where the lease ended before fn did.
// A nil error means that fn ran, under the lock, to its end.
func (l *Locker) Do(ctx context.Context, name string, fn func(ctx context.Context, lease *Lease) error, opts ...Option) (err error) {
	lease, err := l.Acquire(ctx, name, append([]Option{BoundTo(ctx)}, opts...)...)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		releaseErr := lease.Release(ctx)
		if err != nil || !ended {
			lease.h.observe(Event{Kind: EventWorkFailed, Context: ctx, Err: err})
		}
		if releaseErr != nil {
			err = errors.Join(err, releaseErr)
		}
	}()
	err = fn(lease.Context(), lease)
	ended = true
	return err
}
