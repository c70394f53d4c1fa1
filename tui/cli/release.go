package cli

import (
	"context"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

func releaseVerb() verb {
	return verb{
		name: "release", args: "[KEY]", short: "end a lock by force, if it is still as it was seen",
		long: "It compares and acts in one step, wakes who waits as the lock's own library would, and says what\n" +
			"came of it, the outcome first. Without a terminal --if-holder, --reason and --yes must all be given.\n" +
			"Instead of KEY, selectors choose several locks, with --dry-run or --max N.",
		maxArgs: 1, target: needsTarget, exits: actExits,
		flags: append([]string{"match", "family", "no-expiry", "held-longer-than", "possible", "max"}, actFlagNames...),
		run:   runRelease,
	}
}

func runRelease(ctx context.Context, inv *invocation) int {
	key := ""
	if len(inv.args) > 0 {
		key = inv.args[0]
	}
	a, done, code := inv.startAct(ctx, key)
	if a == nil {
		return code
	}
	defer done()
	a.plan = func(l inspect.Lock, holders []wire.Raw) (inspect.Plan, error) {
		return a.insp.PlanRelease(l, holders...)
	}
	if a.selecting {
		return a.several(ctx)
	}
	return a.one(ctx)
}
