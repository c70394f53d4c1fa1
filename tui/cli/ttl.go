package cli

import (
	"context"
	"strings"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

func ttlVerb() verb {
	return verb{
		name: "ttl", args: "KEY DURATION", short: "let a lock expire in DURATION, if it is still as it was seen",
		long: "It gives a lock without expiry one, shortens or extends the one it has, and changes nothing else.\n" +
			"Less than a second is refused: that would delete the lock, without waking who waits.",
		minArgs: 1, maxArgs: 2, target: needsTarget, exits: actExits, flags: actFlagNames, run: runTTL,
	}
}

func runTTL(ctx context.Context, inv *invocation) int {
	key, d, err := inv.keyAndTime()
	if err != nil {
		return inv.fail(err)
	}
	if err := inspect.CheckTTL(d); err != nil {
		return inv.fail(usagef("%s", strings.TrimPrefix(err.Error(), "inspect: ")))
	}
	a, done, code := inv.startAct(ctx, key)
	if a == nil {
		return code
	}
	defer done()
	a.plan = func(l inspect.Lock, holders []wire.Raw) (inspect.Plan, error) {
		return a.insp.PlanTTL(l, d, holders...)
	}
	return a.one(ctx)
}

// keyAndTime are the arguments KEY DURATION; KEY may be --key-b64 instead.
func (inv *invocation) keyAndTime() (key string, d time.Duration, err error) {
	text := inv.args[len(inv.args)-1]
	switch {
	case len(inv.args) == 2:
		key = inv.args[0]
	case inv.opts.keyB64 == "":
		return "", 0, usagef("it is: %s", inv.verb.synopsis())
	}
	d, err = time.ParseDuration(text)
	if err != nil {
		return "", 0, usagef("DURATION is a number with its unit, as 30s, 10m or 2h")
	}
	return key, d, nil
}
