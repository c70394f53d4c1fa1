package redistest

import (
	"bufio"
	"net"
	"strconv"
	"testing"
)

// Stub is a server that answers as a test tells it: for servers that cannot be
// started here, and for answers that a real one does not give.
type Stub struct {
	Addr string
	Host string
	Port int
}

// NewStub starts a server that answers each request with the bytes that answer
// returns for its words: "+OK\r\n". An empty answer closes the connection.
// answer runs on a goroutine for each connection. The stub ends with the test.
func NewStub(t testing.TB, answer func(argv []string) string) *Stub {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn, answer)
		}
	}()
	at := l.Addr().(*net.TCPAddr)
	return &Stub{Addr: at.String(), Host: "127.0.0.1", Port: at.Port}
}

func serve(conn net.Conn, answer func([]string) string) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		frame, err := readFrame(r)
		if err != nil {
			return
		}
		reply := answer(argv(frame))
		if reply == "" {
			return
		}
		if _, err := conn.Write([]byte(reply)); err != nil {
			return
		}
	}
}

// Bulk is a string as a server answers it.
func Bulk(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }
