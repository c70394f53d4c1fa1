package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fencepost/lockcore/audit"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/target"
	"fencepost/lockcore/wire"
)

// actFlagNames are the flags of every verb that changes one lock.
var actFlagNames = []string{
	"if-holder", "if-holder-b64", "all-holders", "field", "key-b64", "reason", "yes", "dry-run", "audit", "watch-after",
}

// actExits are the exit codes of those verbs besides the common ones.
var actExits = []int{exitGone, exitChanged, exitRefused, exitUnknown, exitPartial}

// act is one run of a verb that changes locks: what was asked for, and the
// server it is asked of.
type act struct {
	*invocation
	t         *target.Target
	insp      *inspect.Inspector
	log       *audit.Log
	key       string
	selecting bool
	typed     *prompter  // what is typed; nil before the first question
	holders   []wire.Raw // named by --if-holder; escaped ones are matched too
	// plan makes the plan for one lock and these holders; none: all of them.
	plan func(l inspect.Lock, holders []wire.Raw) (inspect.Plan, error)
}

// startAct checks the command line, connects, and makes the act. Where it is
// over already, the act is nil: exit with code. done closes the connections.
func (inv *invocation) startAct(ctx context.Context, key string) (a *act, done func(), code int) {
	a = &act{invocation: inv, key: key}
	if err := a.readFlags(); err != nil {
		return nil, nil, inv.fail(err)
	}
	t, code := inv.open(ctx)
	if t == nil {
		return nil, nil, code
	}
	closeTarget := func() { _ = t.Close() } // the verb is over
	a.t = t
	if err := a.checkAllowed(); err != nil {
		closeTarget()
		return nil, nil, a.stop(err)
	}
	in, closing, err := inv.inspector(ctx, t)
	if err != nil {
		closeTarget()
		return nil, nil, inv.fail(err)
	}
	a.insp, a.log = in, inv.auditLog()
	return a, func() { closing(); closeTarget() }, exitOK
}

// auditLog is where what is changed is written down.
func (inv *invocation) auditLog() *audit.Log {
	switch {
	case inv.opts.audit == "-":
		return audit.Stream(inv.err)
	case inv.opts.audit != "":
		return audit.File(inv.opts.audit)
	}
	return audit.File(inv.paths().Audit)
}

// refusal is why nothing may be done here. It is an outcome, not a mistake on
// the command line.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// checkAllowed refuses before anything is looked at what cannot be done here.
func (a *act) checkAllowed() error {
	switch {
	case a.opts.dryRun:
		return nil
	case a.t.Info.ReadOnly:
		return &refusal{"nothing was changed: this target was opened read-only"}
	case a.t.Info.Role == target.Replica && a.t.Info.Mode == target.Single:
		// What it has, its master may have otherwise: not even that nobody holds it is sure.
		return &refusal{"nothing was changed: this server is a replica: what it says may be old, and what it changes is lost; act on its master"}
	case !a.t.Guarded():
		return nil
	case !a.opts.yes || a.opts.reason == "" || !a.namesHolder():
		return usagef("%s is guarded like production (--env names another environment): --if-holder, --reason and --yes must all be given", a.place())
	}
	if err := a.auditLog().Check(); err != nil {
		return &refusal{fmt.Sprintf("nothing was changed: %v: %v", audit.ErrUnwritten, wire.Clean(err.Error()))}
	}
	return nil
}

// place names the target for people.
func (a *act) place() string {
	switch {
	case a.t.Info.Env != "":
		return wire.Clean(a.t.Info.Env) + " (" + a.t.Addr() + ")"
	case a.opts.profile != "":
		return wire.Clean(a.opts.profile) + " (" + a.t.Addr() + ")"
	}
	return a.t.Addr()
}

// stop ends the verb with an error: as an outcome where it is one.
func (a *act) stop(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		fmt.Fprintln(a.out, string(inspect.Refused), r.text)
		return exitRefused
	}
	return a.fail(err)
}

// exitOf is the exit code of an outcome.
func exitOf(w inspect.Word) int {
	switch w {
	case inspect.Gone:
		return exitGone
	case inspect.Changed:
		return exitChanged
	case inspect.Refused:
		return exitRefused
	case inspect.Unknown:
		return exitUnknown
	case inspect.Partial:
		return exitPartial
	}
	if w.Done() {
		return exitOK
	}
	return exitError
}

// severity orders exit codes, the worst last.
var severity = []int{exitOK, exitGone, exitChanged, exitRefused, exitPartial, exitUnknown, exitError}

// worse is the worse of two exit codes.
func worse(a, b int) int {
	if cmp.Compare(slices.Index(severity, a), slices.Index(severity, b)) < 0 {
		return b
	}
	return a
}

// one runs the verb on one key.
func (a *act) one(ctx context.Context) int {
	l, holders, code := a.find(ctx)
	if l == nil {
		return code
	}
	p, err := a.plan(*l, holders)
	if err != nil {
		return a.cannot(l, err)
	}
	if a.opts.dryRun {
		return a.printDryRun(&p)
	}
	if code, ok := a.confirm(ctx, &p); !ok {
		return code
	}
	return a.carryOut(ctx, p)
}

// cannot says why there is no plan for a lock.
func (a *act) cannot(l *inspect.Lock, err error) int {
	if isUsage(err) {
		return a.fail(err)
	}
	text := strings.TrimPrefix(wire.Clean(err.Error()), "inspect: ")
	fmt.Fprintf(a.out, "%s %s: nothing was changed: %s\n", inspect.Refused, l.Name(), text)
	return exitRefused
}

// carryOut writes it down, does it, and says what came of it.
func (a *act) carryOut(ctx context.Context, p inspect.Plan) int {
	ctx, cancel := context.WithTimeout(ctx, a.opts.timeout*time.Duration(len(p.Steps)))
	defer cancel()
	o, warnings := a.log.Act(ctx, a.insp, p, a.auditContext(&p))
	for _, w := range warnings {
		a.warn(w)
	}
	if o.Word == inspect.Failed {
		return a.fail(errors.New(o.Detail(&p)))
	}
	fmt.Fprintln(a.out, string(o.Word), o.Detail(&p))
	if o.Word.Done() {
		a.watchAfter(&p, &o)
	}
	return exitOf(o.Word)
}

func (a *act) auditContext(p *inspect.Plan) audit.Context {
	return audit.Context{
		Verb: a.verb.name, Target: a.t.Addr(), Env: a.t.Info.Env, Guarded: a.t.Guarded(), RedisUser: a.t.Info.User,
		Reason: a.opts.reason, Evidence: p.Lock.Evidence(time.Now()),
	}
}

// watchAfter says who takes the lock next, where that was asked for; on a
// terminal it is, unless told otherwise.
func (a *act) watchAfter(p *inspect.Plan, o *inspect.Outcome) {
	d := a.opts.watchAfter
	if !a.given["watch-after"] && a.isTerminal(a.out) {
		d = 2 * time.Second
	}
	if d <= 0 || p.Act != inspect.Release {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	after, err := a.insp.WatchAfter(ctx, p, o)
	if err != nil {
		a.warn("who takes it next cannot be seen: " + wire.Clean(err.Error()))
		return
	}
	fmt.Fprintf(a.out, "%s: %s\n", p.Lock.Name(), after.Text())
}
