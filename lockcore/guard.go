package lockcore

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// Guard stands before a resource that is kept in Redis, and refuses whoever was
// overtaken: it remembers the largest fence that it has seen, and lets a write
// pass only with that one, from the same holder, or a larger one. It is what
// makes a lock safe that can be lost at any moment.
//
// Its memory must live as long as the resource does, and should not be lost
// together with the lock's server. It is safe for concurrent use.
type Guard struct {
	cfg      config
	send     *sender
	resource string
	seenKey  string
}

// NewGuard returns the guard of a resource, in the Redis that keeps it. The
// resource's name is the key that Set writes; the number is kept beside it, in
// a key of the same slot that ends in ":seen". Of the options WithObserver and
// WithOpTimeout mean something here.
func NewGuard(rdb redis.UniversalClient, resource string, opts ...Option) (*Guard, error) {
	if rdb == nil {
		return nil, usage("no client")
	}
	g := &Guard{cfg: defaults(), send: &sender{}, resource: resource}
	g.send.init(rdb, newClock())
	if err := g.cfg.apply(opts); err != nil {
		return nil, err
	}
	return g, g.init()
}

// Guard returns a guard in the lock's own Redis, with the Locker's observer.
// Keep the resource somewhere else where you can: a failover that forgets a
// lock may forget what its guard has seen.
func (l *Locker) Guard(resource string) (*Guard, error) {
	g := &Guard{cfg: l.cfg, send: &l.send, resource: resource}
	return g, g.init()
}

// init makes the key beside the resource's that a Cluster keeps with it.
func (g *Guard) init() error {
	open := strings.IndexByte(g.resource, '{')
	switch {
	case g.resource == "" || g.resource[0] == '}':
		return usage("resource %q has no name that a slot could be made of", g.resource)
	case open >= 0 && strings.IndexByte(g.resource[open+1:], '}') > 0:
		g.seenKey = g.resource + ":seen"
	case strings.ContainsAny(g.resource, "{}"):
		return usage("resource %q: braces must enclose what the slot is made of", g.resource)
	default:
		g.seenKey = "{" + g.resource + "}:seen"
	}
	return nil
}

// Resource is the resource's name.
func (g *Guard) Resource() string { return g.resource }

// Enter makes the holder's fence the largest seen. Call it after acquiring and
// before the first read: until then, a write of the holder before may still
// pass, and what was read is out of date. See Entering for a way that costs
// nothing.
//
// The error matches ErrStale when a newer holder was here.
func (g *Guard) Enter(ctx context.Context, p Passer) error {
	pass := p.Pass()
	_, err := g.ask(ctx, pass, g.wire(pass).Enter())
	return err
}

// Set writes the resource if the guard lets the holder pass, in one step. The
// error matches ErrStale, and nothing was written, when it does not.
func (g *Guard) Set(ctx context.Context, p Passer, value []byte) error {
	pass := p.Pass()
	_, err := g.ask(ctx, pass, g.wire(pass).Write(g.resource, string(value)))
	return err
}

// Run runs a Lua script of one's own if the guard lets the holder pass, and
// returns what the script returned. In a Cluster all keys are in the guard's
// slot. A script that fails half-way is not rolled back.
func (g *Guard) Run(ctx context.Context, p Passer, s *Script, keys []string, args ...string) (any, error) {
	pass := p.Pass()
	result, err := g.ask(ctx, pass, g.wire(pass).Run(s.guarded, keys, args...))
	var op *OpError
	if errors.As(err, &op) {
		op.Outcome = Unknown // how far the script came, only its author can say
	}
	return result, err
}

// Script is a Lua script behind a guard's check. It sees its own KEYS and ARGV.
type Script struct{ guarded *wire.Guarded }

// NewScript returns a script for Guard.Run.
func NewScript(lua string) *Script { return &Script{wire.NewGuarded("guarded", lua)} }

// Seen is the largest fence that the guard has seen; the zero Fence for none.
// It is for repair (FenceFloor) and for operators. A holder that asks for it to
// find out whether it may write has misunderstood: the answer is old at once.
func (g *Guard) Seen(ctx context.Context) (Fence, error) {
	var text string
	err := g.send.do(ctx, g.cfg.timeout(), func(ctx context.Context) (err error) {
		text, err = g.send.rdb.Get(ctx, g.seenKey).Result()
		return err
	})
	if errors.Is(err, redis.Nil) {
		return Fence{}, nil
	}
	if err != nil {
		return Fence{}, opError("guard", g.resource, err)
	}
	number, _, _ := strings.Cut(text, ":")
	return ParseFence(number)
}

// Raise makes the guard refuse everything below the fence: after a forced
// release where the guard is on another server than the lock. A guard that has
// seen a larger one stays.
func (g *Guard) Raise(ctx context.Context, to Fence) error {
	err := g.Enter(ctx, Pass{Fence: to, Token: "raised"})
	if errors.Is(err, ErrStale) {
		return nil
	}
	return err
}

func (g *Guard) wire(p Pass) wire.Pass {
	return wire.Pass{Seen: g.seenKey, Fence: p.Fence.String(), Token: p.Token}
}

// ask sends a call once. Its outcome may be unknown; to send it again with the
// same pass does no harm where the call itself does none.
func (g *Guard) ask(ctx context.Context, p Pass, call wire.Call) (any, error) {
	if p.Fence.IsZero() {
		return nil, usage("a pass without a fence")
	}
	raw, err := g.send.call(ctx, g.cfg.timeout(), call)
	if err != nil {
		return nil, opError("guard", g.resource, err)
	}
	reply, err := wire.ParseGuard(raw)
	if err != nil || reply.Status == wire.Accepted {
		return reply.Result, err
	}
	seen, _ := ParseFence(reply.Seen) // ParseGuard has checked it
	stale := &StaleError{Resource: g.resource, Fence: p.Fence, Seen: seen, Split: reply.Status == wire.Split}
	g.cfg.observe(Event{Kind: EventWriteRefused, Context: ctx, Name: g.resource, Fence: p.Fence, Err: stale})
	return nil, stale
}
