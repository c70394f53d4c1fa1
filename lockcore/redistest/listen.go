package redistest

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Listener hears what is published on a server, on every channel.
type Listener struct {
	s    *Server
	sub  *redis.PubSub
	ends int
}

// Message is one message on one channel.
type Message struct{ Channel, Payload string }

// Listen hears every message that is published plainly from now on, until the
// end of the test. A publisher counts it as one receiver more.
func (s *Server) Listen() *Listener {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	sub := s.Client().PSubscribe(ctx, "*")
	s.t.Cleanup(func() { _ = sub.Close() })
	if _, err := sub.ReceiveTimeout(ctx, startWithin); err != nil {
		s.t.Fatalf("redistest: listen: %v", err)
	}
	return &Listener{s: s, sub: sub}
}

// heardMark begins the channels on which listeners tell themselves that they have
// heard all.
const heardMark = "redistest:heard:"

// Heard returns the messages since the last call, in order.
func (l *Listener) Heard() []Message {
	l.s.t.Helper()
	l.ends++
	end := heardMark + l.s.Addr + ":" + strconv.Itoa(l.ends)
	l.s.Do("PUBLISH", end, "") // all that was published before is before it in the stream
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	var out []Message
	for {
		v, err := l.sub.ReceiveTimeout(ctx, startWithin)
		if err != nil {
			l.s.t.Fatalf("redistest: listen: %v", err)
		}
		m, ok := v.(*redis.Message)
		switch {
		case ok && m.Channel == end:
			return out
		case ok && strings.HasPrefix(m.Channel, heardMark): // another listener's: a Cluster carries it to all nodes
		case ok:
			out = append(out, Message{m.Channel, m.Payload})
		}
	}
}
