package target

import (
	"errors"
	"strings"

	"fencepost/lockcore/wire"
)

// UsageError says that what was asked for makes no sense, whatever the server
// would answer. It never repeats what was given.
type UsageError struct{ Text string }

// Error returns the text.
func (e *UsageError) Error() string { return e.Text }

func usage(text string) error { return &UsageError{Text: text} }

// ConnectError says why a server cannot be talked to.
type ConnectError struct {
	Addr string // host:port or path; "" where none was reached for
	Text string // what happened
	Hint string // what to do about it; may be ""
	Auth bool   // the server did not take the user or the password
	Err  error  // the cause, where it can be shown; may be nil
}

// Error is one line: where, what, and what to do.
func (e *ConnectError) Error() string {
	var b strings.Builder
	if e.Addr != "" {
		b.WriteString(wire.Clean(e.Addr) + ": ") // a Sentinel may have said it
	}
	b.WriteString(e.Text)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// at names the address in an error that does not know it yet.
func at(addr string, err error) error {
	var ce *ConnectError
	if errors.As(err, &ce) && ce.Addr == "" {
		with := *ce
		with.Addr = addr
		return &with
	}
	return err
}

func lower(s string) string { return strings.ToLower(s) }
