package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/sandbox"
	"fencepost/lockcore/target"
	"fencepost/tui"
	"fencepost/tui/theme"
)

// consoleVerb is fencepost without a verb.
func consoleVerb() verb {
	return verb{
		short: "the console: watch the locks, release one",
		long: "Without a server it opens a sandbox: a Redis inside the program, with locks to try things on.\n" +
			"Press ? for the keys.",
		target: mayTarget,
		flags:  []string{string(groupLook), "audit"},
		run:    runConsole,
	}
}

// runConsole opens the console on the target, or on a sandbox.
func runConsole(ctx context.Context, inv *invocation) int {
	o := tui.Options{
		Query: inv.consoleQuery(), Theme: theme.Detect(inv.env, true), Keys: keymap.Default(), In: inv.in, Out: inv.out,
		Crash: &tui.Crash{Dir: inv.paths().State, Redact: inv.redact}, Timeout: inv.opts.timeout,
		Audit: inv.auditLog(), Operator: operator(),
	}
	if inv.opts.audit == "-" && inv.isTerminal(inv.err) {
		return inv.fail(usagef("--audit - would write across the screen: name a file, or send standard error elsewhere"))
	}
	if !inv.isTerminal(inv.in) {
		return inv.fail(usagef("the console reads keys, and standard input is no terminal (</dev/tty makes it one); fencepost list prints the locks"))
	}
	open := inv.openSandbox
	if inv.hasTarget() {
		open = inv.openTarget
	}
	closing, code := open(ctx, &o)
	if code != exitOK {
		return code
	}
	defer closing()
	defer keepMemoryBound()()
	return inv.consoleEnded(tui.Run(ctx, o))
}

// consoleQuery is what the console looks for.
func (inv *invocation) consoleQuery() inspect.Query {
	o := inv.opts
	q := inspect.Query{Match: o.match, Families: o.family, Possible: o.possible, Count: o.scanCount, Rate: -1}
	if inv.given["scan-rate"] {
		q.Rate = o.scanRate
	}
	switch {
	case o.deep:
		q.Depth = inspect.Deep
	case o.names:
		q.Depth = inspect.ByName
	}
	return q
}

// consoleEnded turns the console's end into an exit code. By then the terminal
// is as it was before.
func (inv *invocation) consoleEnded(err error) int {
	var signal tui.SignalError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &signal):
		return 128 + int(signal.Signal)
	}
	fmt.Fprintf(inv.err, "fencepost: %s\n", err)
	return exitError
}

// openSandbox starts the Redis inside the program.
func (inv *invocation) openSandbox(ctx context.Context, o *tui.Options) (closing func(), code int) {
	s, err := sandbox.Start(ctx, sandbox.Options{Seed: uint64(time.Now().UnixNano()), Crash: o.Crash.Report})
	if err != nil {
		return nil, inv.fail(err)
	}
	client := redis.NewClient(&redis.Options{
		Dialer: s.Dial, Addr: "sandbox", PoolSize: 8, PipelinePoolSize: -1, MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	o.Inspector = inspect.New(inspect.Node{Addr: "sandbox", Client: client})
	o.Server = tui.Server{Name: "sandbox", Role: target.Master, Mode: target.Single, Sandbox: true}
	o.Server.ReadOnly = inv.readOnlyReason(inv.opts.target.ReadOnly || isOn(inv.env("FENCEPOST_READ_ONLY")))
	o.Explain = s.Says
	server := o.Server
	o.Identify = func(ctx context.Context) (tui.Server, error) { return server, client.Ping(ctx).Err() }
	if _, err := inv.consoleLab(o, nil); err != nil {
		_ = client.Close() // the error says more
		s.Close()
		return nil, inv.fail(err)
	}
	return func() { _ = client.Close(); s.Close() }, exitOK
}

// openTarget connects to the server that was named.
func (inv *invocation) openTarget(ctx context.Context, o *tui.Options) (closing func(), code int) {
	t, code := inv.open(ctx)
	if t == nil {
		return nil, code
	}
	in, ending, err := inv.inspector(ctx, t)
	if err != nil {
		_ = t.Close() // the error says more
		return nil, inv.fail(err)
	}
	nodes := in.Nodes()
	o.Query = inv.consoleQuery() // a profile may have given patterns
	o.Inspector = in
	o.Server = inv.describe(t, nodes)
	server := o.Server
	o.Identify = func(ctx context.Context) (tui.Server, error) { return identify(ctx, server, nodes) }
	tidy, err := inv.consoleLab(o, t.Client)
	if err != nil {
		ending()
		_ = t.Close() // the error says more
		return nil, inv.fail(err)
	}
	return func() { tidy(); ending(); _ = t.Close() }, exitOK
}

// describe is what the header says of a target.
func (inv *invocation) describe(t *target.Target, nodes []inspect.Node) tui.Server {
	s := tui.Server{
		Name: t.Addr(), Addr: t.Addr(), Role: t.Info.Role, Mode: t.Info.Mode, Version: serverVersion(t.Info.Version), User: t.Info.User,
		Env: t.Info.Env, Guarded: t.Guarded(), DB: nodes[0].DB, ReadOnly: inv.readOnlyReason(t.Info.ReadOnly),
	}
	if s.Mode == target.Cluster && len(nodes) == 1 && t.Info.Nodes > 1 { // --single
		s.Mode = fmt.Sprintf("1 of %d nodes", t.Info.Nodes)
	}
	if inv.opts.profile != "" {
		s.Name = inv.opts.profile + " (" + s.Name + ")"
	}
	return s
}

// serverVersion names the server where it is Redis itself, which gives only a
// number.
func serverVersion(v string) string {
	if v != "" && v[0] >= '0' && v[0] <= '9' {
		return "redis " + v
	}
	return v
}

func (inv *invocation) readOnlyReason(readOnly bool) string {
	if !readOnly {
		return ""
	}
	return "this console was started read-only"
}

// identify asks the first node what role it has now. A server that will not say
// keeps the role that it had.
func identify(ctx context.Context, s tui.Server, nodes []inspect.Node) (tui.Server, error) {
	role, err := nodes[0].Client.Do(ctx, "ROLE").Slice()
	var refused redis.Error
	switch {
	case errors.As(err, &refused):
		return s, nil
	case err != nil || len(role) == 0:
		return s, err
	case role[0] == "master":
		s.Role = target.Master
	case role[0] == "slave":
		s.Role = target.Replica
	}
	return s, nil
}

// redact takes the passwords that are known here out of a text.
func (inv *invocation) redact(text string) string {
	secrets := []string{inv.env("REDISCLI_AUTH"), inv.env("FENCEPOST_SENTINEL_AUTH")}
	if p := inv.opts.target.Password; p != nil {
		secrets = append(secrets, string(*p))
	}
	if u, err := url.Parse(string(inv.opts.target.URL)); err == nil && u.User != nil {
		password, _ := u.User.Password()
		secrets = append(secrets, password, string(inv.opts.target.URL))
	}
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, target.Secret("").String())
		}
	}
	return text
}
