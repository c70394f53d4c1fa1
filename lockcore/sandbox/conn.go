package sandbox

import (
	"net"
	"sync"
)

// roomy is the client's end of a connection in memory. Such a connection has no
// buffer, so that a client in the middle of a long pipeline and a server in the
// middle of its replies would wait for each other for ever; a socket has one. A
// write here never waits: what the server has not read yet is kept.
type roomy struct {
	net.Conn
	mu    sync.Mutex
	some  *sync.Cond // there is something to pass on, or an end
	kept  []byte
	ended error // why nothing is passed on any more
}

func newRoomy(conn net.Conn) *roomy {
	r := &roomy{Conn: conn}
	r.some = sync.NewCond(&r.mu)
	go r.pass()
	return r
}

// Write keeps p for the server. It fails once the connection has ended.
func (r *roomy) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		return 0, r.ended
	}
	r.kept = append(r.kept, p...)
	r.some.Signal()
	return len(p), nil
}

// Close ends the connection; what the server has not read is dropped.
func (r *roomy) Close() error {
	r.end(net.ErrClosed)
	return r.Conn.Close()
}

func (r *roomy) end(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = why
	}
	r.some.Signal()
}

// pass hands on what was written, until the connection ends.
func (r *roomy) pass() {
	for {
		r.mu.Lock()
		for len(r.kept) == 0 && r.ended == nil {
			r.some.Wait()
		}
		next, over := r.kept, r.ended != nil
		r.kept = nil
		r.mu.Unlock()
		if over {
			return
		}
		if _, err := r.Conn.Write(next); err != nil {
			r.end(err)
			return
		}
	}
}
