package lockcore

import (
	"strings"
	"sync"

	"fencepost/lockcore/wire"
)

// mailbox is what a waiter has heard since it last looked.
type mailbox struct {
	token string        // names the waiter in the fair queue; "" for none
	bell  chan struct{} // something is in it

	mu   sync.Mutex
	news news
	shot *shot // to be fired in place of the bell, when the lock may be free
}

// news is what a waiter must know.
type news struct {
	try    bool  // the lock may be free for this waiter
	called bool  // another was called, and has not come yet
	taken  int64 // others that came when they were called
}

func newMailbox(token string) *mailbox {
	return &mailbox{token: token, bell: make(chan struct{}, 1)}
}

// take empties the mailbox, but for the news that the lock may be free: that is
// for the next shot, and must not be lost while the last one flies.
func (b *mailbox) take() news {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.news
	b.news = news{try: n.try}
	return n
}

// put notes a message. Where the caller has a hand free, it may be given a shot
// that this message calls for: then it is to fly it.
func (b *mailbox) put(message string, free bool) *shot {
	b.mu.Lock()
	defer b.mu.Unlock()
	next, called := strings.CutPrefix(message, wire.MessageNext)
	switch {
	case b.token == "" || called && next == b.token:
		b.news.try = true
	case called:
		b.news.called = true
	case strings.HasPrefix(message, wire.MessageTaken):
		b.news.called = false
		b.news.taken++
	default:
		b.news.try = true
	}
	x := b.due()
	switch {
	case x == nil:
		select {
		case b.bell <- struct{}{}:
		default:
		}
	case free && x.direct && x.claim():
		return x
	default:
		x.fire()
	}
	return nil
}

// arm lays a shot ready, and fires it at once if the lock may be free already.
func (b *mailbox) arm(x *shot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shot = x
	if x := b.due(); x != nil {
		x.fire()
	}
}

// due takes the shot out if the lock may be free; nil otherwise. mu is held.
func (b *mailbox) due() *shot {
	if b.shot == nil || !b.news.try {
		return nil
	}
	x := b.shot
	b.shot, b.news.try = nil, false
	return x
}

// disarm takes back a shot that was not fired.
func (b *mailbox) disarm() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shot = nil
}
