package lockcore

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// linger is how long a subscription stays after its last waiter left: who waits
// often then finds it there.
const linger = 2 * time.Second

// askAgain is how long a refused subscription is not asked for again.
const askAgain = 30 * time.Second

// listener hears of releases, on one connection that is open only while
// somebody waits, or did a moment ago. It sends no pings: a connection that
// broke unseen costs a waiter time, up to the lock's TTL, and nothing else.
type listener struct {
	rdb redis.UniversalClient
	cfg *config
	// over is a context that has ended. go-redis makes a broken connection anew
	// by itself, inside a lock that everybody else then waits for; with this one
	// it does not, and the connection is made here, while nobody waits.
	over context.Context

	mu      sync.Mutex
	topics  map[string]*topic
	running bool            // a goroutine connects and listens
	pubsub  *redis.PubSub   // the connection that it listens on; nil: none
	asked   map[string]bool // channels that it was told to hear: true once the server confirmed
	writing bool            // a goroutine tells it what else to hear
	sweeper *time.Timer
	refused time.Time // when the server said that it allows none
}

// topic is one lock's channel.
type topic struct {
	names *names
	boxes map[*mailbox]bool
	empty time.Time // since when nobody waits
}

func (e *listener) init(rdb redis.UniversalClient, cfg *config) {
	e.rdb, e.cfg, e.topics = rdb, cfg, map[string]*topic{}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	e.over = over
}

// join has the box told of a lock's releases, and of the moment from which
// none is missed any more.
func (e *listener) join(n *names, box *mailbox) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.topics[n.channel]
	if t == nil {
		t = &topic{names: n, boxes: map[*mailbox]bool{}}
		e.topics[n.channel] = t
	}
	t.boxes[box] = true
	e.act()
}

// leave ends that.
func (e *listener) leave(n *names, box *mailbox) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.topics[n.channel]
	if t == nil {
		return
	}
	delete(t.boxes, box)
	if len(t.boxes) > 0 {
		return
	}
	t.empty = time.Now()
	if e.sweeper == nil {
		e.sweeper = time.AfterFunc(linger, e.sweep)
	}
}

// live reports whether no release of the lock is missed now.
func (e *listener) live(n *names) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked[n.channel]
}

// sweep drops what nobody has waited for since the linger.
func (e *listener) sweep() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sweeper = nil
	var next time.Duration
	for channel, t := range e.topics {
		if len(t.boxes) > 0 {
			continue
		}
		if left := linger - time.Since(t.empty); left > 0 {
			next = max(next, left)
			continue
		}
		delete(e.topics, channel)
		if e.asked[channel] {
			e.cfg.observe(Event{Kind: EventUnsubscribed, Name: t.names.name})
		}
	}
	if next > 0 {
		e.sweeper = time.AfterFunc(next, e.sweep)
	}
	e.act()
}

// hear passes a message on. A confirmed subscription, also one after the
// connection broke, wakes everybody: what was released before was not heard.
func (e *listener) hear(msg any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch msg := msg.(type) {
	case *redis.Message:
		if t := e.topics[msg.Channel]; t != nil {
			t.tell(msg.Payload)
		}
	case *redis.Subscription:
		t := e.topics[msg.Channel]
		if _, asked := e.asked[msg.Channel]; !asked || t == nil || msg.Kind != "subscribe" {
			return
		}
		e.asked[msg.Channel] = true
		t.tell(wire.MessageFree)
		e.cfg.observe(Event{Kind: EventSubscribed, Name: t.names.name})
	}
}

func (t *topic) tell(message string) {
	for box := range t.boxes {
		box.put(message)
	}
}
