package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"fencepost/lockcore/target"
	"fencepost/lockcore/wire"
	"fencepost/tui/config"
)

// hasTarget reports whether a flag names a server, or makes one of the
// defaults.
func (inv *invocation) hasTarget() bool {
	for _, f := range targetFlags() {
		if inv.given[f.name] && f.name != "env" && f.name != "read-only" {
			return true
		}
	}
	return false
}

// paths are the files of this run.
func (inv *invocation) paths() config.Paths {
	p := config.FindPaths(inv.env)
	if inv.opts.config != "" {
		p.Config = inv.opts.config
	}
	return p
}

// loadConfig reads the configuration file.
func (inv *invocation) loadConfig() (*config.Config, error) {
	p := inv.paths()
	if p.Config == "" {
		return &config.Config{}, nil
	}
	return config.Load(p.Config, inv.opts.config != "")
}

// targetOptions puts flags, profile and environment together. Patterns that
// the profile has become those of the run where no flag gave any.
func (inv *invocation) targetOptions() (target.Options, error) {
	o := inv.opts.target
	o.Timeout = inv.opts.timeout
	if inv.opts.profile != "" {
		profile, err := inv.profile()
		if err != nil {
			return o, err
		}
		if o.Env != "" && profile.Env != "" && !target.IsProd(o.Env) && o.Env != profile.Env {
			inv.warn("the profile's env stays: a flag can only make it stricter")
		}
		o = o.Under(profileOptions(profile))
		if len(inv.opts.match) == 0 {
			inv.opts.match = profile.Match
		}
	}
	if auth := target.Secret(inv.env("REDISCLI_AUTH")); auth != "" {
		o.EnvPassword = &auth
	}
	o.SentinelPassword = target.Secret(inv.env("FENCEPOST_SENTINEL_AUTH"))
	o.ReadOnly = o.ReadOnly || isOn(inv.env("FENCEPOST_READ_ONLY"))
	if inv.isTerminal(inv.in) {
		o.Ask = inv.ask
	}
	return o, nil
}

// isOn reads a switch in the environment. What cannot be read is on: a switch
// that makes things safer must not fail for a typing error.
func isOn(s string) bool {
	return !slices.Contains([]string{"", "0", "no", "off", "false"}, strings.ToLower(s))
}

func (inv *invocation) profile() (config.Profile, error) {
	c, err := inv.loadConfig()
	if err != nil {
		return config.Profile{}, err
	}
	p, ok := c.Profiles[inv.opts.profile]
	if ok {
		return p, nil
	}
	var names []string
	for name := range c.Profiles {
		names = append(names, wire.Escape(name))
	}
	slices.Sort(names)
	switch near := config.Closest(inv.opts.profile, names); {
	case near != "":
		return p, usagef("there is no such profile; is %s meant?", near)
	case len(names) > 0:
		return p, usagef("there is no such profile; there are: %s", strings.Join(names, ", "))
	}
	return p, usagef("there is no such profile; the configuration file has none (fencepost paths says where it lies)")
}

func profileOptions(p config.Profile) target.Options {
	return target.Options{
		Host: p.Host, Port: p.Port, Socket: p.Socket, DB: p.DB, URL: target.Secret(p.URL),
		User: p.User, Cluster: p.Cluster, Single: p.Single, Addrs: p.Addr,
		SentinelMaster: p.SentinelMaster, SentinelUser: p.SentinelUser,
		TLS: p.TLS, SNI: p.SNI, CACert: p.CACert, Cert: p.Cert, Key: p.Key, Insecure: p.Insecure,
		Env: p.Env, ReadOnly: p.ReadOnly, PasswordCommand: p.PasswordCommand, PasswordFile: p.PasswordFile,
	}
}

// open connects to the target and prints what the operator should know of it.
// Where that fails it prints why, and the target is nil: exit with code.
func (inv *invocation) open(ctx context.Context) (t *target.Target, code int) {
	o, err := inv.targetOptions()
	if err != nil {
		return nil, inv.fail(err)
	}
	t, err = target.Open(ctx, o)
	if err != nil {
		return nil, inv.fail(err)
	}
	for _, w := range t.Warnings {
		inv.warn(w)
	}
	return t, exitOK
}

// ask reads a password from the terminal without showing it.
func (inv *invocation) ask(prompt string) (target.Secret, error) {
	f, ok := inv.in.(*os.File)
	if !ok {
		return "", errors.New("standard input is no terminal")
	}
	fd := int(f.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	// ctrl+c must not leave the terminal without echo.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	go func() {
		if s, ok := <-stop; ok {
			_ = term.Restore(fd, state) // the program ends here either way
			fmt.Fprintln(inv.err)
			os.Exit(128 + int(s.(syscall.Signal)))
		}
	}()
	fmt.Fprint(inv.err, prompt)
	text, err := term.ReadPassword(fd)
	fmt.Fprintln(inv.err)
	return target.Secret(text), err
}
