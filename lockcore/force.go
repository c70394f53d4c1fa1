package lockcore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// Info is what the server says of a lock.
type Info struct {
	Name   string
	Held   bool
	Holder Holder
	TTL    time.Duration // negative: the lock has none; 100 years where it is longer
	Fence  Fence         // the last one given; zero for none
}

// Inspect looks at a lock. By the time it returns this may be over.
func (l *Locker) Inspect(ctx context.Context, name string) (Info, error) {
	n, err := l.namesOf(name)
	if err != nil {
		return Info{}, err
	}
	var value, counter *redis.StringCmd
	pttl := redis.NewIntCmd(ctx, "pttl", n.keys.Lock) // go-redis's own PTTL overflows
	err = l.send.do(ctx, l.cfg.timeout(), func(ctx context.Context) error {
		_, err := l.send.rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			value, counter = pipe.Get(ctx, n.keys.Lock), pipe.Get(ctx, n.keys.Counter)
			return pipe.Process(ctx, pttl) // only queues
		})
		return err
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return Info{}, opError("inspect", name, err)
	}
	info := Info{Name: name, Held: value.Err() == nil}
	if text := counter.Val(); text != "" {
		if info.Fence, err = ParseFence(text); err != nil {
			return Info{}, &OpError{Op: "inspect", Name: name, Err: &corruptError{err}}
		}
	}
	if info.Held {
		info.Holder, info.TTL = parseHolder(wire.Raw(value.Val())), fromMS(pttl.Val())
	}
	return info, nil
}

// ErrChanged says that the lock is not held by whom the operator saw. Nothing was done.
var ErrChanged = errors.New("lockcore: the lock changed hands")

// ForceRelease ends the lock of a holder that was seen, from outside, in one
// step: only if that holder still has it, it is released, the fence is raised,
// the guards refuse the evicted holder from then on, and the next waiter is
// woken. It returns the raised fence.
//
// The holder learns it at its next renewal, and may work on until then: the
// guards are what stops its writes. Guards in the lock's Redis (in a Cluster, in
// its slot) are raised in the same step; others right after, where a failure
// leaves the lock released and is returned.
//
// The error matches ErrChanged when somebody else, or nobody, has the lock.
func (l *Locker) ForceRelease(ctx context.Context, name string, seen Holder, guards ...*Guard) (Fence, error) {
	n, err := l.namesOf(name)
	if err != nil {
		return Fence{}, err
	}
	if seen.Token == "" {
		return Fence{}, usage("this holder has no token: lockcore did not write that lock")
	}
	var near []string
	var far []*Guard
	for _, g := range guards {
		if g.send.rdb == l.send.rdb && !isCluster(g.send.rdb) {
			near = append(near, g.seenKey)
		} else {
			far = append(far, g)
		}
	}
	call := wire.Release{}.ForceRelease(n.keys, wire.Value{Token: seen.Token, Fence: seen.Fence.String()},
		wire.Fair{WindowMS: window.Milliseconds(), Channel: n.channel}, ceilMS(l.cfg.tombstoneLife()), near...)
	raw, err := l.send.call(ctx, l.cfg.timeout(), call)
	if err != nil {
		return Fence{}, opError("force release", name, err)
	}
	reply, err := wire.ParseForceRelease(raw)
	if err != nil {
		return Fence{}, opError("force release", name, err)
	}
	if reply.Status != wire.ReleaseDone {
		return Fence{}, &changedError{name: name, now: parseHolder(reply.Now)}
	}
	raised, err := ParseFence(reply.Raised)
	for _, g := range far {
		err = errors.Join(err, g.Raise(ctx, raised))
	}
	return raised, err
}

func isCluster(rdb redis.UniversalClient) bool {
	_, ok := rdb.(*redis.ClusterClient)
	return ok
}

// changedError says who has the lock instead.
type changedError struct {
	name string
	now  Holder
}

func (e *changedError) Error() string {
	if e.now.none() {
		return ErrChanged.Error() + ": nobody holds " + wire.Word(e.name) + " any more"
	}
	return ErrChanged.Error() + ": " + wire.Word(e.name) + " is now held by " + e.now.String()
}

func (e *changedError) Unwrap() error { return ErrChanged }
