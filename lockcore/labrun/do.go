package labrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// Do runs the calls in one transaction, with the lab's net at its end. On a
// server of the lab's own nobody comes in between, and with its memory full it
// would queue nothing: there they are sent one behind the other.
func (p *Port) Do(ctx context.Context, node string, calls ...wire.Call) ([]any, error) {
	client, err := p.clients(node)
	if err != nil {
		return nil, err
	}
	keys := p.keysOf(calls)
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	tx := client.TxPipeline()
	if !p.netted {
		tx = client.Pipeline()
	}
	probe := tx.Eval(ctx, probeSource, keys)
	cmds := make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		cmds[i] = redis.NewCmd(ctx, anys(c.Argv())...)
		if at := c.FirstKeyPos(); at > 0 {
			cmds[i].SetFirstKeyPos(int8(at))
		}
		_ = tx.Process(ctx, cmds[i]) // queued only; Exec reports
	}
	life := "0"
	if p.netted {
		life = strconv.FormatInt(netLife.Milliseconds(), 10)
	}
	laid := tx.Eval(ctx, netSource, keys, life)
	if _, err := tx.Exec(ctx); err != nil && !answered(err) {
		return nil, plainError(firstRefusal(cmds, err))
	}
	at := time.Now()
	before, _ := probe.Int64Slice()
	after, err := laid.Int64Slice()
	if err != nil {
		return nil, fmt.Errorf("labrun: the lab's net was not laid: %w", err)
	}
	p.note(node, client, keys, before, after, at)
	replies := make([]any, len(cmds))
	for i, c := range cmds {
		replies[i] = reply(c)
	}
	return replies, nil
}

// keysOf are the keys of the calls: everything that bears the prefix.
func (p *Port) keysOf(calls []wire.Call) []string {
	var keys []string
	for _, c := range calls {
		for _, a := range slices.Concat(c.Keys, c.Args) {
			if strings.HasPrefix(a, p.prefix) && !strings.Contains(a, ":wake:") && !slices.Contains(keys, a) {
				keys = append(keys, a)
			}
		}
	}
	return keys
}

// note keeps which keys will expire, and when in the story. A TTL that grew was
// set by this step: it counts from the story's now.
func (p *Port) note(node string, client redis.UniversalClient, keys []string, before, after []int64, at time.Time) {
	for i, key := range keys {
		if i >= len(before) || i >= len(after) {
			return
		}
		p.touched[key] = client
		id := node + " " + key
		switch ttl := after[i]; {
		case ttl < 0 || ttl >= netFloor.Milliseconds():
			delete(p.leases, id)
		case ttl > before[i] || p.leases[id].key == "":
			real := time.Duration(ttl) * time.Millisecond
			p.leases[id] = lease{node: node, key: key, real: at.Add(real), virtual: p.now + p.story(real), full: real}
		}
	}
}

func anys(argv []string) []any {
	out := make([]any, len(argv))
	for i, a := range argv {
		out[i] = a
	}
	return out
}

// answered reports whether an error is the server's answer to a command of the
// transaction, or a null reply.
func answered(err error) bool {
	var refused redis.Error
	return errors.Is(err, redis.Nil) || errors.As(err, &refused) && !strings.HasPrefix(err.Error(), "EXECABORT")
}

// firstRefusal is why a transaction was discarded: what the server said to the
// command that it would not queue.
func firstRefusal(cmds []*redis.Cmd, err error) error {
	for _, c := range cmds {
		var refused redis.Error
		if errors.As(c.Err(), &refused) && !strings.HasPrefix(refused.Error(), "EXECABORT") {
			return refused
		}
	}
	return err
}

func plainError(err error) error {
	if strings.Contains(err.Error(), "connection refused") {
		return errors.New("connection refused")
	}
	return err
}

// reply is what a command of the transaction answered.
func reply(c *redis.Cmd) any {
	v, err := c.Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case err != nil:
		return err
	}
	return v
}
