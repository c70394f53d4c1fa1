package inspect

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// serverError reports whether err is an answer of the server about one command,
// not a failure of the connection.
func serverError(err error) bool {
	var re redis.Error
	return errors.As(err, &re)
}

// batch is one pipelined round trip.
type batch struct {
	ctx  context.Context
	pipe redis.Pipeliner
	cmds []*redis.Cmd // in the order they were added
}

func newBatch(ctx context.Context, c *redis.Client) *batch {
	return &batch{ctx: ctx, pipe: c.Pipeline()}
}

func (b *batch) do(args ...any) *redis.Cmd {
	cmd := b.pipe.Do(b.ctx, args...)
	b.cmds = append(b.cmds, cmd)
	return cmd
}

// exec sends the batch; an error that concerns one command stays with it. What
// the server says of itself, not of a key, is an error of the whole.
func (b *batch) exec() error {
	if b.pipe.Len() == 0 {
		return nil
	}
	_, err := b.pipe.Exec(b.ctx)
	if err == nil || !serverError(err) {
		return err
	}
	for _, cmd := range b.cmds {
		if err := cmd.Err(); unable(err) {
			return err
		}
	}
	return nil
}

// unable reports whether a server answers, but not with data, whatever key is
// asked for. Nothing is known then: above all not that a key is not there.
func unable(err error) bool {
	for _, prefix := range [...]string{"LOADING", "BUSY", "UNKILLABLE", "OOM", "MASTERDOWN", "CLUSTERDOWN", "NOAUTH", "MISCONF"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

// fate is why a key could not be read; the zero fate: it was.
type fate struct {
	refused string // by the server, and why; safe to print
	moved   string // its slot is another node's, at this address
}

// known reports whether the sample says what is at the key.
func (f fate) known() bool { return f == fate{} }

// fateOf is what an error says of the one key that was asked for.
func fateOf(err error) fate {
	if addr := movedAddr(err); addr != "" {
		return fate{moved: addr}
	}
	return fate{refused: wire.Clean(err.Error())}
}

// noPermission is how a server begins to say that a user may not do something.
const noPermission = "NOPERM"

// notPermitted reports whether the server refused a command to this user.
func notPermitted(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), noPermission)
}

func serverTime(cmd *redis.Cmd) time.Time {
	parts, err := cmd.Slice()
	if err != nil || len(parts) != 2 {
		return time.Time{}
	}
	sec, ok1 := number(text(parts[0]))
	usec, ok2 := number(text(parts[1]))
	if !ok1 || !ok2 {
		return time.Time{}
	}
	return time.Unix(sec, usec*1000)
}
