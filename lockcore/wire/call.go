// Package wire holds what goes over the wire, and nothing that sends it: key
// names, the format of a lock's value, the Lua scripts, and Call, one command
// with its arguments.
//
// A Call is data. The dialog that asks an operator, the --dry-run of a verb,
// the audit file and a step of the lab all show the very Call that is sent.
package wire

import (
	"crypto/sha1" // Redis names a script by its SHA-1; nothing is secured by it
	"encoding/hex"
	"strconv"
	"strings"
)

// Script is one Lua script: its file's name, its text, and the SHA-1 by which
// EVALSHA names it.
type Script struct {
	Name   string
	Source string
	SHA    string
}

// NewScript returns the script with the given text.
func NewScript(name, source string) *Script {
	sum := sha1.Sum([]byte(source))
	return &Script{Name: name, Source: source, SHA: hex.EncodeToString(sum[:])}
}

// Call is one command: either a plain one (Name and Args) or a script (Script,
// Keys and Args). All strings are raw bytes.
type Call struct {
	Name   string  // the plain command, as "PEXPIRE"; "" when Script is set
	Script *Script // nil for a plain command
	Keys   []string
	Args   []string
}

// Command returns a plain command. The keys stand among the args, in the
// order that the command wants.
func Command(name string, args ...string) Call {
	return Call{Name: name, Args: args}
}

// Call returns the script as a command on these keys.
func (s *Script) Call(keys []string, args ...string) Call {
	return Call{Script: s, Keys: keys, Args: args}
}

// Argv returns the command as it is sent, scripts by EVAL with their text.
func (c Call) Argv() []string {
	if c.Script == nil {
		return append([]string{c.Name}, c.Args...)
	}
	return c.evalArgv("EVAL", c.Script.Source)
}

// ShaArgv is Argv with a script named by its SHA-1 (EVALSHA).
func (c Call) ShaArgv() []string {
	if c.Script == nil {
		return c.Argv()
	}
	return c.evalArgv("EVALSHA", c.Script.SHA)
}

func (c Call) evalArgv(verb, body string) []string {
	argv := make([]string, 0, 3+len(c.Keys)+len(c.Args))
	argv = append(argv, verb, body, strconv.Itoa(len(c.Keys)))
	argv = append(argv, c.Keys...)
	return append(argv, c.Args...)
}

// FirstKeyPos is the index in Argv of the first key, which routes the command
// in a Cluster; 0 when the command has none.
func (c Call) FirstKeyPos() int {
	switch {
	case c.Script != nil && len(c.Keys) > 0:
		return 3
	case c.Script == nil && len(c.Args) > 0:
		return 1
	}
	return 0
}

// String is the line that one would paste into a shell: redis-cli and its
// arguments, quoted so that every byte arrives (see Shell).
func (c Call) String() string { return c.Line() }

// Line is String with flags of redis-cli that say which server is meant.
func (c Call) Line(flags ...string) string {
	line := "redis-cli "
	for _, f := range flags {
		line += shellQuote(f) + " "
	}
	return line + Shell(c.Argv())
}

// Brief is String for a screen: a script stands as its name in brackets, and
// the arguments as redis-cli would echo them.
func (c Call) Brief() string {
	argv := c.Argv()
	if c.Script != nil {
		argv[1] = "<" + c.Script.Name + ">"
	}
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = Word(a)
	}
	return strings.Join(out, " ")
}
