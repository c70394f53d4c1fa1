package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// settleFor is how long a lost reply is followed by questions: a server that was
// busy or paused may still run what it has received.
const settleFor = 10 * time.Second

// offLife is how long a call stays called off: longer than anything is on its
// way between a client that gave up and a server.
const offLife = 10 * 60_000 // ms

// settle finds out what became of a step whose reply was lost. It does not send
// the step again. Where the step has a receipt, a mark in the receipt's place
// keeps it from running later; if the receipt stands there already, it has run.
// Either way that is proof. Without a receipt, nothing is: what is there now may
// have come about in another way.
func (in *Inspector) settle(n Node, act Act, out *StepOutcome) {
	off, ok := out.Step.Call.CallOff(offLife)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleFor)
	defer cancel()
	for ctx.Err() == nil {
		value, err := callOff(ctx, n.Client, off)
		switch told, called, read := wire.ReadReceipt(value); {
		case err == nil && read && called:
			out.CalledOff = true
			return
		case err == nil && read:
			out.Word, out.Told, out.Receipt, out.Err = act.word(), told, true, nil
			if told == wire.ToldFailed {
				out.ToldErr = "the server refused to tell them"
			}
			return
		case err == nil, serverError(err) && !passing(err):
			return // no mark can be put there
		}
		wait(ctx, 100*time.Millisecond)
	}
}

// callOff puts the mark where no receipt stands, and returns what stands there
// then. It may be asked again and again.
func callOff(ctx context.Context, c *redis.Client, off wire.Call) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	argv := off.Argv()
	args := make([]any, len(argv))
	for i, a := range argv {
		args[i] = a
	}
	err := c.Do(ctx, args...).Err()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", err
	}
	return c.Get(ctx, off.Args[0]).Result()
}

// passing reports whether a server's error says that it cannot answer yet.
func passing(err error) bool {
	return redis.IsLoadingError(err) || redis.HasErrorPrefix(err, "BUSY") || redis.HasErrorPrefix(err, "MASTERDOWN") ||
		redis.HasErrorPrefix(err, "CLUSTERDOWN") || redis.HasErrorPrefix(err, "TRYAGAIN")
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// replicaError says that a server is not one to act on.
type replicaError struct{ role string }

func (e *replicaError) Error() string {
	return fmt.Sprintf("this server is a %s: what it says may be old, and what it changes is lost; act on its master", e.role)
}

// ready returns a connection that has just answered, to a server that is no
// replica as far as it tells. Whatever fails here, nothing was sent yet.
func ready(ctx context.Context, c *redis.Client) (*redis.Conn, error) {
	var err error
	for range 2 { // a connection of the pool may have been closed meanwhile
		conn := c.Conn()
		var role string
		if role, err = roleOf(ctx, conn); err == nil {
			if role == "slave" || role == "replica" || role == "sentinel" {
				_ = conn.Close() // nothing was sent on it
				return nil, &replicaError{role}
			}
			return conn, nil
		}
		_ = conn.Close() // it is broken
		if notSent(err) {
			break
		}
	}
	return nil, err
}

// roleOf asks a server for its role: by HELLO, which every user may send, else
// by ROLE; "" where it does not say.
func roleOf(ctx context.Context, conn *redis.Conn) (string, error) {
	reply, err := conn.Do(ctx, "HELLO").Result()
	if err == nil {
		for _, p := range pairsOf(family.Hash, reply) {
			if p.A == "role" {
				return p.B, nil
			}
		}
	}
	if err != nil && !serverError(err) {
		return "", err
	}
	parts, err := conn.Do(ctx, "ROLE").Slice()
	if err != nil && !serverError(err) {
		return "", err
	}
	if len(parts) > 0 {
		return text(parts[0]), nil
	}
	return "", nil
}
