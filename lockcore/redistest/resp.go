package redistest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

var errFrame = errors.New("redistest: not RESP")

// readFrame reads one whole value of the Redis protocol, RESP2 or RESP3, with
// all that is nested in it, and returns its bytes as they came.
func readFrame(r *bufio.Reader) ([]byte, error) {
	return appendFrame(nil, r)
}

func appendFrame(buf []byte, r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	buf = append(buf, line...)
	n := 0
	if strings.IndexByte("$!=*~>%|", line[0]) >= 0 {
		if n, err = strconv.Atoi(string(bytes.TrimSpace(line[1:]))); err != nil {
			return nil, errFrame
		}
	}
	switch line[0] {
	case '$', '!', '=': // a string of n bytes, or nil
		if n < 0 {
			return buf, nil
		}
		start := len(buf)
		buf = append(buf, make([]byte, n+2)...)
		_, err = io.ReadFull(r, buf[start:])
		return buf, err
	case '%': // n pairs
		n *= 2
	case '|': // n pairs that describe the value after them
		n = 2*n + 1
	case '*', '~', '>': // n values, or nil
	default: // a value of one line, or an inline command
		return buf, nil
	}
	for range n {
		if buf, err = appendFrame(buf, r); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// argv returns the words of a request.
func argv(frame []byte) []string {
	if len(frame) == 0 || frame[0] != '*' {
		return strings.Fields(string(frame)) // an inline command
	}
	r := bufio.NewReader(bytes.NewReader(frame))
	if _, err := r.ReadBytes('\n'); err != nil {
		return nil
	}
	var words []string
	for {
		part, err := readFrame(r)
		if err != nil {
			return words
		}
		head := bytes.IndexByte(part, '\n') + 1
		words = append(words, string(bytes.TrimSuffix(part[head:], []byte("\r\n"))))
	}
}
