package lockcore

import (
	"math"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// limits end the wait for a connection of those commands that run on their
// caller's goroutine.
type limits struct {
	mu   sync.Mutex
	idle []*limit
}

// limit closes quit when its timer fires.
type limit struct {
	quit  chan struct{}
	timer *time.Timer
}

func (p *limits) get() *limit {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.idle) - 1; last >= 0 {
		l := p.idle[last]
		p.idle = p.idle[:last]
		return l
	}
	l := &limit{quit: make(chan struct{})}
	l.timer = time.AfterFunc(time.Hour, func() { close(l.quit) })
	l.timer.Stop()
	return l
}

// mostIdle is how many are kept.
const mostIdle = 64

// put keeps a limit that did not fire.
func (p *limits) put(l *limit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < mostIdle {
		p.idle = append(p.idle, l)
	}
}

// longest is within what time the client itself ends a command, once it has a
// connection; unbounded where it does not, or may be led from node to node.
func longest(rdb redis.UniversalClient) time.Duration {
	c, plain := rdb.(*redis.Client)
	if !plain {
		return unbounded
	}
	switch o := c.Options(); {
	case o.ContextTimeoutEnabled:
		return 0 // by the command's own deadline
	case o.ReadTimeout > 0 && o.WriteTimeout > 0:
		return o.ReadTimeout + o.WriteTimeout
	}
	return unbounded
}

const unbounded = time.Duration(math.MaxInt64)

// ends reports whether the client ends a flight within timeout, whoever waits.
func (s *sender) ends(f *flight, timeout time.Duration) bool {
	return f.work == nil && s.longest <= timeout
}

// direct runs a flight on its caller's goroutine, where the caller does not leave
// and the flight ends in time. To wake another before the request has left costs a
// hand-off a twentieth of its time.
func (s *sender) direct(f *flight, timeout time.Duration) error {
	l := s.limits.get()
	f.quit, f.deadline = l.quit, s.clock.time(f.at, timeout)
	l.timer.Reset(timeout)
	f.run()
	if l.timer.Stop() {
		s.limits.put(l)
	} else if f.err != nil {
		return errTimeout
	}
	return nil
}
