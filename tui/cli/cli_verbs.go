package cli

import (
	"context"
	"slices"
	"strings"

	"fencepost/tui/config"
)

// targetUse is what a verb does with a server.
type targetUse int

const (
	noTarget    targetUse = iota // needs none
	needsTarget                  // does not run without one
	mayTarget                    // runs in the sandbox without one
)

// verb is one command.
type verb struct {
	name  string // "" is the console: fencepost without a verb
	args  string // as in the synopsis: "KEY"
	short string // what it does, in a line
	long  string // more of it, for its own help; may be ""
	// minArgs and maxArgs bound the arguments after the verb.
	minArgs, maxArgs int
	target           targetUse
	// flags are the names of its flags, and of groups of them. A verb with a
	// target takes the group target anyway.
	flags []string
	// exits are its exit codes besides 0, 1 and 2, for its help.
	exits []int
	// run does it and returns the exit code. ctx ends with ctrl+c.
	run func(ctx context.Context, inv *invocation) int
}

// verbs are the commands in the order of --help.
func verbs() []verb {
	return []verb{
		consoleVerb(),
		listVerb(),
		watchVerb(),
		inspectVerb(),
		releaseVerb(),
		ttlVerb(),
		holdVerb(),
		unholdVerb(),
		auditVerb(),
		simulateVerb(),
		sandboxVerb(),
		pathsVerb(),
		helpVerb(),
	}
}

// reserved are verbs that will exist.
var reserved = []string{"record", "replay"}

func (v verb) title() string { return strings.TrimSpace("fencepost " + v.name) }

func (v verb) synopsis() string {
	return strings.TrimSpace(v.title() + " " + v.args)
}

// acts reports whether the verb changes a lock.
func (v verb) acts() bool { return slices.Contains(v.exits, exitChanged) }

// takes reports whether a flag is one of the verb's.
func (v verb) takes(f flag) bool {
	return f.group == groupGeneral || (f.group == groupTarget && v.target != noTarget) ||
		slices.Contains(v.flags, f.name) || slices.Contains(v.flags, string(f.group))
}

func findVerb(name string) (verb, bool) {
	all := verbs()
	i := slices.IndexFunc(all, func(v verb) bool { return v.name == name })
	if i < 0 {
		return verb{}, false
	}
	return all[i], true
}

func verbNames() []string {
	var names []string
	for _, v := range verbs() {
		if v.name != "" {
			names = append(names, v.name)
		}
	}
	return names
}

// chooseVerb takes the verb off the words. Without one it is the console, or
// list where standard output is no terminal.
func chooseVerb(words []string, terminal bool) (verb, []string, error) {
	if len(words) == 0 {
		name := "list"
		if _, ok := findVerb(""); ok && terminal {
			name = ""
		}
		if v, ok := findVerb(name); ok {
			return v, nil, nil
		}
		return verb{}, nil, usagef("there is nothing to do")
	}
	if v, ok := findVerb(words[0]); ok && words[0] != "" {
		return v, words[1:], nil
	}
	return verb{}, nil, notAVerb(words[0])
}

// notAVerb explains a first word that is no verb. The word itself may be a
// password that slipped out of its flag, so it is not repeated.
func notAVerb(word string) error {
	if hint := misplaced(word); hint != "" {
		return usagef("%s", hint)
	}
	if slices.Contains(reserved, word) {
		return usagef("%s is not built yet", word)
	}
	if near := config.Closest(word, verbNames()); near != "" {
		return usagef("there is no such verb; is %s meant?", near)
	}
	return usagef("there is no such verb; there are: %s", strings.Join(verbNames(), ", "))
}

// misplaced recognises what belongs behind a flag: a URL, an address, a glob.
func misplaced(word string) string {
	switch {
	case strings.Contains(word, "://"), strings.Contains(word, "@"):
		return "a URL is given with -u, as in: fencepost list -u redis://HOST:PORT (or put it into a profile, where it does not show in ps)"
	case strings.ContainsAny(word, "*?["):
		return "a pattern is given with --match, in quotes, as in: fencepost list --match 'order:*'"
	case hostPort(word):
		return "a server is given with -h HOST -p PORT, or with -u redis://HOST:PORT"
	}
	return ""
}

// hostPort reports whether a word looks like host:6379.
func hostPort(word string) bool {
	_, port, ok := strings.Cut(word, ":")
	return ok && len(port) >= 2 && len(port) <= 5 && strings.Trim(port, "0123456789") == ""
}
