package cli

import (
	"context"
	"fmt"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

// several runs the verb on the locks that the selectors choose, each compared
// with the holders that were found. It stops at the first surprise: where one
// lock is not as it was listed, the others may not be either.
func (a *act) several(ctx context.Context) int {
	if !a.opts.dryRun && a.opts.max == 0 {
		return a.fail(usagef("selectors take --dry-run, or --max N: no more than N locks"))
	}
	locks, cov, err := a.collect(ctx, a.t)
	if err != nil {
		return a.fail(err)
	}
	if !cov.Complete {
		a.warn("not everything could be looked at: " + coverageLine(cov, len(locks)))
	}
	if len(locks) == 0 {
		fmt.Fprintf(a.out, "%s no lock fits\n", inspect.Gone)
		return exitGone
	}
	if a.opts.max > 0 && len(locks) > a.opts.max {
		fmt.Fprintf(a.out, "%s %d locks fit, and --max allows %d; nothing was changed\n", inspect.Refused, len(locks), a.opts.max)
		return exitRefused
	}
	var plans []inspect.Plan
	code := exitOK
	for _, l := range locks {
		p, err := a.plan(l, nil)
		if err != nil {
			code = worse(code, a.cannot(&l, err))
			continue
		}
		plans = append(plans, p)
	}
	if a.opts.dryRun {
		for i := range plans {
			code = worse(code, a.printDryRun(&plans[i]))
		}
		return code
	}
	if !a.confirmSeveral(ctx, plans) {
		return exitError
	}
	return worse(code, a.carryOutAll(ctx, plans))
}

func (a *act) carryOutAll(ctx context.Context, plans []inspect.Plan) int {
	code := exitOK
	for i, p := range plans {
		got := a.carryOut(ctx, p)
		code = worse(code, got)
		if got == exitOK || got == exitGone {
			continue
		}
		if left := len(plans) - i - 1; left > 0 {
			fmt.Fprintf(a.err, "fencepost: stopped: %d more were not touched\n", left)
		}
		break
	}
	return code
}

// confirmSeveral lists the locks and asks for their number.
func (a *act) confirmSeveral(ctx context.Context, plans []inspect.Plan) bool {
	if a.opts.yes && a.opts.reason != "" {
		return true
	}
	for i := range plans {
		fmt.Fprintf(a.err, "  %s, held by %s\n", plans[i].Lock.Name(), plans[i].Lock.HolderWords())
	}
	if !a.opts.yes {
		answer, err := a.prompt(ctx, fmt.Sprintf("On %s. Type how many locks these are to go on: ", wire.Clean(a.place())))
		if err != nil || answer != fmt.Sprint(len(plans)) {
			a.leave()
			return false
		}
	}
	if !a.askReason(ctx) {
		a.leave()
		return false
	}
	return true
}
