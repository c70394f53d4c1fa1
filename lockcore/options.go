package lockcore

import (
	"context"
	"math"
	"os"
	"strconv"
	"time"

	"fencepost/lockcore/wire"
)

// The bounds and defaults of a lease.
const (
	DefaultTTL = 10 * time.Second
	MinTTL     = 10 * time.Millisecond
	MaxTTL     = 365 * 24 * time.Hour
)

// Option sets something of a Locker, or of one acquisition, where it is given
// after the name.
type Option func(*config) error

// config is what options set. A Locker has one; an acquisition with options has
// a changed copy.
type config struct {
	prefix      string
	ttl         time.Duration
	opTimeout   time.Duration // 0: a quarter of ttl
	maxHold     time.Duration // 0: none
	maxWait     time.Duration // 0: as long as the context
	about       wire.About
	observer    func(Event)
	fair        bool
	noRenewal   bool
	replicas    int
	replicaWait time.Duration
	floor       Fence
	counterLife time.Duration // 0: for ever
	enter       *Guard
	parent      context.Context
	db          int  // -1: ask the client
	oneLock     bool // options of an acquisition: prefix, database and observer stand

	// Made from the above, once for many acquisitions, as they are sent.
	ttlArg, deadArg any
	aboutText       string
	stamp           *stamp
}

func defaults() config {
	host, err := os.Hostname()
	if err != nil {
		host = "" // a lock works without; the console then shows no host
	}
	return config{
		prefix: wire.DefaultPrefix, ttl: DefaultTTL, db: -1,
		about: wire.About{Host: host, PID: int64(os.Getpid())},
	}
}

// apply sets the options and checks what they make together.
func (c *config) apply(opts []Option) error {
	for _, opt := range opts {
		if err := opt(c); err != nil {
			return err
		}
	}
	if c.opTimeout > c.ttl {
		return usage("the operation's timeout %v is longer than the TTL %v", c.opTimeout, c.ttl)
	}
	if err := c.about.Check(); err != nil {
		return usage("%v", err)
	}
	c.ttlArg = strconv.FormatInt(ceilMS(c.ttl), 10)
	c.deadArg = strconv.FormatInt(ceilMS(c.tombstoneLife()), 10)
	c.aboutText, c.stamp = c.about.String(), &stamp{}
	return nil
}

// ceilMS rounds up to what the server counts in: it may keep a lock longer than
// its holder believes, never shorter.
func ceilMS(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// longestTTL is what a TTL counts as that is longer: no Duration holds all that
// Redis takes for one, and what overflows may come out below zero.
const longestTTL = 100 * MaxTTL

// fromMS is a TTL as the server tells it, in milliseconds.
func fromMS(ms int64) time.Duration {
	return time.Duration(min(ms, longestTTL.Milliseconds())) * time.Millisecond
}

// timeout bounds one command.
func (c *config) timeout() time.Duration {
	if c.opTimeout > 0 {
		return c.opTimeout
	}
	return c.ttl / 4
}

// tombstoneLife is how long a token stays forbidden after its end: longer than
// a request is likely to travel.
func (c *config) tombstoneLife() time.Duration {
	return max(2*c.timeout(), 10*time.Second)
}

// renewEvery leaves room for two failed renewals.
func (c *config) renewEvery() time.Duration { return c.ttl / 3 }

// WithPrefix sets what stands before every key; "lock:" by default. It may hold
// no braces, so that a Cluster keeps a lock's keys together.
func WithPrefix(prefix string) Option {
	return func(c *config) error {
		if c.oneLock {
			return usage("the prefix belongs to the Locker")
		}
		if _, err := wire.NewKeys(prefix, "x"); err != nil {
			return usage("prefix %q: %v", prefix, err)
		}
		c.prefix = prefix
		return nil
	}
}

// WithTTL sets how long the lock outlives a holder that says nothing more: 10
// ms to a year, 10 s by default. A lease is renewed every third of it.
func WithTTL(d time.Duration) Option {
	return func(c *config) error {
		if d < MinTTL || d > MaxTTL {
			return usage("TTL %v is not between %v and %v", d, MinTTL, MaxTTL)
		}
		c.ttl = d
		return nil
	}
}

// WithOpTimeout bounds every single command; a quarter of the TTL by default.
func WithOpTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d < time.Millisecond {
			return usage("operation timeout %v is below 1ms", d)
		}
		c.opTimeout = d
		return nil
	}
}

// WithMaxHold ends the lease context that long after the acquisition, with
// ErrMaxHold, and renews no further: a holder that hangs does not keep the lock
// for ever.
func WithMaxHold(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return usage("the longest hold %v is not above 0", d)
		}
		c.maxHold = d
		return nil
	}
}

// WaitAtMost bounds the wait of Acquire and Do, besides the context's own end.
func WaitAtMost(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return usage("wait of %v: use TryAcquire not to wait", d)
		}
		c.maxWait = d
		return nil
	}
}

// WithLabel names the work, for the console: at most 64 bytes.
func WithLabel(label string) Option {
	return func(c *config) error { c.about.Label = label; return nil }
}

// WithText adds any short text for the console: at most 256 bytes.
func WithText(text string) Option {
	return func(c *config) error { c.about.Text = text; return nil }
}

// WithHost replaces the host and the process id that the console shows.
func WithHost(host string, pid int) Option {
	return func(c *config) error { c.about.Host, c.about.PID = host, int64(pid); return nil }
}

// WithObserver has f told of everything that a metric or a trace would count.
// It is called where the thing happens and must return quickly.
func WithObserver(f func(Event)) Option {
	return func(c *config) error {
		if c.oneLock {
			return usage("the observer belongs to the Locker")
		}
		c.observer = f
		return nil
	}
}

// WithFair makes waiters take their turns in the order in which they came, over
// all processes. All users of a name must choose it, or those that do not will
// jump the queue.
func WithFair() Option {
	return func(c *config) error { c.fair = true; return nil }
}

// WithoutRenewal leaves renewing to the caller; see Lease.Renew.
func WithoutRenewal() Option {
	return func(c *config) error { c.noRenewal = true; return nil }
}

// WithReplicas counts an acquisition only when n replicas have it within d (the
// WAIT command); else it is taken back, and the error is an OpError. It makes a
// lock that a failover forgets rarer. It does not rule it out: the replica that
// is promoted need not be one of those that had it.
func WithReplicas(n int, d time.Duration) Option {
	return func(c *config) error {
		if n < 1 || d < time.Millisecond {
			return usage("%d replicas within %v", n, d)
		}
		c.replicas, c.replicaWait = n, d
		return nil
	}
}

// FenceFloor makes the fence larger than seen. It repairs a counter that was
// lost (a flush, an old backup) while a guard still remembers larger numbers:
// take seen from the StaleError, or from Guard.Seen. Redis counts to 2^63-1, so
// the floor is below that.
func FenceFloor(seen Fence) Option {
	return func(c *config) error {
		if seen.n >= math.MaxInt64 {
			return usage("there is no number above the floor %v", seen)
		}
		c.floor = seen
		return nil
	}
}

// WithExpiringFence lets the counter of a name expire when it was not used for
// d, at least a day, so that names that are used once leave nothing behind. The
// numbers then follow the server's clock, in microseconds: larger than all
// before, even where the counter was lost, as long as that clock is not set back.
func WithExpiringFence(d time.Duration) Option {
	return func(c *config) error {
		if d < 24*time.Hour {
			return usage("a counter's life of %v is below a day: older holders could outlive it", d)
		}
		c.counterLife = d
		return nil
	}
}

// Entering has the acquisition enter the guard in the same step, so that no
// older write is accepted from then on, at no further round trip. The guard's
// key must be on the lock's server and, in a Cluster, in its slot.
func Entering(g *Guard) Option {
	return func(c *config) error { c.enter = g; return nil }
}

// BoundTo makes the lease's context a child of ctx, and ends renewal with it.
// Do binds to its own ctx. Without it the lease lives until Release: the context
// given to Acquire only bounds the wait.
func BoundTo(ctx context.Context) Option {
	return func(c *config) error { c.parent = ctx; return nil }
}

// WithDB tells the number of the database where the client does not (a wrapped
// one), so that releases in another database wake nobody here.
func WithDB(db int) Option {
	return func(c *config) error {
		if db < 0 || c.oneLock {
			return usage("database %d: the Locker's, from 0", db)
		}
		c.db = db
		return nil
	}
}
