package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fencepost/lockcore/redistest"
)

// result is what a run left.
type result struct {
	code     int
	out, err string
}

// run runs the command line without a terminal, in an environment of its own.
func run(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := Run(args, func(k string) string { return env[k] }, strings.NewReader(""), &out, &errs)
	return result{code, out.String(), errs.String()}
}

func (r result) has(t *testing.T, what string, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("%s: exit %d, want %d\n%s%s", what, r.code, code, r.out, r.err)
	}
	for _, w := range words {
		if !strings.Contains(r.out+r.err, w) {
			t.Errorf("%s: does not say %q:\n%s%s", what, w, r.out, r.err)
		}
	}
}

func TestHelpInAllItsForms(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"-?"}, {"help"}, {"--json", "-h"}, {"-h", "--json"}} {
		r := run(t, nil, args...)
		r.has(t, fmt.Sprint(args), exitOK, "Usage: fencepost [VERB]", "fencepost paths")
		if r.err != "" {
			t.Errorf("%v: on standard error: %s", args, r.err)
		}
	}
	for _, args := range [][]string{{"paths", "--help"}, {"paths", "-h"}, {"-h", "paths"}, {"-?", "paths"}, {"help", "paths"}, {"paths", "--timeout", "1s", "-h"}} {
		run(t, nil, args...).has(t, fmt.Sprint(args), exitOK, "Usage: fencepost paths")
	}
	for _, word := range reserved {
		if r := run(t, nil, "--help"); strings.Contains(r.out, word) {
			t.Errorf("--help shows %s, which is not built", word)
		}
		run(t, nil, word).has(t, word, exitUsage, "not built yet")
	}
}

// -h with a host after it is the host, as in redis-cli.
func TestHostOrHelp(t *testing.T) {
	for _, tc := range []struct {
		args string
		host string // "" : help
	}{
		{"-h", ""}, {"-h -p 1", ""}, {"paths -h", ""}, {"-h 127.0.0.1", "127.0.0.1"},
		{"-h myhost paths", "myhost"}, {"paths -h paths", "paths"}, {"-h paths", ""}, {"-p 1 -h x", "x"},
		{"-hx paths", "x"}, {"--host=x", "x"}, {"--user -h -p 1", "none"}, {"-- -h", "none"},
	} {
		p, err := parseArgs(strings.Fields(tc.args))
		if err != nil {
			t.Errorf("%s: %v", tc.args, err)
			continue
		}
		if want := tc.host == ""; p.opts.help != want {
			t.Errorf("%s: help = %v", tc.args, p.opts.help)
		}
		if want := strings.TrimPrefix(tc.host, "none"); p.opts.target.Host != want {
			t.Errorf("%s: host %q, want %q", tc.args, p.opts.target.Host, want)
		}
	}
}

func TestVerbsAndFlagsInAnyOrder(t *testing.T) {
	for _, line := range []string{"a --port 7 b", "--port 7 a b", "a b -p7", "-p 7 -- a b", "a -p=7 b"} {
		p, err := parseArgs(strings.Fields(line))
		if err != nil || p.opts.target.Port != 7 || strings.Join(p.words, " ") != "a b" {
			t.Errorf("%s: port %d, words %q, %v", line, p.opts.target.Port, p.words, err)
		}
	}
	p, err := parseArgs([]string{"release", "--", "-odd-key", "--help"})
	if err != nil || p.opts.help || strings.Join(p.words, " ") != "release -odd-key --help" {
		t.Errorf("after --: %q, %v", p.words, err)
	}
}

func TestUsageErrors(t *testing.T) {
	for _, tc := range []struct {
		args  string
		words []string
	}{
		{"pahts", []string{"is paths meant?"}},
		{"xyzzy", []string{"no such verb", "paths"}},
		{"redis://127.0.0.1:1", []string{"-u"}},
		{"user@127.0.0.1:7399", []string{"-u"}},
		{"127.0.0.1:6379", []string{"-h HOST -p PORT"}},
		{"order:*", []string{"--match"}},
		{"list --match= -p 1", []string{"leave it out"}},
		{"paths extra", []string{"one argument too many", "fencepost paths"}},
		{"paths redis://h", []string{"-u"}},
		{"paths lock:*", []string{"--match"}},
		{"--prot 1", []string{"is --port meant?"}},
		{"--xyzzy", []string{"no such flag"}},
		{"-x", []string{"no such flag of one letter"}},
		{"--port", []string{"--port needs a value: --port PORT"}},
		{"--port x", []string{"--port takes a number from 1 to 65535"}},
		{"--port 0", []string{"--port takes"}},
		{"-p 70000", []string{"--port takes"}},
		{"-n -1", []string{"--db takes a number from 0 on"}},
		{"--timeout 5", []string{"--timeout takes a time"}},
		{"--timeout=-1s", []string{"--timeout takes a time"}},
		{"paths --timeout 0s", []string{"longer than 0"}},
		{"--json=maybe", []string{"--json is a switch"}},
		{"paths --port 1", []string{"--port is no flag of fencepost paths"}},
		{"help xyzzy", []string{"no such verb"}},
	} {
		r := run(t, nil, strings.Fields(tc.args)...)
		r.has(t, tc.args, exitUsage, tc.words...)
		if r.out != "" {
			t.Errorf("%s: on standard output: %s", tc.args, r.out)
		}
	}
}

// B23, and its kind: whatever is given in the wrong place, no stream repeats
// it.
func TestNothingGivenIsEchoed(t *testing.T) {
	for _, args := range [][]string{
		{"s3cret"}, {"s3cret@127.0.0.1:7399"}, {"redis://:s3cr%ZZet@127.0.0.1:7399"}, {":s3cret@h"}, {"s3cret*"},
		{"paths", "s3cret"}, {"help", "s3cret"}, {"--s3cret"}, {"--s3cret=1"}, {"-xs3cret"}, {"-ps3cret"},
		{"-p", "s3cret"}, {"--port=s3cret"}, {"-n", "s3cret"}, {"--timeout", "s3cret"}, {"--tls=s3cret"}, {"--json=s3cret"},
		{"--askpass", "s3cret"}, {"--max", "s3cret"}, {"--scan-rate=s3cret"}, {"=s3cret"}, {"--=s3cret"}, {"---s3cret"},
		{"-p=s3cret"}, {"-as3cret", "pahts"}, {"-a", "s3cret", "paths"}, {"-u", "redis://:s3cret@h", "paths"}, {"paths", "--pass", "s3cret"},
	} {
		r := run(t, map[string]string{"REDISCLI_AUTH": "s3cret-too"}, args...)
		if strings.Contains(r.out+r.err, "s3cr") {
			t.Errorf("%q: echoed:\n%s%s", args, r.out, r.err)
		}
		if r.code != exitUsage {
			t.Errorf("%q: exit %d", args, r.code)
		}
	}
}

// needs is a verb with a target, for what all of those have in common.
func needs(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	inv := &invocation{env: func(k string) string { return env[k] }, in: strings.NewReader(""), out: &out, err: &errs}
	p, err := parseArgs(args)
	if err != nil {
		t.Fatal(err)
	}
	inv.opts, inv.given, inv.args = p.opts, p.given, p.words
	inv.verb = verb{name: "test", target: needsTarget, flags: []string{string(groupLook)}}
	if err := inv.check(); err != nil {
		code := inv.fail(err)
		return result{code, out.String(), errs.String()}
	}
	tg, code := inv.open(t.Context())
	if tg != nil {
		fmt.Fprintf(&out, "addr=%s user=%s env=%s guarded=%v read-only=%v match=%q", tg.Info.Addr, tg.Info.User, tg.Info.Env, tg.Guarded(), tg.Info.ReadOnly, inv.opts.match)
		_ = tg.Close() // the test is done with it
	}
	return result{code, out.String(), errs.String()}
}

func TestWithoutATarget(t *testing.T) {
	for _, args := range [][]string{{}, {"--env", "dev"}, {"--read-only"}, {"--match", "x"}} {
		r := needs(t, map[string]string{"REDISCLI_AUTH": "x"}, args...)
		r.has(t, fmt.Sprint(args), exitUsage, "needs a server")
	}
}

func TestTarget(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "pw")
	s.Do("ACL", "SETUSER", "ops", "on", ">s3cret", "~*", "+@all")
	port := fmt.Sprint(s.Port)
	pw := map[string]string{"REDISCLI_AUTH": "pw"}

	r := needs(t, pw, "-p", port)
	r.has(t, "port alone", exitOK, "addr="+s.Addr, "user=default", "guarded=false", "read-only=false")
	r = needs(t, nil, "-p", port, "-a", "pw")
	r.has(t, "-a", exitOK, "user=default")
	r = needs(t, pw, "-u", "redis://ops:s3cret@"+s.Addr, "--env", "prod")
	r.has(t, "url", exitOK, "user=ops", "env=prod", "guarded=true")
	r = needs(t, map[string]string{"REDISCLI_AUTH": "pw", "FENCEPOST_READ_ONLY": "1"}, "-p", port)
	r.has(t, "read-only from the environment", exitOK, "read-only=true")
	r = needs(t, nil, "-p", port, "--user", "ops")
	r.has(t, "a user without a password", exitError, "no password was given", "--askpass")
	r = needs(t, nil, "-p", port, "--user", "ops", "-a", "wrong")
	r.has(t, "a user with a wrong password", exitError, "wrong user name or password")
	r = needs(t, nil, "-p", fmt.Sprint(redistest.FreePort(t)))
	r.has(t, "closed port", exitError, "connection refused")
	r = needs(t, nil, "-p", port, "--key", "order-lock")
	r.has(t, "a lock's key in --key", exitUsage, "TLS client certificate", "release KEY")
	r = needs(t, nil, "-p", port, "--tls", "--cert", "x", "--key", "/no/such/file")
	r.has(t, "missing certificate", exitUsage, "no such file")
	r = needs(t, nil, "-p", port, "--askpass")
	r.has(t, "--askpass without a terminal", exitUsage, "needs a terminal")
}

func TestProfiles(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "pw")
	file := filepath.Join(t.TempDir(), "config.toml")
	text := fmt.Sprintf("[profiles.orders]\nurl = 'redis://%s/2'\npassword_command = 'echo pw'\nenv = 'prod'\nread_only = true\nmatch = ['order:*']\n[profiles.bad]\nport = 'x'\n", s.Addr)
	good, _, _ := strings.Cut(text, "[profiles.bad]")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(good)
	r := needs(t, nil, "--profile", "orders", "--config", file)
	r.has(t, "profile", exitOK, "addr="+s.Addr, "env=prod", "guarded=true", "read-only=true", `match=["order:*"]`)
	r = needs(t, nil, "--profile", "orders", "--config", file, "--env", "dev", "--match", "x")
	r.has(t, "env towards the laxer", exitOK, "env=prod", "stricter", `match=["x"]`)
	r = needs(t, nil, "--profile", "order", "--config", file)
	r.has(t, "near miss", exitUsage, "is orders meant?")
	r = needs(t, nil, "--profile", "orders", "--config", file+"x")
	r.has(t, "no file", exitError, "no such file")
	write(text)
	r = needs(t, nil, "--profile", "orders", "--config", file)
	r.has(t, "bad file", exitError, file+":8:", "port is a number")
}

func TestPathsFollowXDG(t *testing.T) {
	r := run(t, map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "paths")
	r.has(t, "paths", exitOK, "/h/.config/fencepost/config.toml", "/s/fencepost/audit.jsonl")
	run(t, nil, "paths").has(t, "nowhere", exitOK, "nowhere")
	run(t, nil, "paths", "--config", "/c.toml").has(t, "named", exitOK, "/c.toml")
}

func TestVersion(t *testing.T) {
	r := run(t, nil, "--version")
	r.has(t, "--version", exitOK, "fencepost ", "go1.")
	if strings.Count(r.out, "\n") != 1 {
		t.Errorf("not one line: %q", r.out)
	}
}

// The tables agree with themselves: every flag can be stored and explained,
// and none is there twice.
func TestTables(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range flags() {
		for _, n := range []string{f.name, "-" + f.short} {
			if n != "-" && seen[n] {
				t.Errorf("flag %s is there twice", n)
			}
			seen[n] = true
		}
		o := defaults()
		_, isSwitch := f.at(&o).(*bool)
		if f.help == "" || isSwitch != (f.value == "") {
			t.Errorf("--%s: help %q, value %q, but a switch: %v", f.name, f.help, f.value, isSwitch)
		}
	}
	names := map[string]bool{}
	for _, v := range verbs() {
		if names[v.name] || v.short == "" || v.run == nil || v.maxArgs < v.minArgs {
			t.Errorf("verb %q is there twice or lacks something", v.name)
		}
		names[v.name] = true
		for _, name := range v.flags {
			known := findFlag(name).at != nil
			for _, f := range flags() {
				known = known || string(f.group) == name
			}
			if !known {
				t.Errorf("verb %s takes --%s, which is in no table", v.name, name)
			}
		}
	}
	for _, word := range reserved {
		if names[word] {
			t.Errorf("%s is reserved and built", word)
		}
	}
}
