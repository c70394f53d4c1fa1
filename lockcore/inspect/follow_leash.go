package inspect

import (
	"context"
	"net"
	"sync"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// leash holds on to the connections of a client, so that they can be cut at any
// moment: the client library waits for an answer until its deadline, also while
// it opens a connection, whoever cancels.
type leash struct {
	mu    sync.Mutex
	conns map[*leashed]bool
	cut   bool
}

type leashed struct {
	net.Conn
	l *leash
}

// leashedSys keeps the client's look whether an idle connection is alive.
type leashedSys struct {
	*leashed
	syscall.Conn
}

// Close takes the connection off the leash.
func (c *leashed) Close() error {
	c.l.mu.Lock()
	delete(c.l.conns, c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// put puts what a client dials on the leash.
func (l *leash) put(o *redis.Options) {
	dial := o.Dialer
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c := &leashed{Conn: conn, l: l}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.cut {
			_ = conn.Close() // too late
			return nil, net.ErrClosed
		}
		if l.conns == nil {
			l.conns = map[*leashed]bool{}
		}
		l.conns[c] = true
		if sys, ok := conn.(syscall.Conn); ok {
			return leashedSys{c, sys}, nil
		}
		return c, nil
	}
}

// cutAll closes every connection, and those that would still be made.
func (l *leash) cutAll() {
	l.mu.Lock()
	l.cut = true
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close() // whoever waits on it learns
	}
}
