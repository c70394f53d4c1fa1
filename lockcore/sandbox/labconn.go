package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/alicebob/miniredis/v2/proto"
)

// labConn is one connection to a server of the lab, without a pool, retries or
// handshakes: what a story shows is all that is sent.
type labConn struct {
	conn net.Conn
	in   *bufio.Reader
}

func newLabConn(conn net.Conn) *labConn {
	return &labConn{conn: conn, in: bufio.NewReader(conn)}
}

// do sends one command and reads its reply.
func (c *labConn) do(argv ...string) (any, error) {
	if err := proto.Write(c.conn, argv); err != nil {
		return nil, err
	}
	return c.read()
}

// read reads one reply: string, int64, nil, []any, or, among them, an error
// that the server answered. Its own error means that the connection failed.
func (c *labConn) read() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 {
		return nil, errors.New("sandbox: a reply without a type")
	}
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		return text, nil
	case '-':
		return errors.New(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case kind == '_' || err == nil && n < 0 && (kind == '$' || kind == '*'):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("sandbox: reply %q: %w", line, err)
	case kind == ':':
		return n, nil
	case kind == '$':
		body := make([]byte, n+2)
		if _, err := io.ReadFull(c.in, body); err != nil {
			return nil, err
		}
		return string(body[:n]), nil
	case kind == '*' || kind == '>':
		parts := make([]any, n)
		for i := range parts {
			if parts[i], err = c.read(); err != nil {
				return nil, err
			}
		}
		return parts, nil
	}
	return nil, fmt.Errorf("sandbox: reply of unknown type %q", kind)
}

// close ends the connection; nothing is to be done about an error here.
func (c *labConn) close() { _ = c.conn.Close() }
