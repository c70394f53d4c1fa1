package lockcore

import (
	"slices"
	"sync"
	"time"
)

// lines are the waiters of this process, in one line for each lock. Only the
// first of a line asks the server, so that a release is answered by one request
// of each process, not of each waiter.
type lines struct {
	ears *listener
	mu   sync.Mutex
	all  map[string]*line // by channel
}

// line is the waiters for one lock, in the order in which they came.
type line struct {
	names *names
	box   *mailbox
	turns []chan struct{} // the first one is closed: it is that waiter's turn

	// What the last answer of the server told; only the first waiter uses it.
	next   time.Time // when to ask again unless something is heard; zero: now
	polled int       // requests in a row without a subscription
}

func (s *lines) init(ears *listener) {
	s.ears, s.all = ears, map[string]*line{}
}

// busy reports whether somebody in this process waits for the lock.
func (s *lines) busy(n *names) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[n.channel] != nil
}

// join puts a waiter at the end of the line. next is when the lock is to be
// asked for, where the waiter has just asked and would be the first.
func (s *lines) join(n *names, next time.Time) (ln *line, turn chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ln = s.all[n.channel]
	if ln == nil {
		ln = &line{names: n, box: newMailbox(""), next: next}
		s.all[n.channel] = ln
		s.ears.join(n, ln.box)
	}
	turn = make(chan struct{})
	ln.turns = append(ln.turns, turn)
	if len(ln.turns) == 1 {
		close(turn)
	}
	return ln, turn
}

// leave takes a waiter out of the line, whether or not it was its turn.
func (s *lines) leave(ln *line, turn chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(ln.turns, turn)
	ln.turns = slices.Delete(ln.turns, i, i+1)
	switch {
	case len(ln.turns) == 0:
		delete(s.all, ln.names.channel)
		s.ears.leave(ln.names, ln.box)
	case i == 0:
		close(ln.turns[0])
	}
}
