package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"fencepost/lockcore/wire"
)

// Lab is the stage of one world of a story: servers of its own, in virtual
// time. It makes a server at the first command for its name. It is used by one
// goroutine at a time.
type Lab struct {
	now     time.Duration
	servers map[string]*labServer
	replica *labServer // detached; nil before
	cancels []func()
}

// labServer is one embedded Redis, and its clock.
type labServer struct {
	m     *miniredis.Miniredis
	conn  *labConn
	shift time.Duration // how far its clock is from that of the story
	down  bool
}

// errRefused is what a client hears where nothing listens.
var errRefused = errors.New("connection refused")

// labBegin is the date on which every story begins: the same each time, so that
// the same story leaves the same text.
var labBegin = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// NewLab returns a stage at time 0, with nothing on it.
func NewLab() *Lab { return &Lab{servers: make(map[string]*labServer)} }

// Close ends all its servers.
func (l *Lab) Close() {
	for _, cancel := range l.cancels {
		cancel()
	}
	for _, s := range l.servers {
		s.close()
	}
	if l.replica != nil {
		l.replica.close()
	}
}

func (s *labServer) close() {
	if s.conn != nil {
		s.conn.close()
	}
	s.m.Close()
}

func (l *Lab) server(node string) (*labServer, error) {
	if node == "closed" {
		return nil, errRefused
	}
	s := l.servers[node]
	if s == nil {
		var err error
		if s, err = l.newServer(); err != nil {
			return nil, err
		}
		l.servers[node] = s
	}
	if s.down {
		return nil, errRefused
	}
	return s, nil
}

func (l *Lab) newServer() (*labServer, error) {
	s := &labServer{m: miniredis.NewMiniRedis()}
	s.m.SetTime(labBegin.Add(l.now))
	s.m.ClockTTL(true)
	conn, err := s.m.Dial()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s.conn = newLabConn(conn)
	return s, nil
}

// Do sends one call to a node, or several as one transaction, and returns their
// replies. See scenario.Port.
func (l *Lab) Do(_ context.Context, node string, calls ...wire.Call) ([]any, error) {
	s, err := l.server(node)
	if err != nil {
		return nil, err
	}
	if len(calls) == 1 {
		reply, err := s.conn.do(calls[0].Argv()...)
		return []any{reply}, err
	}
	if _, err := s.conn.do("MULTI"); err != nil {
		return nil, err
	}
	for _, c := range calls {
		if _, err := s.conn.do(c.Argv()...); err != nil {
			return nil, err
		}
	}
	reply, err := s.conn.do("EXEC")
	if err != nil {
		return nil, err
	}
	if bad, refused := reply.(error); refused {
		return nil, bad
	}
	replies, _ := reply.([]any)
	if len(replies) != len(calls) {
		return nil, fmt.Errorf("sandbox: EXEC answered %d replies to %d commands", len(replies), len(calls))
	}
	return replies, nil
}

// messageWait is how long, in real time, a message that was published may take
// through the pipe inside this process.
const messageWait = 2 * time.Second

// Subscribe listens on a channel. See scenario.Port.
func (l *Lab) Subscribe(ctx context.Context, node, channel string) (func() (string, bool), func(), error) {
	s, err := l.server(node)
	if err != nil {
		return nil, nil, err
	}
	pipe, err := s.m.Dial()
	if err != nil {
		return nil, nil, fmt.Errorf("sandbox: %w", err)
	}
	conn := newLabConn(pipe)
	if _, err := conn.do("SUBSCRIBE", channel); err != nil {
		conn.close()
		return nil, nil, err
	}
	messages := make(chan string, 64)
	go listenOn(conn, messages)
	l.cancels = append(l.cancels, conn.close)
	next := func() (string, bool) {
		select {
		case m, ok := <-messages:
			return m, ok
		case <-time.After(messageWait):
			return "", false
		case <-ctx.Done():
			return "", false
		}
	}
	return next, conn.close, nil
}

// listenOn passes messages on until the connection is closed.
func listenOn(conn *labConn, messages chan<- string) {
	defer close(messages)
	for {
		reply, err := conn.read()
		if err != nil {
			return
		}
		if parts, ok := reply.([]any); ok && len(parts) == 3 && parts[0] == "message" {
			text, _ := parts[2].(string)
			messages <- text
		}
	}
}

// Now is the virtual time since the story began.
func (l *Lab) Now() time.Duration { return l.now }

// Sleep lets virtual time pass on all servers, at once.
func (l *Lab) Sleep(ctx context.Context, until time.Duration) error {
	l.now = max(l.now, until)
	for _, s := range l.servers {
		s.m.SetTime(labBegin.Add(l.now + s.shift))
	}
	return ctx.Err()
}

// Stop ends a server; Start brings it back, empty. See scenario.Servers.
func (l *Lab) Stop(_ context.Context, node string) error {
	s, err := l.server(node)
	if err != nil {
		return err
	}
	s.down = true
	s.m.FlushAll()
	return nil
}

// Start brings a stopped server back, empty.
func (l *Lab) Start(_ context.Context, node string) error {
	if s := l.servers[node]; s != nil {
		s.down = false
	}
	return nil
}

// Detach takes a copy of the lock's server as it is: a replica that hears of
// nothing from here on. miniredis has no replicas, so the copy plays the part.
func (l *Lab) Detach(context.Context) error {
	from, err := l.server("redis")
	if err != nil {
		return err
	}
	to, err := l.newServer()
	if err != nil {
		return err
	}
	for _, key := range from.m.Keys() {
		value, err := from.m.Get(key)
		if err != nil {
			return fmt.Errorf("sandbox: the replica copies strings only: %s: %w", key, err)
		}
		if err := to.m.Set(key, value); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
		if ttl := from.m.TTL(key); ttl > 0 {
			to.m.SetTTL(key, ttl)
		}
	}
	l.replica = to
	return nil
}

// Promote makes the copy the lock's server.
func (l *Lab) Promote(context.Context) error {
	if l.replica == nil {
		return errors.New("sandbox: there is no replica to promote; detach one first")
	}
	l.servers["redis"].close()
	l.servers["redis"], l.replica = l.replica, nil
	return l.Sleep(context.Background(), l.now)
}

// Fill throws key out of the lock's server as the policy would: miniredis has
// no memory limit, so it plays the part.
func (l *Lab) Fill(_ context.Context, policy, key string) (bool, error) {
	s, err := l.server("redis")
	if err != nil {
		return false, err
	}
	volatile := s.m.TTL(key) > 0
	if policy == "noeviction" || policy == "volatile-ttl" && !volatile {
		return false, nil
	}
	return s.m.Del(key), nil
}

// Shift moves the clock of the lock's server. Redis keeps the moment at which a
// key expires, so a clock that is turned back lengthens every lease; miniredis
// keeps the time that is left, which is lengthened here to the same end.
func (l *Lab) Shift(ctx context.Context, by time.Duration) error {
	s, err := l.server("redis")
	if err != nil {
		return err
	}
	s.shift += by
	if err := l.Sleep(ctx, l.now); err != nil || by > 0 {
		return err
	}
	for _, key := range s.m.Keys() {
		if ttl := s.m.TTL(key); ttl > 0 {
			s.m.SetTTL(key, ttl-by)
		}
	}
	return nil
}

// Emulated reports whether this stage only plays the part of a server that can
// do this: it has neither replicas nor a limit of memory. Its clock and its
// stops are as real as the rest of it.
func (l *Lab) Emulated(what string) bool { return what == "replica" || what == "fill" }
