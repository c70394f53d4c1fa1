package target

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// speaker says a few words of RESP2 on a connection that no client library
// holds yet: enough to authenticate, and to learn why a server will not talk.
type speaker struct {
	conn    net.Conn
	r       *bufio.Reader
	timeout time.Duration
}

func newSpeaker(conn net.Conn, timeout time.Duration) *speaker {
	return &speaker{conn: conn, r: bufio.NewReader(io.LimitReader(conn, 4*maxReply)), timeout: timeout}
}

// serverError is an error that the server answered.
type serverError string

func (e serverError) Error() string { return string(e) }

// errNotRedis says that what came back is not RESP.
var errNotRedis = errors.New("the answer is not one of Redis")

// do sends one command and reads its reply: string, int64, nil or []any.
func (s *speaker) do(args ...string) (any, error) {
	if err := s.conn.SetDeadline(time.Now().Add(s.timeout)); err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	// A server that refuses the connection says why and closes it, perhaps
	// before this is written: what it said counts more than a failed write.
	_, writeErr := io.WriteString(s.conn, b.String())
	reply, err := s.read(0)
	if err != nil && writeErr != nil && !errors.As(err, new(serverError)) {
		return nil, writeErr
	}
	if err != nil {
		return nil, err
	}
	return reply, s.conn.SetDeadline(time.Time{})
}

// maxReply bounds what is believed of a length.
const maxReply = 1 << 20

func (s *speaker) read(depth int) (any, error) {
	line, err := s.r.ReadString('\n')
	if err != nil {
		if line != "" && !strings.ContainsRune("+-:$*", rune(line[0])) {
			return nil, errNotRedis // as a TLS alert
		}
		return nil, err
	}
	text := strings.TrimRight(line[1:], "\r\n")
	switch line[0] {
	case '+':
		return text, nil
	case '-':
		return nil, serverError(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > maxReply {
		return nil, errNotRedis
	}
	switch {
	case line[0] == ':':
		return n, nil
	case line[0] == '$' && n < 0, line[0] == '*' && n < 0:
		return nil, nil
	case line[0] == '$':
		buf := make([]byte, n+2)
		_, err := io.ReadFull(s.r, buf)
		return string(buf[:n]), err
	case line[0] == '*' && depth < 4:
		return s.readList(int(n), depth+1)
	}
	return nil, errNotRedis
}

func (s *speaker) readList(n, depth int) (any, error) {
	list := make([]any, 0, min(n, 64))
	for range n {
		v, err := s.read(depth)
		if err != nil && !errors.As(err, new(serverError)) {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
