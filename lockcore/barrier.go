package lockcore

import (
	"context"
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
	node, err := h.node(ctx)
	if err != nil {
		return nil, err
	}
	acquire, wait, err := h.pair(ctx, node, call)
	if err != nil {
		return nil, err
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

// pair sends request and WAIT together, with the script's text: in a pipeline
// there is no falling back to it.
func (h *hold) pair(ctx context.Context, node pipeliner, call wire.Call) (once, *redis.IntCmd, error) {
	args := argsOf(call)
	args[0], args[1] = verbText, call.Script.Source
	acquire := once{redis.NewCmd(ctx, args...)}
	acquire.SetFirstKeyPos(3)
	pipe := node.Pipeline()
	_ = pipe.Process(ctx, acquire) // only queues
	wait := redis.NewIntCmd(ctx, "wait", h.cfg.replicas, h.cfg.replicaWait.Milliseconds())
	_ = pipe.Process(ctx, wait)
	_, _ = pipe.Exec(ctx) // each command has its own error
	return acquire, wait, acquire.Err()
}

// node is the client of the one server that has the lock's slot.
func (h *hold) node(ctx context.Context) (pipeliner, error) {
	if cluster, ok := h.l.send.rdb.(*redis.ClusterClient); ok {
		return cluster.MasterForKey(ctx, h.keys.Lock)
	}
	return h.l.send.rdb, nil
}
