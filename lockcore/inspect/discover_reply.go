package inspect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// scanReader asks for pages of a scan, one at a time. It keeps what the last
// answer was read into: a scan of millions of keys would otherwise fill as many
// megabytes, only to have them collected.
type scanReader struct {
	buf   bytes.Buffer
	early func(next string) // to be told the cursor as soon as it is there
}

// Write keeps a part of an answer.
func (r *scanReader) Write(p []byte) (int, error) {
	n, err := r.buf.Write(p)
	if r.early != nil {
		r.tell()
	}
	return n, err
}

// ReadFrom keeps a part of an answer. Without it, each key would be copied twice.
func (r *scanReader) ReadFrom(from io.Reader) (int64, error) { return r.buf.ReadFrom(from) }

// earlyWithin is within how many bytes an answer has told its cursor.
const earlyWithin = 256

// tell tells the cursor, if it is there, and lets whoever was told have the
// processor: thousands of keys are still to be read.
func (r *scanReader) tell() {
	if r.buf.Len() > earlyWithin {
		r.early = nil // not plainly a page: it is not to be looked through again with every key
		return
	}
	_, s, ok := header(r.buf.String(), '*')
	if !ok {
		return
	}
	if next, _, ok := bulk(s); ok {
		r.early(next)
		r.early = nil
		runtime.Gosched()
	}
}

// ask sends a SCAN and returns the cursor to go on with, and the keys, which are
// written over a list that is not needed any more. They are parts of one text, so
// whoever keeps a key clones it.
//
// The answer is taken as it comes: a page is a thousand keys of which hardly any
// is kept, and to make a value of each costs more than all else that a scan by
// name does. What is not plainly a page, an error above all, is asked for again
// in the usual way, which has words for it.
func (r *scanReader) ask(ctx context.Context, c *redis.Client, args []any, over []string, early func(next string)) (next string, keys []string, err error) {
	r.buf.Reset()
	r.early = early
	if err := c.Process(ctx, redis.NewRawWriteToCmd(ctx, r, args...)); err != nil {
		return "", nil, err
	}
	if next, keys, ok := scanPage(r.buf.String(), over); ok {
		return next, keys, nil
	}
	reply, err := c.Do(ctx, args...).Slice()
	switch {
	case err != nil:
		return "", nil, err
	case len(reply) != 2:
		return "", nil, fmt.Errorf("SCAN answered %d parts, not a cursor and keys", len(reply))
	}
	list, _ := reply[1].([]any)
	for _, k := range list {
		keys = append(keys, text(k))
	}
	return text(reply[0]), keys, nil
}

// scanPage reads the answer to SCAN as it is on the wire; ok is false where it is
// anything but a cursor and keys. The keys are written over a list, where it is
// long enough.
func scanPage(s string, over []string) (next string, keys []string, ok bool) {
	parts, s, ok := header(s, '*')
	if !ok || parts != 2 {
		return "", nil, false
	}
	if next, s, ok = bulk(s); !ok {
		return "", nil, false
	}
	n, s, ok := header(s, '*')
	if !ok || n > len(s)/len("$0\r\n\r\n") {
		return "", nil, false
	}
	keys = slices.Grow(over[:0], n)[:n]
	for i := range keys {
		if keys[i], s, ok = bulk(s); !ok {
			return "", nil, false
		}
	}
	return next, keys, s == ""
}

// header reads a line of a kind and a number that is not negative.
func header(s string, kind byte) (n int, rest string, ok bool) {
	line, rest, ok := strings.Cut(s, "\r\n")
	if !ok || line == "" || line[0] != kind {
		return 0, s, false
	}
	n, err := strconv.Atoi(line[1:])
	return n, rest, err == nil && n >= 0
}

// bulk reads a string with its length before it.
func bulk(s string) (text, rest string, ok bool) {
	n, rest, ok := header(s, '$')
	if !ok || n > len(rest)-2 || rest[n:n+2] != "\r\n" {
		return "", s, false
	}
	return rest[:n], rest[n+2:], true
}
