// Package oneshot sends a wire.Call exactly once.
//
// A client library that sends a command again after a lost reply turns "done,
// and the reply was lost" into "refused": the second try finds the lock taken
// by the first. go-redis does so by default, and in a Cluster even with
// MaxRetries -1; a command that says NoRetry (since 9.19) is never sent twice.
// Whoever calls Send is told that the outcome is unknown, and can look.
package oneshot

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// once is a command that the client library sends one time only.
type once struct{ *redis.Cmd }

// NoRetry keeps go-redis from sending the command again.
func (once) NoRetry() bool { return true }

// Processor is what Send needs of a client: *redis.Client, *redis.ClusterClient
// and *redis.Conn have it.
type Processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// Send sends the call and returns the reply as go-redis reads it. A script goes
// by its SHA first; only the server's answer that it does not know it (NOSCRIPT,
// so nothing ran) is followed by its text. The error is redis.Nil for a null
// reply, a redis.Error where the server answered one, and otherwise one of the
// connection, after which the command may or may not have run. ctx must have a
// deadline: go-redis does not notice a cancellation before one.
func Send(ctx context.Context, c Processor, call wire.Call) (any, error) {
	reply, err := send(ctx, c, call.ShaArgv(), call.FirstKeyPos())
	if call.Script != nil && err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		return send(ctx, c, call.Argv(), call.FirstKeyPos())
	}
	return reply, err
}

func send(ctx context.Context, c Processor, argv []string, firstKey int) (any, error) {
	args := make([]any, len(argv))
	for i, a := range argv {
		args[i] = a
	}
	cmd := once{redis.NewCmd(ctx, args...)}
	if firstKey > 0 {
		cmd.SetFirstKeyPos(int8(min(firstKey, 127)))
	}
	if err := c.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}
