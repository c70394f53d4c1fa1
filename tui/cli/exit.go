package cli

import (
	"errors"
	"fmt"

	"fencepost/lockcore/target"
)

// The exit codes. Scripts rely on them.
const (
	exitOK         = 0
	exitError      = 1 // could not connect, or another error
	exitUsage      = 2
	exitGone       = 3 // nothing there any more
	exitChanged    = 4 // somebody else holds it now; nothing was changed
	exitRefused    = 5 // not allowed
	exitUnknown    = 6 // the reply was lost
	exitPartial    = 7 // done on some nodes or keys only
	exitIncomplete = 8 // the coverage is incomplete
	exitDanger     = 9 // doctor found a danger
)

// exitMeanings are what --help says of them, in order.
var exitMeanings = []struct {
	code int
	text string
}{
	{exitOK, "done"},
	{exitError, "could not connect, or another error"},
	{exitUsage, "the command line makes no sense"},
	{exitGone, "GONE: nothing there any more"},
	{exitChanged, "CHANGED: somebody else holds it now; nothing was changed"},
	{exitRefused, "REFUSED: not allowed"},
	{exitUnknown, "UNKNOWN: the reply was lost; what is there now is printed"},
	{exitPartial, "PARTIAL: done on some nodes or keys of one lock only"},
	{exitIncomplete, "not all could be looked at; what was found is printed"},
	{exitDanger, "danger found"},
}

// usageError is a command line that makes no sense. Its text never repeats a
// value that was given.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// fail prints an error and returns the exit code for it.
func (inv *invocation) fail(err error) int {
	fmt.Fprintf(inv.err, "fencepost: %s\n", err)
	if isUsage(err) {
		fmt.Fprintf(inv.err, "Try %s\n", inv.helpLine())
		return exitUsage
	}
	return exitError
}

func isUsage(err error) bool {
	return errors.As(err, new(*usageError)) || errors.As(err, new(*target.UsageError))
}

func (inv *invocation) helpLine() string {
	if inv.verb.name == "" {
		return "fencepost --help"
	}
	return "fencepost " + inv.verb.name + " --help"
}
