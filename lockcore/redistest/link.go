package redistest

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"time"
)

// link is one client's connection through a Proxy. Each direction has a
// goroutine that reads values and one that writes them on when they are due.
type link struct {
	proxy          *Proxy
	client, server net.Conn

	mu   sync.Mutex
	cuts []bool // for each request that will be answered: is its reply to be cut?
}

// parcel is a value under way.
type parcel struct {
	data []byte
	due  time.Time
	cut  bool // close the connection instead of delivering this
}

// queue holds the parcels of one direction. It takes all that comes, so that
// reading never waits for writing.
type queue struct {
	mu    sync.Mutex
	items []parcel
	ended bool
	more  chan struct{} // holds a token when something was added
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) add(p parcel) { q.change(func() { q.items = append(q.items, p) }) }

func (q *queue) end() { q.change(func() { q.ended = true }) }

func (q *queue) change(f func()) {
	q.mu.Lock()
	f()
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// next waits for a parcel; false at the end.
func (q *queue) next() (parcel, bool) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			p := q.items[0]
			q.items = q.items[1:]
			q.mu.Unlock()
			return p, true
		}
		ended := q.ended
		q.mu.Unlock()
		if ended {
			return parcel{}, false
		}
		<-q.more
	}
}

// run serves the link until both directions have ended.
func (l *link) run() {
	defer l.proxy.forget(l)
	requests, replies := newQueue(), newQueue()
	var both sync.WaitGroup
	both.Go(func() { l.readRequests(requests) })
	both.Go(func() { l.readReplies(replies) })
	both.Go(func() {
		l.deliver(requests, l.server, func(f faults) bool { return f.holdRequests })
		closeWrite(l.server) // the client is gone, and all of its requests are there
	})
	both.Go(func() {
		l.deliver(replies, l.client, func(f faults) bool { return f.holdReplies })
		_ = l.client.Close() // the server has hung up
	})
	both.Wait()
	_ = l.server.Close() // nothing is left to say
}

func (l *link) readRequests(q *queue) {
	defer q.end()
	for r := bufio.NewReader(l.client); ; {
		frame, err := readFrame(r)
		if err != nil {
			return
		}
		words := argv(frame)
		cut := l.proxy.note(words)
		if answered(words) {
			l.mu.Lock()
			l.cuts = append(l.cuts, cut)
			l.mu.Unlock()
		}
		f, _ := l.proxy.now()
		q.add(parcel{data: frame, due: time.Now().Add(f.delayRequests)})
	}
}

// answered reports whether a request has a reply of its own. What answers a
// subscription comes as a push.
func answered(words []string) bool {
	return len(words) > 0 && !strings.HasSuffix(strings.ToUpper(words[0]), "SUBSCRIBE")
}

func (l *link) readReplies(q *queue) {
	defer q.end()
	for r := bufio.NewReader(l.server); ; {
		frame, err := readFrame(r)
		if err != nil {
			return
		}
		f, _ := l.proxy.now()
		p := parcel{data: frame, due: time.Now().Add(f.delayReplies)}
		if frame[0] != '>' {
			p.cut = l.nextCut()
		}
		q.add(p)
	}
}

// nextCut takes the oldest request off the list. With none there, the value is
// a message of a RESP2 subscription.
func (l *link) nextCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.cuts) == 0 {
		return false
	}
	cut := l.cuts[0]
	l.cuts = l.cuts[1:]
	return cut
}

// deliver writes what is in the queue when it is due and not held. It goes on
// after a failed write, since a reader fills the queue until it ends.
func (l *link) deliver(q *queue, to net.Conn, held func(faults) bool) {
	for {
		p, ok := q.next()
		if !ok || !l.wait(p, held) {
			return
		}
		if p.cut {
			l.cut()
			continue
		}
		_, _ = to.Write(p.data) // the reader of this side learns of it
	}
}

// wait returns when the parcel may go; false at the end of the test.
func (l *link) wait(p parcel, held func(faults) bool) bool {
	timer := time.NewTimer(time.Until(p.due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.proxy.done:
		return false
	}
	for {
		f, changed := l.proxy.now()
		if !held(f) {
			return true
		}
		select {
		case <-changed:
		case <-l.proxy.done:
			return false
		}
	}
}

// cut resets the connection on both sides.
func (l *link) cut() {
	reset(l.client)
	reset(l.server)
}

func closeWrite(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite() // fails where the server has closed it already
	}
}
