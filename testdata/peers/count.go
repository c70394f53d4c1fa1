package main

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
)

// counter counts the commands that the connections of one process send, but for
// those that open a connection. A nil counter counts nothing: what is timed is
// not counted, because a connection that is read along is slower.
type counter struct{ n atomic.Int64 }

// dial connects, and counts.
func (c *counter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil || c == nil {
		return conn, err
	}
	return &countedConn{Conn: conn, counter: c}, nil
}

// countedConn reads along what is written.
type countedConn struct {
	net.Conn
	counter *counter
	rest    []byte // the beginning of a command
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		words, size := command(c.rest)
		if size == 0 {
			break
		}
		c.rest = c.rest[size:]
		if counts(words) {
			c.counter.n.Add(1)
		}
	}
	return c.Conn.Write(p)
}

// command returns the first words of the first command in buf and its size, 0 if
// it is not complete.
func command(buf []byte) (words []string, size int) {
	n, at := number(buf, 0, '*')
	for range n {
		length, start := number(buf, at, '$')
		if start == 0 || start+length+2 > len(buf) {
			return nil, 0
		}
		if len(words) < 2 {
			words = append(words, strings.ToUpper(string(buf[start:start+length])))
		}
		at = start + length + 2
	}
	return words, at
}

// number reads "*3\r\n" at a place, and returns where it ends; 0 if it does not.
func number(buf []byte, at int, mark byte) (n, end int) {
	if at >= len(buf) || buf[at] != mark {
		return 0, 0
	}
	stop := bytes.IndexByte(buf[at:], '\n')
	if stop < 0 {
		return 0, 0
	}
	n, _ = strconv.Atoi(strings.TrimSpace(string(buf[at+1 : at+stop])))
	return n, at + stop + 1
}

// counts reports whether a command is not of a handshake.
func counts(words []string) bool {
	switch words[0] {
	case "HELLO", "AUTH", "SELECT":
		return false
	case "CLIENT":
		return len(words) > 1 && words[1] == "CACHING"
	}
	return true
}
