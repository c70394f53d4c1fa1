package lockcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// replicaError: too few replicas had the lock in time.
type replicaError struct{ have, want int64 }

func (e *replicaError) Error() string {
	return fmt.Sprintf("%d of %d replicas have it", e.have, e.want)
}

// askReplicated requests the lock and waits until enough replicas have it. Both
// commands go through one connection, because WAIT counts what that connection
// wrote. Where replicas are missing the answer is a *replicaError, and the lock
// is to be given back.
func (h *hold) askReplicated(ctx context.Context, call wire.Call) (any, error) {
	at, err := h.node(ctx)
	if err != nil {
		return nil, err
	}
	acquire, wait, err := h.pair(ctx, at, call)
	for try := 0; err != nil; try++ {
		if at, err = h.redirected(ctx, err); err != nil || try == mostRedirects {
			return nil, cmp.Or(err, acquire.Err())
		}
		acquire, wait, err = h.pair(ctx, at, call)
	}
	_, granted := acquire.Val().(string)
	if granted && wait.Err() == nil && wait.Val() < int64(h.cfg.replicas) {
		return nil, &replicaError{have: wait.Val(), want: int64(h.cfg.replicas)}
	}
	if granted {
		err = wait.Err()
	}
	return acquire.Val(), err
}

// giveBack undoes a grant that too few replicas have.
func (h *hold) giveBack(ctx context.Context) {
	if _, err := h.unlockOnce(ctx, h.l.clock.read(), h.cfg.timeout()); err != nil {
		h.doubt = true
	}
}

// place is where the lock's slot is.
type place struct {
	pipeliner
	asking bool // it is on its way there
}

// mostRedirects is how often a Cluster may say that a slot is elsewhere.
const mostRedirects = 3

// redirected is where a Cluster says that the lock's slot is; for any other error,
// that error. go-redis follows by itself for single commands only, and here it
// would not read anew which node has which slot, for seconds.
func (h *hold) redirected(ctx context.Context, err error) (place, error) {
	cluster, ok := h.l.send.rdb.(*redis.ClusterClient)
	if !ok {
		return place{}, err
	}
	_, moved := redis.IsMovedError(err)
	addr, asking := redis.IsAskError(err)
	var answered redis.Error
	if !moved && !asking {
		if !errors.As(err, &answered) { // perhaps another is the master by now
			cluster.ReloadState(ctx)
		}
		return place{}, err
	}
	var there *redis.Client
	failed := cluster.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error { // asks for the slots, first of all
		if c.Options().Addr == addr {
			there = c
		}
		return nil
	})
	switch {
	case failed != nil:
		return place{}, err
	case moved:
		return h.node(ctx)
	case there == nil:
		return place{}, err
	}
	return place{there, true}, nil
}

// pair sends request and WAIT together, with the script's text: in a pipeline
// there is no falling back to it.
func (h *hold) pair(ctx context.Context, at place, call wire.Call) (once, *redis.IntCmd, error) {
	args := argsOf(call)
	args[0], args[1] = verbText, call.Script.Source
	acquire := once{redis.NewCmd(ctx, args...)}
	acquire.SetFirstKeyPos(3)
	pipe := at.Pipeline()
	if at.asking {
		_ = pipe.Process(ctx, redis.NewStatusCmd(ctx, "asking"))
	}
	_ = pipe.Process(ctx, acquire) // only queues
	wait := redis.NewIntCmd(ctx, "wait", h.cfg.replicas, h.cfg.replicaWait.Milliseconds())
	_ = pipe.Process(ctx, wait)
	_, _ = pipe.Exec(ctx) // each command has its own error
	return acquire, wait, acquire.Err()
}

// node is the client of the one server that has the lock's slot.
func (h *hold) node(ctx context.Context) (place, error) {
	if cluster, ok := h.l.send.rdb.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, h.keys.Lock)
		return place{pipeliner: master}, err
	}
	return place{pipeliner: h.l.send.rdb}, nil
}
