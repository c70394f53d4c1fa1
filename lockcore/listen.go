package lockcore

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// linger is how long the connection stays after its last waiter left, and the
// subscription of a lock for which somebody is back soon.
const linger = 2 * time.Second

// backSoon is within what time a process that waits for a lock again is back
// soon. For others the subscription ends a moment after the wait, which is not to
// stand in the way of the work: while it lasts, every release is told to those
// too that do not wait any more, before it is told to the next holder.
const (
	backSoon = 50 * time.Millisecond
	moment   = time.Millisecond
)

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
	refused time.Time       // when the server said that it allows none

	spare   map[string]*topic    // those of topics for which nobody waits
	left    map[string]time.Time // when the last waiter left channels that are not heard any more
	pruned  time.Time            // when what is too old was taken out of left
	unused  time.Time            // since when there is no topic
	sweeper *time.Timer
	sweepAt time.Time // when it is due; zero: it is not
}

// topic is one lock's channel.
type topic struct {
	names *names
	boxes map[*mailbox]bool
	empty time.Time // since when nobody waits
	often bool      // who waits comes back soon
}

func (e *listener) init(rdb redis.UniversalClient, cfg *config) {
	e.rdb, e.cfg, e.topics = rdb, cfg, map[string]*topic{}
	e.spare, e.left = map[string]*topic{}, map[string]time.Time{}
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
		t = &topic{names: n, boxes: map[*mailbox]bool{}, empty: e.left[n.channel]}
		e.topics[n.channel] = t
	}
	if len(t.boxes) == 0 {
		t.often = time.Since(t.empty) < backSoon
		delete(e.spare, n.channel)
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
	e.spare[n.channel] = t
	e.sweepBy(t.over())
}

// live reports whether no release of the lock is missed now.
func (e *listener) live(n *names) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked[n.channel]
}

// over is when nobody needs the topic any more, unless somebody comes.
func (t *topic) over() time.Time {
	if t.often {
		return t.empty.Add(linger)
	}
	return t.empty.Add(moment)
}

// sweepBy has a sweep made at a moment, or before. mu is held.
func (e *listener) sweepBy(at time.Time) {
	switch {
	case !e.sweepAt.IsZero() && !at.Before(e.sweepAt):
		return
	case e.sweeper == nil:
		e.sweeper = time.AfterFunc(time.Until(at), e.sweep)
	default:
		e.sweeper.Reset(time.Until(at))
	}
	e.sweepAt = at
}

// sweep drops what nobody needs any more, and closes a connection that has not
// been used for the linger.
func (e *listener) sweep() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	e.sweepAt = time.Time{}
	for channel, t := range e.spare {
		if t.over().After(now) {
			e.sweepBy(t.over())
			continue
		}
		e.drop(channel, t)
	}
	if now.Sub(e.pruned) > linger {
		maps.DeleteFunc(e.left, func(_ string, at time.Time) bool { return now.Sub(at) > backSoon })
		e.pruned = now
	}
	if e.pubsub != nil && len(e.topics) == 0 && e.unused.Add(linger).After(now) {
		e.sweepBy(e.unused.Add(linger))
	}
	e.act()
}

// drop ends what is heard of a lock. mu is held.
func (e *listener) drop(channel string, t *topic) {
	delete(e.topics, channel)
	delete(e.spare, channel)
	e.left[channel], e.unused = t.empty, t.empty
	if e.asked[channel] {
		e.cfg.observe(Event{Kind: EventUnsubscribed, Name: t.names.name})
	}
}

// idle reports whether the connection has had nothing to hear for the linger.
// mu is held.
func (e *listener) idle() bool {
	return e.pubsub != nil && len(e.topics) == 0 && time.Since(e.unused) >= linger
}

// hear passes a message on. Where nobody else waits to hear of anything, it asks
// for the lock itself: to wake another goroutine first makes the hand-off late.
func (e *listener) hear(msg any) {
	if x := e.pass(msg); x != nil {
		x.fly()
	}
}

// pass is what hear does. A confirmed subscription, also one after the connection
// broke, wakes everybody: what was released before was not heard.
func (e *listener) pass(msg any) *shot {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch msg := msg.(type) {
	case *redis.Message:
		t := e.topics[msg.Channel]
		switch {
		case t == nil:
		case len(t.boxes) == 1 && len(e.topics)-len(e.spare) == 1:
			for box := range t.boxes {
				return box.put(msg.Payload, true)
			}
		default:
			t.tell(msg.Payload)
		}
	case *redis.Subscription:
		t := e.topics[msg.Channel]
		if _, asked := e.asked[msg.Channel]; !asked || t == nil || msg.Kind != "subscribe" {
			return nil
		}
		e.asked[msg.Channel] = true
		t.tell(wire.MessageFree)
		e.cfg.observe(Event{Kind: EventSubscribed, Name: t.names.name})
	}
	return nil
}

func (t *topic) tell(message string) {
	for box := range t.boxes {
		box.put(message, false)
	}
}
