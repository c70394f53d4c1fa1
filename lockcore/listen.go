package lockcore

import (
	"context"
	"errors"
	"strings"
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

	mu      sync.Mutex
	pubsub  *redis.PubSub // nil: not connected
	topics  map[string]*topic
	asked   map[string]bool // channels that the connection was told to hear
	syncing bool            // a goroutine makes subscriptions what topics want
	sweeper *time.Timer
	refused time.Time // when the server said that it allows none
}

// topic is one lock's channel.
type topic struct {
	names *names
	boxes map[*mailbox]bool
	empty time.Time // since when nobody waits
	live  bool      // the server has confirmed the subscription
}

// mailbox is what a waiter has heard since it last looked.
type mailbox struct {
	token string        // names the waiter in the fair queue; "" for none
	bell  chan struct{} // something is in it

	mu   sync.Mutex
	news news
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

// take empties the mailbox.
func (b *mailbox) take() news {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.news
	b.news = news{}
	return n
}

func (b *mailbox) put(message string) {
	b.mu.Lock()
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
	b.mu.Unlock()
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

func (e *listener) init(rdb redis.UniversalClient, cfg *config) {
	e.rdb, e.cfg, e.topics = rdb, cfg, map[string]*topic{}
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
	if len(e.missing()) > 0 {
		e.sync()
	}
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
	t := e.topics[n.channel]
	return t != nil && t.live
}

// sweep drops what nobody has waited for since the linger.
func (e *listener) sweep() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sweeper = nil
	next := time.Duration(-1)
	for _, t := range e.topics {
		if len(t.boxes) > 0 {
			continue
		}
		if left := linger - time.Since(t.empty); left > 0 {
			next = max(next, left)
		} else {
			delete(e.topics, t.names.channel)
			e.cfg.observe(Event{Kind: EventUnsubscribed, Name: t.names.name})
			e.sync()
		}
	}
	if next > 0 {
		e.sweeper = time.AfterFunc(next, e.sweep)
	}
}

// sync has subscriptions made what topics want, in the background: to
// subscribe may dial. mu is held.
func (e *listener) sync() {
	if !e.syncing {
		e.syncing = true
		go e.run()
	}
}

// run subscribes and unsubscribes until nothing is left to do.
func (e *listener) run() {
	ctx := context.Background()
	for {
		e.mu.Lock()
		pubsub, add, drop := e.pubsub, e.missing(), e.surplus()
		if len(e.topics) == 0 || len(add)+len(drop) == 0 {
			e.syncing = false
			if len(e.topics) == 0 {
				e.pubsub, e.asked = nil, nil
			}
			e.mu.Unlock()
			if len(e.topics) == 0 && pubsub != nil {
				_ = pubsub.Close() // nobody listens any more
			}
			return
		}
		fresh := pubsub == nil
		if fresh {
			pubsub = e.rdb.Subscribe(ctx)
			e.pubsub, e.asked = pubsub, map[string]bool{}
		}
		for _, channel := range add {
			e.asked[channel] = true
		}
		for _, channel := range drop {
			delete(e.asked, channel)
		}
		e.mu.Unlock()
		// Errors: the connection broke. go-redis subscribes to all of it again
		// when receive makes the next one.
		if len(add) > 0 {
			_ = pubsub.Subscribe(ctx, add...)
		}
		if len(drop) > 0 {
			_ = pubsub.Unsubscribe(ctx, drop...)
		}
		if fresh {
			go e.receive(pubsub)
		}
	}
}

// missing are the channels to subscribe to. mu is held.
func (e *listener) missing() (channels []string) {
	if time.Since(e.refused) <= askAgain {
		return nil
	}
	for channel := range e.topics {
		if !e.asked[channel] {
			channels = append(channels, channel)
		}
	}
	return channels
}

// surplus are the channels that nobody wants any more. mu is held.
func (e *listener) surplus() (channels []string) {
	for channel := range e.asked {
		if e.topics[channel] == nil {
			channels = append(channels, channel)
		}
	}
	return channels
}

// receive passes on what one connection hears, until it is closed.
func (e *listener) receive(pubsub *redis.PubSub) {
	for failed := 0; ; {
		msg, err := pubsub.Receive(context.Background())
		if err == nil {
			failed = 0
			e.hear(msg)
			continue
		}
		if !e.deaf(pubsub, err, failed == 0) {
			return
		}
		time.Sleep(backoff(10*time.Millisecond, failed, time.Second))
		failed++
	}
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
		if t == nil || msg.Kind != "subscribe" {
			return
		}
		t.live = true
		t.tell(wire.MessageFree)
		e.cfg.observe(Event{Kind: EventSubscribed, Name: t.names.name})
	}
}

func (t *topic) tell(message string) {
	for box := range t.boxes {
		box.put(message)
	}
}

// deaf notes that nothing is heard for now; the waiters go by the lock's TTL,
// or poll. It returns whether the connection is still wanted.
func (e *listener) deaf(pubsub *redis.PubSub, err error, first bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pubsub != pubsub || errors.Is(err, redis.ErrClosed) {
		return false
	}
	var refusal redis.Error
	refused := errors.As(err, &refusal) && !passing(err)
	for channel, t := range e.topics {
		if refused && t.live {
			continue
		}
		t.live = false
		t.tell(wire.MessageFree)
		if refused {
			delete(e.asked, channel)
		}
	}
	if refused {
		e.refused = time.Now()
	}
	switch {
	case refused:
		e.cfg.observe(Event{Kind: EventNoSubscription, Err: err})
	case first:
		e.cfg.observe(Event{Kind: EventSubscribeLost, Err: err})
	}
	return true
}
