package cli

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"fencepost/tui/config"
)

// parsed is a command line that was read.
type parsed struct {
	opts  options
	given map[string]bool // flags by their long names
	words []string        // what is no flag
}

// parseArgs reads the arguments, verbs and flags in any order.
func parseArgs(args []string) (parsed, error) {
	p := parsed{opts: defaults(), given: map[string]bool{}}
	fs := pflag.NewFlagSet("fencepost", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for _, f := range flags() {
		f.bind(fs, &p.opts)
	}
	if err := fs.Parse(expandHelp(args)); err != nil {
		return p, flagError(err, verbAmong(args))
	}
	fs.Visit(func(f *pflag.Flag) { p.given[f.Name] = true })
	p.words = fs.Args()
	return p, nil
}

// expandHelp turns a bare -h, and -?, into --help. -h is bare when nothing
// follows that could be a host: the end, another flag, or the only verb on the
// line, as in "fencepost -h list".
func expandHelp(args []string) []string {
	out := slices.Clone(args)
	for i := 0; i < len(out); i++ {
		switch arg := out[i]; {
		case arg == "--":
			return out
		case arg == "-?":
			out[i] = "--help"
		case arg == "-h":
			if bareHelp(out, i) {
				out[i] = "--help"
			} else {
				i++ // the host
			}
		case wantsValue(arg):
			i++ // whatever it is, it is the value
		}
	}
	return out
}

func bareHelp(args []string, i int) bool {
	if i+1 == len(args) || strings.HasPrefix(args[i+1], "-") {
		return true
	}
	isVerb := func(s string) bool { return slices.Contains(verbNames(), s) }
	return isVerb(args[i+1]) && !slices.ContainsFunc(args[:i], isVerb) && !slices.ContainsFunc(args[i+2:], isVerb)
}

// wantsValue reports whether the argument after this one is its value.
func wantsValue(arg string) bool {
	for _, f := range flags() {
		if f.value == "" {
			continue
		}
		if arg == "--"+f.name || (f.short != "" && arg == "-"+f.short) {
			return true
		}
	}
	return false
}

// flagError puts pflag's errors into words without what was given: that may be
// a password on the wrong side of its flag.
func flagError(err error, v verb) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		bad     *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(unknown, v)
	case errors.As(err, &missing):
		f := findFlag(missing.GetFlag().Name)
		return usagef("--%s needs a value: --%s %s", f.name, f.name, f.value)
	case errors.As(err, &bad):
		f := findFlag(bad.GetFlag().Name)
		if f.value == "" {
			return usagef("--%s is a switch and takes no value but true or false", f.name)
		}
		return usagef("--%s takes %s", f.name, f.wants)
	}
	return usagef("a flag cannot be read; flags are written --name VALUE or --name=VALUE")
}

// unknownFlag suggests the nearest flag of the verb, or of all where the verb is
// not known.
func unknownFlag(e *pflag.NotExistError, v verb) error {
	if e.GetSpecifiedShortnames() != "" {
		return usagef("there is no such flag of one letter")
	}
	var names []string
	for _, f := range flags() {
		if v.name == "" || v.takes(f) {
			names = append(names, f.name)
		}
	}
	if v.name == "simulate" && e.GetSpecifiedName() == "list" {
		return usagef("there is no such flag; fencepost simulate without a NAME lists the scenarios")
	}
	if near := config.Closest(e.GetSpecifiedName(), names); near != "" {
		return usagef("there is no such flag; is --%s meant?", near)
	}
	return usagef("there is no such flag")
}

// verbAmong is the verb on a command line that could not be read; without one
// it has no name.
func verbAmong(args []string) verb {
	i := slices.IndexFunc(args, func(a string) bool { return slices.Contains(verbNames(), a) })
	if i < 0 {
		return verb{}
	}
	v, _ := findVerb(args[i])
	return v
}

func findFlag(name string) flag {
	all := flags()
	i := slices.IndexFunc(all, func(f flag) bool { return f.name == name })
	if i < 0 {
		return flag{name: name}
	}
	return all[i]
}
