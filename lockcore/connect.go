package lockcore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// act starts what the topics want: a connection, or a change of what it hears.
// mu is held.
func (e *listener) act() {
	add, drop := e.changes()
	switch {
	case e.pubsub == nil && len(add) > 0 && !e.running:
		e.running = true
		go e.run()
	case e.pubsub != nil && (len(add)+len(drop) > 0 || e.idle()) && !e.writing:
		e.writing = true
		go e.write(e.pubsub)
	}
}

// changes are the channels to subscribe to and to unsubscribe from. mu is held.
func (e *listener) changes() (add, drop []string) {
	for channel := range e.topics {
		if _, asked := e.asked[channel]; !asked && time.Since(e.refused) > askAgain {
			add = append(add, channel)
		}
	}
	for channel := range e.asked {
		if e.topics[channel] == nil {
			drop = append(drop, channel)
		}
	}
	return add, drop
}

// write tells the connection what else to hear, until nothing is left to tell;
// if nobody has wanted to hear anything for a while, it closes the connection.
func (e *listener) write(pubsub *redis.PubSub) {
	for {
		e.mu.Lock()
		add, drop := e.changes()
		if e.pubsub != pubsub || len(add)+len(drop) == 0 {
			idle := e.pubsub == pubsub && e.idle()
			if idle {
				e.pubsub, e.asked = nil, nil // from here on another is needed
			}
			e.writing = false
			e.act()
			e.mu.Unlock()
			if idle {
				_ = pubsub.Close() // receive notices
			}
			return
		}
		for _, channel := range add {
			e.asked[channel] = false // not confirmed yet
		}
		for _, channel := range drop {
			delete(e.asked, channel)
		}
		e.mu.Unlock()
		// What fails here breaks the connection, and receive notices.
		if len(add) > 0 {
			_ = pubsub.Subscribe(e.over, add...)
		}
		if len(drop) > 0 {
			_ = pubsub.Unsubscribe(e.over, drop...)
		}
	}
}

// run connects and listens, as long as somebody wants to hear something.
func (e *listener) run() {
	for failed := 0; ; failed++ {
		e.mu.Lock()
		e.pubsub, e.asked = nil, nil
		add, _ := e.changes()
		if len(add) == 0 {
			e.running = false
			e.mu.Unlock()
			return
		}
		e.mu.Unlock()
		pubsub := e.rdb.Subscribe(context.Background())
		err := pubsub.Subscribe(context.Background(), add...)
		if err == nil {
			failed = 0
			err = e.receive(pubsub, add)
		}
		_ = pubsub.Close() // it is broken, or nobody wants it
		e.deaf(err)
		time.Sleep(backoff(10*time.Millisecond, failed, time.Second))
	}
}

// receive passes on what one connection hears, until it breaks.
func (e *listener) receive(pubsub *redis.PubSub, channels []string) error {
	e.mu.Lock()
	e.pubsub, e.asked = pubsub, map[string]bool{}
	for _, channel := range channels {
		e.asked[channel] = false // not confirmed yet
	}
	if len(e.topics) == 0 {
		e.unused = time.Now()
		e.sweepBy(e.unused.Add(linger))
	}
	e.act() // something may have changed meanwhile
	e.mu.Unlock()
	for {
		msg, err := pubsub.Receive(e.over)
		var refusal redis.Error
		switch {
		case err == nil:
			e.hear(msg)
		case errors.As(err, &refusal) && !passing(err):
			if !e.refuse(err) {
				return err
			}
		default:
			return err
		}
	}
}

// refuse notes that the server does not allow a subscription; those who wait
// for it poll. It returns whether there are others that it does allow.
func (e *listener) refuse(err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused = time.Now()
	some := false
	for channel, t := range e.topics {
		if e.asked[channel] {
			some = true
		} else {
			delete(e.asked, channel)
			t.tell(wire.MessageFree)
		}
	}
	e.cfg.observe(Event{Kind: EventNoSubscription, Err: err})
	return some
}

// deaf notes that nothing is heard for now. The waiters go by the lock's TTL,
// and ask from time to time.
func (e *listener) deaf(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	lost := false
	for channel, t := range e.topics {
		lost = lost || e.asked[channel]
		t.tell(wire.MessageFree)
	}
	e.pubsub, e.asked = nil, nil
	if lost {
		e.cfg.observe(Event{Kind: EventSubscribeLost, Err: err})
	}
}
