package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"fencepost/lockcore/scenario"
	"fencepost/lockcore/wire"
)

// openLab opens the place where it is to be played, and asks first where that
// is somebody's Redis.
func (inv *invocation) openLab(ctx context.Context, p plan) (l lab, closing func(), code int) {
	nothing := func() {}
	l = lab{where: scenario.Sandbox, timeout: inv.opts.timeout}
	switch {
	case inv.opts.lab.ownServers && inv.hasTarget():
		return l, nothing, inv.fail(usagef("--own-servers starts servers, so none is named"))
	case inv.opts.lab.ownServers:
		l.where = scenario.OwnServers
		return l, nothing, exitOK
	case !inv.hasTarget():
		return l, nothing, exitOK
	}
	l.where = scenario.ChosenRedis
	if !p.story.RunsAt(l.where) {
		return l, nothing, inv.fail(refusalFor(p.story, l.where))
	}
	t, code := inv.open(ctx)
	if t == nil {
		return l, nothing, code
	}
	closing = func() { _ = t.Close() }
	switch {
	case t.Info.ReadOnly:
		closing()
		fmt.Fprintln(inv.out, "REFUSED: the lab writes, and this is read-only")
		return l, nothing, exitRefused
	case !inv.opts.yes && (!inv.isTerminal(inv.in) || t.Guarded()):
		closing()
		return l, nothing, inv.fail(usagef("on a server that is not the sandbox the lab asks first; without a terminal, and on a guarded one, give --yes. %s", labPromise))
	case !inv.opts.yes && !inv.agrees(p.story.Name, t.Addr(), t.Info.Env):
		closing()
		fmt.Fprintln(inv.err, "fencepost: nothing was done")
		return l, nothing, exitError
	}
	l.client = t.Client
	return l, closing, exitOK
}

// labPromise is what the lab does on somebody's Redis.
const labPromise = "It writes below fencepost:lab:<random>: only, gives every key an expiry of at most ten minutes, and removes all of them at the end."

// agrees asks on the terminal.
func (inv *invocation) agrees(story, addr, env string) bool {
	where := wire.Clean(addr)
	if env != "" {
		where += " (" + wire.Clean(env) + ")"
	}
	fmt.Fprintf(inv.err, "Play %s on %s? %s\nyes/no: ", wire.Clean(story), where, labPromise)
	line, _ := bufio.NewReader(inv.in).ReadString('\n')
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line)))
}
