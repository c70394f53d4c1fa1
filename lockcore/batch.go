package lockcore

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// maxBatch bounds how many renewals travel together.
const maxBatch = 256

// renewAll renews leases in the background: those of one node in one pipeline,
// and every pipeline by itself, so that a node that hangs holds up only its own.
// A pipeline also has connections of its own in go-redis, which a pool full of
// blocking commands cannot take away.
func (l *Locker) renewAll(holds []*hold) {
	if len(holds) == 0 {
		return
	}
	cluster, ok := l.send.rdb.(*redis.ClusterClient)
	if !ok {
		l.renewOn(l.send.rdb, holds)
		return
	}
	go func() { // the map of the nodes may have to be loaded first
		groups := map[*redis.Client][]*hold{}
		for _, h := range holds {
			node, err := cluster.MasterForKey(context.Background(), h.keys.Lock)
			if err != nil {
				h.renewalFailed(err, l.clock.read())
				continue
			}
			groups[node] = append(groups[node], h)
		}
		for node, group := range groups {
			l.renewOn(node, group)
		}
	}()
}

// pipeliner is what renewOn needs of a client or a node's client.
type pipeliner interface{ Pipeline() redis.Pipeliner }

func (l *Locker) renewOn(node pipeliner, holds []*hold) {
	for len(holds) > 0 {
		n := min(len(holds), maxBatch)
		b := &batch{l: l, node: node, holds: holds[:n]}
		holds = holds[n:]
		go b.run()
	}
}

// batch is some renewals that travel together.
type batch struct {
	l     *Locker
	node  pipeliner
	holds []*hold

	mu    sync.Mutex
	given bool // up: nobody waits for the answers, those that come are still used
}

// run sends the batch. Its time is that of its most impatient lease.
func (b *batch) run() {
	timeout := b.holds[0].cfg.timeout()
	for _, h := range b.holds {
		timeout = min(timeout, h.cfg.timeout())
	}
	sent := b.l.clock.read()
	answered := make([]bool, len(b.holds))
	err := b.l.send.do(context.Background(), timeout, func(ctx context.Context) error {
		return b.send(ctx, sent, answered)
	})
	b.mu.Lock()
	b.given = true
	missing := make([]*hold, 0, len(b.holds))
	for i, h := range b.holds {
		if !answered[i] {
			missing = append(missing, h)
		}
	}
	b.mu.Unlock()
	if err == nil {
		err = errTimeout
	}
	for _, h := range missing {
		h.renewalFailed(err, sent)
	}
}

// send puts the renewals through the node and gives each lease its answer.
func (b *batch) send(ctx context.Context, sent instant, answered []bool) error {
	sha := make([]redis.Cmder, len(b.holds))
	pipe := b.node.Pipeline()
	for i, h := range b.holds {
		sha[i] = renewCmd(ctx, h, verbSHA)
		_ = pipe.Process(ctx, sha[i]) // only queues
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	var text []int
	for i, cmd := range sha {
		if isNoScript(cmd.Err()) {
			text = append(text, i)
			continue
		}
		b.answer(i, cmd, sent, answered)
	}
	if len(text) == 0 {
		return nil
	}
	pipe = b.node.Pipeline() // inside a pipeline there is no falling back
	for _, i := range text {
		sha[i] = renewCmd(ctx, b.holds[i], verbText)
		_ = pipe.Process(ctx, sha[i])
	}
	_, _ = pipe.Exec(ctx)
	for _, i := range text {
		b.answer(i, sha[i], sent, answered)
	}
	return nil
}

// answer gives one lease what the server said. Where its slot has moved to
// another node, the lease is renewed once more, alone.
func (b *batch) answer(i int, cmd redis.Cmder, sent instant, answered []bool) {
	h := b.holds[i]
	b.mu.Lock()
	late := b.given
	answered[i] = true
	b.mu.Unlock()
	raw, err := cmd.(once).Result()
	if _, moved := redis.IsMovedError(err); moved || isAsk(err) {
		go h.renewAlone()
		return
	}
	h.renewalEnded(raw, err, sent, late)
}

// renewAlone renews one lease through the client itself, which follows a slot
// to where it went.
func (h *hold) renewAlone() {
	sent := h.l.clock.read()
	call := wire.Renew(h.keys, h.token, ceilMS(h.cfg.ttl))
	raw, err := h.l.send.call(context.Background(), h.cfg.timeout(), call)
	h.renewalEnded(raw, err, sent, false)
}

// renewalEnded takes in the end of a renewal in the background. late: it was
// counted as failed already, so only an answer still matters.
func (h *hold) renewalEnded(raw any, err error, sent instant, late bool) {
	var reply wire.OwnedReply
	if err == nil {
		reply, err = wire.ParseOwned(raw)
	}
	if err == nil {
		h.mu.Lock()
		h.renewing = false
		h.mu.Unlock()
		h.renewed(reply, sent)
	} else if !late {
		h.renewalFailed(err, sent)
	}
}

func isAsk(err error) bool {
	_, ask := redis.IsAskError(err)
	return ask || isTryAgain(err)
}

func isTryAgain(err error) bool { return err != nil && redis.IsTryAgainError(err) }

func renewCmd(ctx context.Context, h *hold, verb string) once {
	call := wire.Renew(h.keys, h.token, ceilMS(h.cfg.ttl))
	args := argsOf(call)
	args[0] = verb
	if verb == verbText {
		args[1] = call.Script.Source
	}
	cmd := once{redis.NewCmd(ctx, args...)}
	cmd.SetFirstKeyPos(3)
	return cmd
}
