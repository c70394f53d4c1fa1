package cli

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

func holdVerb() verb {
	return verb{
		name: "hold", args: "KEY DURATION", short: "take a lock for the operator, if it is still as it was seen",
		long: "Instead of deleting the lock it puts the operator in its holder's place, in the form of the lock's own\n" +
			"library, so that nobody takes it while the damage is looked at. It ends by itself after DURATION, or by\n" +
			"fencepost unhold KEY. Where it would not last there is no hold, and the reason is said.",
		minArgs: 1, maxArgs: 2, target: needsTarget, exits: actExits, flags: actFlagNames, run: runHold,
	}
}

func runHold(ctx context.Context, inv *invocation) int {
	key, d, err := inv.keyAndTime()
	if err != nil {
		return inv.fail(err)
	}
	a, done, code := inv.startAct(ctx, key)
	if a == nil {
		return code
	}
	defer done()
	a.plan = func(l inspect.Lock, holders []wire.Raw) (inspect.Plan, error) {
		if len(holders) > 0 && len(holders) < len(l.Holders) {
			return inspect.Plan{}, usagef("a hold takes the place of all who hold it: name them all, or release one")
		}
		if !a.opts.dryRun && !a.askReason(ctx) { // it stands beside the lock for all to read
			return inspect.Plan{}, usagef("a hold needs a reason")
		}
		return a.insp.PlanHold(l, d, operator(), a.opts.reason)
	}
	return a.one(ctx)
}

// operator is who runs this program, as user@host.
func operator() string {
	name := "uid " + fmt.Sprint(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}

func unholdVerb() verb {
	return verb{
		name: "unhold", args: "KEY", short: "give a lock up that an operator holds, and wake who waits",
		long:    "Only a hold is lifted, whoever put it there: a lock that somebody else has is left alone.",
		maxArgs: 1, target: needsTarget, exits: actExits,
		flags: []string{"key-b64", "reason", "yes", "dry-run", "audit", "watch-after"}, run: runUnhold,
	}
}

func runUnhold(ctx context.Context, inv *invocation) int {
	key := ""
	if len(inv.args) > 0 {
		key = inv.args[0]
	}
	a, done, code := inv.startAct(ctx, key)
	if a == nil {
		return code
	}
	defer done()
	a.plan = func(l inspect.Lock, _ []wire.Raw) (inspect.Plan, error) {
		ctx, cancel := a.step(ctx)
		defer cancel()
		p, note, err := a.insp.PlanUnhold(ctx, l)
		if err == nil {
			fmt.Fprintf(a.err, "On hold by %s since %s: %s\n", wire.Clean(note.By), note.Since.Format(time.RFC3339), wire.Clean(note.Reason))
		}
		return p, err
	}
	return a.one(ctx)
}
