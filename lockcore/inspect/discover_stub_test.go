package inspect

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Cursors are unsigned 64-bit numbers, proxies put their own marks into the high
// bits, and an empty page is not the end. A real server gives such cursors only
// where its table has billions of slots.
func TestOddCursorsAndEmptyPages(t *testing.T) {
	pages := map[string]string{
		"0":                    page2("18446744073709551615"),
		"18446744073709551615": page2("9223372036854775808", "a", "b"),
		"9223372036854775808":  page2("00x7", "b"),
		"00x7":                 page2("0", "c"),
	}
	addr := scanStub(t, pages)
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, MaxRetries: -1, DisableIdentity: true})
	defer c.Close()
	_, cov := scanAll(t, New(Node{Addr: addr, Client: c}), Query{Depth: ByName})
	if cov.Scanned != 4 {
		t.Errorf("%d keys were counted, want 4", cov.Scanned)
	}
}

// page2 is SCAN's reply in RESP2.
func page2(cursor string, keys ...string) string {
	b := fmt.Sprintf("*2\r\n$%d\r\n%s\r\n*%d\r\n", len(cursor), cursor, len(keys))
	for _, k := range keys {
		b += fmt.Sprintf("$%d\r\n%s\r\n", len(k), k)
	}
	return b
}

// scanStub answers SCAN from a table, and everything else with an error.
func scanStub(t *testing.T, pages map[string]string) string {
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
			go serveScan(conn, pages)
		}
	}()
	return l.Addr().String()
}

func serveScan(conn net.Conn, pages map[string]string) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		reply := "-ERR unknown command\r\n"
		if strings.EqualFold(words[0], "scan") {
			reply = pages[words[1]]
		}
		if _, err := conn.Write([]byte(reply)); err != nil {
			return
		}
	}
}

func readCommand(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "*")))
	words := make([]string, n)
	for i := range words {
		if _, err := r.ReadString('\n'); err != nil {
			return nil, err
		}
		word, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		words[i] = strings.TrimSpace(word)
	}
	return words, nil
}
