// Package cli is the command line: a table of flags, a table of verbs with one
// file for each, and what they print as text and as JSON.
//
// To add a verb, write a function that returns its verb in a file of its own,
// and add that function to the table in cli_verbs.go. To add a flag, add a field
// to options and a line to the table in flags.go, and name the flag in the
// verbs that take it.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// invocation is one run of one verb: what was asked for, and the streams.
type invocation struct {
	verb  verb
	opts  options
	args  []string // after the verb
	given map[string]bool
	env   func(string) string
	in    io.Reader
	out   io.Writer
	err   io.Writer
}

// Run does what the arguments (without the program's name) ask for, and
// returns the exit code. env looks up an environment variable.
func Run(args []string, env func(string) string, in io.Reader, out, err io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second ctrl+c ends the program at once
	inv := &invocation{env: env, in: in, out: out, err: err}
	if code, done := inv.parse(args); done {
		return code
	}
	if inv.verb.name == "" {
		return inv.verb.run(ctx, inv) // the console needs the terminal itself
	}
	w := &written{Writer: out}
	inv.out = w
	return inv.afterWriting(w, inv.verb.run(ctx, inv))
}

// parse reads the command line. done: there is nothing left to do but to exit
// with code.
func (inv *invocation) parse(args []string) (code int, done bool) {
	p, err := parseArgs(args)
	if err != nil {
		return inv.fail(err), true
	}
	inv.opts, inv.given = p.opts, p.given
	switch {
	case p.opts.help:
		return inv.help(p.words), true
	case p.opts.version:
		return printVersion(inv.out), true
	}
	if inv.verb, inv.args, err = chooseVerb(p.words, inv.isTerminal(inv.out)); err != nil {
		return inv.fail(err), true
	}
	if err := inv.check(); err != nil {
		return inv.fail(err), true
	}
	if inv.given["pass"] {
		inv.warn("a password on the command line can be seen by others on this machine; REDISCLI_AUTH or --askpass keep it away")
	}
	return exitOK, false
}

// check holds what was given against what the verb takes.
func (inv *invocation) check() error {
	for _, f := range flags() {
		if inv.given[f.name] && !inv.verb.takes(f) {
			return usagef("--%s is no flag of %s", f.name, inv.verb.title())
		}
	}
	if err := inv.checkArgs(); err != nil {
		return err
	}
	if inv.opts.timeout <= 0 {
		return usagef("--timeout is a time longer than 0, as 5s")
	}
	if inv.verb.target == needsTarget && !inv.hasTarget() {
		return usagef("%s needs a server: name one as with redis-cli (-h HOST -p PORT, -u URL, -s SOCKET) or by --profile NAME", inv.verb.title())
	}
	return nil
}

func (inv *invocation) checkArgs() error {
	v := inv.verb
	if len(inv.args) < v.minArgs && inv.given["key"] {
		return usagef("--key is the file with the private key of a TLS client certificate, as in redis-cli; a lock's key has no flag: %s", v.synopsis())
	}
	if len(inv.args) < v.minArgs {
		return usagef("it is: %s", v.synopsis())
	}
	if len(inv.args) > v.maxArgs {
		extra := inv.args[v.maxArgs]
		if hint := misplaced(extra); hint != "" {
			return usagef("%s", hint)
		}
		return usagef("that is one argument too many (a pattern needs quotes, or the shell expands it); it is: %s", v.synopsis())
	}
	return nil
}

// warn prints a warning on standard error.
func (inv *invocation) warn(text string) { fmt.Fprintf(inv.err, "fencepost: warning: %s\n", text) }

// step returns a context for one step of a verb, bounded by --timeout.
func (inv *invocation) step(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, inv.opts.timeout)
}

// isTerminal reports whether a stream is a terminal.
func (inv *invocation) isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is how many cells a line of the output has; 0 where that is no terminal,
// and a line may be as long as it likes.
func (inv *invocation) width() int {
	f, ok := inv.out.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
