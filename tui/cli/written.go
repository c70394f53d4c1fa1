package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// written is standard output that remembers that something could not be written:
// half a list on a full disk must not pass for a whole one.
type written struct {
	io.Writer
	err error
}

// Write writes p, and keeps the first error.
func (w *written) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// Fd is the descriptor of the stream; one that is never a terminal, where it has
// none.
func (w *written) Fd() uintptr {
	if f, ok := w.Writer.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// afterWriting is the exit code of a verb whose own is code. Where what it found
// could not be written it failed, and says so; what it changed is changed all the
// same, so the code of a verb that acts stays.
func (inv *invocation) afterWriting(w *written, code int) int {
	switch {
	case w.err == nil, errors.Is(w.err, syscall.EPIPE), code == exitError:
		return code // a reader that had enough, as head has, is no error
	case inv.verb.acts():
		inv.warn("standard output could not be written: " + w.err.Error())
		return code
	}
	return inv.fail(fmt.Errorf("standard output could not be written: %w", w.err))
}
