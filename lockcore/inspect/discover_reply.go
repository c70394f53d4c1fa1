package inspect

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// askScan sends a SCAN and returns the cursor to go on with and the keys. Those
// are parts of one text, so whoever keeps a key clones it.
//
// The answer is taken as it comes: a page is a thousand keys of which hardly any
// is kept, and to make a value of each costs more than all else that a scan by
// name does. What is not plainly a page, an error above all, is asked for again
// in the usual way, which has words for it.
func askScan(ctx context.Context, c *redis.Client, args []any) (next string, keys []string, err error) {
	raw := redis.NewRawCmd(ctx, args...)
	if err := c.Process(ctx, raw); err != nil {
		return "", nil, err
	}
	if next, keys, ok := scanPage(string(raw.Val())); ok {
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
// anything but a cursor and keys.
func scanPage(s string) (next string, keys []string, ok bool) {
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
	keys = make([]string, n)
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
