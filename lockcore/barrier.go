package lockcore

import (
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
// wrote. Where replicas are missing the lock is given back before the error is told.
func (h *hold) askReplicated(ctx context.Context, call wire.Call) (any, error) {
	var raw any
	err := h.l.send.do(ctx, h.cfg.timeout()+h.cfg.replicaWait, func(ctx context.Context) error {
		node, err := h.node(ctx)
		if err != nil {
			return err
		}
		acquire, wait, err := h.pair(ctx, node, call)
		if err != nil {
			return err
		}
		raw = acquire.Val()
		if _, granted := raw.(string); !granted {
			return nil
		}
		if wait.Err() == nil && wait.Val() < int64(h.cfg.replicas) {
			return &replicaError{have: wait.Val(), want: int64(h.cfg.replicas)}
		}
		return wait.Err()
	})
	var short *replicaError
	if errors.As(err, &short) {
		if _, undone := h.unlockOnce(context.WithoutCancel(ctx), h.cfg.timeout()); undone != nil {
			h.doubt = true
		}
	}
	if err != nil {
		return nil, err
	}
	return raw, nil
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
