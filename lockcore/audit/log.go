package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"fencepost/lockcore/inspect"
)

// Log is where lines go. It is safe for several programs at once.
type Log struct {
	path string
	out  io.Writer // instead of a file; nil: the file
}

// File is a log in a file of this path, which is created when the first line
// is written, for its owner only.
func File(path string) *Log { return &Log{path: path} }

// Stream is a log that writes its lines to w.
func Stream(w io.Writer) *Log { return &Log{out: w} }

// Path is the file, "" for a stream.
func (l *Log) Path() string { return l.path }

// ErrUnwritten says that the intent could not be written, so that on production
// nothing was changed.
var ErrUnwritten = errors.New("the audit cannot be written, and on production nothing is changed unwritten")

// Act writes the intent, carries the plan out and writes the outcome. On a
// guarded target whose audit cannot be written the plan is refused; elsewhere
// that is a warning. warnings are sentences for the operator.
func (l *Log) Act(ctx context.Context, in *inspect.Inspector, p inspect.Plan, c Context) (o inspect.Outcome, warnings []string) {
	before := intent(&p, c, time.Now())
	if err := l.write(before); err != nil {
		if c.Guarded {
			return inspect.RefuseBecause(fmt.Errorf("%w: %w", ErrUnwritten, err)), nil
		}
		warnings = append(warnings, "this is not in the audit: "+err.Error())
	}
	o = in.Run(ctx, p)
	if err := l.write(outcome(before.ID, &o, time.Now())); err != nil && len(warnings) == 0 {
		warnings = append(warnings, "the outcome is not in the audit: "+err.Error())
	}
	return o, warnings
}

// Check reports whether a line could be written now, without writing one.
func (l *Log) Check() error {
	if l.out != nil {
		return nil
	}
	f, err := l.open()
	if err != nil {
		return err
	}
	return f.Close()
}

func (l *Log) write(line Line) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text) // ends the line
	enc.SetEscapeHTML(false)
	err := enc.Encode(line)
	if err != nil {
		return err
	}
	data := text.Bytes()
	if l.out != nil {
		_, err = l.out.Write(data)
		return err
	}
	f, err := l.open()
	if err != nil {
		return err
	}
	err = appendLine(f, data)
	return errors.Join(err, f.Close())
}

// open makes the directory and the file, for their owner only.
func (l *Log) open() (*os.File, error) {
	if l.path == "" {
		return nil, errors.New("there is no place for it: neither XDG_STATE_HOME nor HOME is set")
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(l.path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", l.path)
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			_ = f.Close() // nothing was written
			return nil, fmt.Errorf("%s can be read by others: %w", l.path, err)
		}
	}
	return f, nil
}

// appendLine writes one line whole, behind whatever other programs write, and
// onto the disk. A line that another left torn, because it died or the disk was
// full, is ended first.
func appendLine(f *os.File, data []byte) error {
	unlock, err := lock(f)
	if err != nil {
		return err
	}
	defer unlock()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			data = append([]byte{'\n'}, data...)
		}
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
