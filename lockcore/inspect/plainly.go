package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// errNoScripts says that only a script could do it.
var errNoScripts = errors.New("this server runs no scripts for this user (EVAL), and without one this lock cannot be compared and changed in one step; grant +eval")

// plainTries is how often the comparison is made again when something touched
// the lock in between; a renewal does, and nothing has been changed then.
const plainTries = 5

// plainly does a step between WATCH and EXEC, where the server runs no scripts.
func (in *Inspector) plainly(ctx context.Context, n Node, act Act, out *StepOutcome) {
	out.Plainly, out.Err = true, nil
	parts, ok := out.Step.Call.Plain()
	if !ok {
		out.Word, out.Err = Refused, errNoScripts
		return
	}
	p := plain{act: act, out: out}
	for range plainTries {
		p.sent = false
		err := n.Client.Watch(ctx, func(tx *redis.Tx) error { return p.once(ctx, tx, parts) }, parts.Watch...)
		switch {
		case p.sent && err != nil && !serverError(err):
			out.Word, out.Err = Unknown, err
			in.settle(n, act, out)
		case errors.Is(err, redis.TxFailedErr):
			continue // touched meanwhile, and nothing was done: look again
		case notPermitted(err) && out.Step.Call.Receipt().Key != "":
			out.Step.Call = out.Step.Call.WithReceipt(wire.Receipt{})
			parts, _ = out.Step.Call.Plain()
			continue
		case serverError(err), notSent(err):
			out.Word, out.Err = Refused, explainRefusal(fmt.Errorf("scripts are not permitted (EVAL), and without them: %w", err))
		case err != nil:
			out.Word, out.Err = Failed, err
		}
		return
	}
	out.Word, out.Why = Changed, wire.WhyDeadline
}

// plain is one try of a step without scripts.
type plain struct {
	act  Act
	out  *StepOutcome
	sent bool  // EXEC was sent: from here on it may have run
	mute error // why the wake-up is left out
}

// once compares and, if all is as it was seen, acts.
func (p *plain) once(ctx context.Context, tx *redis.Tx, parts wire.Plain) error {
	replies, err := readAll(ctx, tx, parts.Reads)
	if err != nil {
		return err
	}
	a, err := parts.Decide(replies)
	if err != nil {
		return err
	}
	if a.Status == wire.ReleaseDone && len(a.Writes) > 0 {
		if p.mute != nil {
			a.Told, a.Err = wire.ToldFailed, p.mute.Error()
			a.Writes, a.Wake = slices.Delete(a.Writes, a.Wake, a.Wake+1), -1
		}
		if err := p.writeAll(ctx, tx, &a); err != nil {
			return err
		}
	}
	p.out.answer(a.ReleaseReply, p.act.word())
	return nil
}

// readAll sends the reading commands; a null is nil, a server's error itself.
func readAll(ctx context.Context, tx *redis.Tx, reads []wire.Call) ([]any, error) {
	replies := make([]any, len(reads))
	for i, r := range reads {
		v, err := sendTo(ctx, tx, r)
		switch {
		case errors.Is(err, redis.Nil):
			v = nil
		case serverError(err):
			v = err
		case err != nil:
			return nil, err
		}
		replies[i] = v
	}
	return replies, nil
}

// writeAll sends the writes in one transaction. A wake-up that this user may not
// send would undo all of it: it is left out, and said to have failed.
func (p *plain) writeAll(ctx context.Context, tx *redis.Tx, a *wire.PlainAnswer) error {
	if _, err := sendTo(ctx, tx, wire.Command("MULTI")); err != nil {
		return err
	}
	for i, w := range a.Writes {
		_, err := sendTo(ctx, tx, w)
		switch {
		case err == nil:
			continue
		case !serverError(err):
			return err
		}
		if _, gaveUp := sendTo(ctx, tx, wire.Command("DISCARD")); gaveUp != nil {
			return gaveUp
		}
		if i != a.Wake {
			return err
		}
		p.mute = err
		return redis.TxFailedErr // DISCARD has ended the WATCH: all over again, without it
	}
	p.sent = true
	reply, err := sendTo(ctx, tx, wire.Command("EXEC"))
	if errors.Is(err, redis.Nil) {
		p.sent = false
		return redis.TxFailedErr
	}
	if err != nil {
		return err
	}
	results, _ := reply.([]any)
	p.results(results, a)
	return nil
}

// results reads what EXEC did. A command that failed in it did not stop the rest.
func (p *plain) results(results []any, a *wire.PlainAnswer) {
	for i, r := range results {
		err, failed := r.(error)
		switch n, number := r.(int64); {
		case i == a.Wake && failed:
			a.Told, a.Err = wire.ToldFailed, err.Error()
		case i == a.Wake && number:
			a.Told = n
		case failed:
			a.Status, a.Err = wire.ReleaseHalf, err.Error()
		}
	}
}
