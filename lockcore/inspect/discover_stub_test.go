package inspect

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	addr := stub(t, func(conn net.Conn, cursor string) { fmt.Fprint(conn, pages[cursor]) })
	if cov := scanStubbed(t, addr); cov.Scanned != 4 {
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

// stub has SCAN answered, and answers everything else with an error.
func stub(t *testing.T, scan func(conn net.Conn, cursor string)) string {
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
			go serveScan(conn, scan)
		}
	}()
	return l.Addr().String()
}

func serveScan(conn net.Conn, scan func(net.Conn, string)) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		if strings.EqualFold(words[0], "scan") {
			scan(conn, words[1])
		} else {
			fmt.Fprint(conn, "-ERR unknown command\r\n")
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

// An answer begins with the cursor. The next page is asked for while the keys of
// this one are still to come, so that the server never waits for us.
func TestNextPageIsAskedForWhileThisOneComes(t *testing.T) {
	second := make(chan struct{})
	addr := stub(t, func(conn net.Conn, cursor string) {
		if cursor == "7" {
			close(second)
			fmt.Fprint(conn, page2("0", "b"))
			return
		}
		fmt.Fprint(conn, "*2\r\n$1\r\n7\r\n*2\r\n$1\r\na\r\n")
		select {
		case <-second:
		case <-time.After(2 * time.Second):
			t.Error("the second page was not asked for before the first had come")
		}
		fmt.Fprint(conn, "$1\r\nc\r\n")
	})
	if cov := scanStubbed(t, addr); cov.Scanned != 3 {
		t.Errorf("%d keys were counted, want 3", cov.Scanned)
	}
}

// Where an answer is not plainly a page it is asked for again; then the cursor
// that counts is the second one, whatever was asked for ahead.
func TestCursorOfTheAnswerThatCounts(t *testing.T) {
	var first atomic.Bool
	var scans atomic.Int64
	var asked sync.Map
	addr := stub(t, func(conn net.Conn, cursor string) {
		asked.Store(cursor, true)
		scans.Add(1)
		switch {
		case cursor == "0" && first.CompareAndSwap(false, true):
			fmt.Fprint(conn, "*2\r\n$1\r\n7\r\n*1\r\n:5\r\n")
		case cursor == "0":
			fmt.Fprint(conn, page2("8", "a"))
		case cursor == "8":
			fmt.Fprint(conn, page2("9", "b", "c"))
		case cursor == "9":
			fmt.Fprint(conn, page2("10"))
		case cursor == "10":
			fmt.Fprint(conn, page2("0"))
		case cursor == "7":
			fmt.Fprint(conn, page2("77", "d"))
		default:
			fmt.Fprint(conn, page2("0", "d"))
		}
	})
	if cov := scanStubbed(t, addr); cov.Scanned != 3 {
		t.Errorf("%d keys were counted, want 3", cov.Scanned)
	}
	if _, ok := asked.Load("7"); !ok {
		t.Error("nothing was asked for ahead, so nothing was tried")
	}
	// 0 twice, 8, 9 and 10, and ahead 7 and perhaps 77: what went astray is not gone on with.
	if n := scans.Load(); n > 7 {
		t.Errorf("%d requests", n)
	}
}

// scanStubbed walks by name at full speed.
func scanStubbed(t *testing.T, addr string) Coverage {
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, MaxRetries: -1, DisableIdentity: true})
	defer c.Close()
	_, cov := scanAll(t, New(Node{Addr: addr, Client: c}), Query{Depth: ByName})
	return cov
}
