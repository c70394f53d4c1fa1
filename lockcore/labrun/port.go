// Package labrun plays the lab's stories on real servers: one that somebody
// chose, below a prefix of the lab's, or servers that the lab starts itself.
//
// Leases are real and short. Virtual time is not slept through: the steps run
// one after the other, and the port waits only where the story has a lease end,
// until Redis has let go of the key. So the order of a story is kept on a slow
// machine too; where it cannot be, the run ends with ErrTooSlow.
//
// Everything that a step leaves without an expiry gets the lab's net in the
// same transaction, and Clean removes all at the end.
package labrun

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed probe.lua
	probeSource string
	//go:embed net.lua
	netSource string
)

// ErrTooSlow says that a lease ended in reality before the story had it end.
var ErrTooSlow = errors.New("labrun: the server or this machine is too slow for leases this short")

// Prefix stands before every key and channel of the lab.
const Prefix = "fencepost:lab:"

// The lab's net, and from where on a PTTL counts as the net's: no lease of the
// lab is that long in reality.
const (
	netLife  = 10 * time.Minute
	netFloor = 5 * time.Minute
)

// breath is slept at least whenever virtual time passes, so that two things at
// different times happen in different milliseconds of the server.
const breath = 2 * time.Millisecond

// Port is a scenario.Port over real servers. It is used by one goroutine at a time.
type Port struct {
	prefix  string
	clients func(node string) (redis.UniversalClient, error)
	scale   float64 // real time for virtual time
	netted  bool    // the server is somebody's: nothing may stay there
	timeout time.Duration

	now     time.Duration
	leases  map[string]lease // by node and key
	touched map[string]redis.UniversalClient
	asked   map[time.Duration]time.Duration // the real lengths that were asked for, and what they are in the story
}

// lease is a key that will expire: in reality, and in the story.
type lease struct {
	node, key string
	real      time.Time
	virtual   time.Duration
	full      time.Duration // its real length
}

// Lengths are the real length of a story's lease, and its length in the story.
type Lengths struct{ Real, Virtual time.Duration }

// New returns a port on a server that somebody chose: all nodes are that
// server. timeout bounds each step.
func New(client redis.UniversalClient, l Lengths, timeout time.Duration) *Port {
	p := newPort(func(node string) (redis.UniversalClient, error) {
		if node == "closed" {
			return nil, knockOnClosed()
		}
		return client, nil
	}, l, timeout)
	p.netted = true
	return p
}

func newPort(clients func(string) (redis.UniversalClient, error), l Lengths, timeout time.Duration) *Port {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return &Port{prefix: Prefix + hex.EncodeToString(random[:]) + ":", clients: clients,
		scale: float64(l.Real) / float64(l.Virtual), timeout: timeout,
		leases: make(map[string]lease), touched: make(map[string]redis.UniversalClient),
		asked: make(map[time.Duration]time.Duration)}
}

// Prefix is what stands before every key and channel of this run.
func (p *Port) Prefix() string { return p.prefix }

// LengthsFor returns the lengths for a story: the lease becomes half a second, or longer, so that the
// shortest one of the story is still a tenth of a second. Each further try on a
// slow machine doubles them.
func LengthsFor(leases []time.Duration, try int) Lengths {
	l := Lengths{Real: 500 * time.Millisecond, Virtual: 10 * time.Second}
	if len(leases) > 0 {
		l.Virtual = leases[0]
		shortest := slices.Min(leases)
		if real := 100 * time.Millisecond * l.Virtual / shortest; real > l.Real {
			l.Real = real
		}
	}
	l.Real <<= try
	return l
}

// knockOnClosed is what a client hears where nothing listens: it asks for a
// free port, gives it back, and knocks.
func knockOnClosed() error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return err
	}
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		_ = conn.Close()
		return errors.New("labrun: something listens where nothing should")
	}
	return errors.New("connection refused")
}

// latency is how old a PTTL may be that was read in the step that set it.
const latency = 10 * time.Millisecond

// story is a real length as the story has it: what was asked for, where it is a
// little less than that.
func (p *Port) story(real time.Duration) time.Duration {
	best, found := time.Duration(0), false
	for asked := range p.asked {
		if late := asked - real; late >= 0 && late <= latency && (!found || asked < best) {
			best, found = asked, true
		}
	}
	if found {
		return p.asked[best]
	}
	return time.Duration(float64(real) / p.scale).Round(100 * time.Millisecond)
}

// Short is the real length of a virtual one.
func (p *Port) Short(virtual time.Duration) time.Duration {
	real := max(time.Millisecond, time.Duration(float64(virtual)*p.scale).Round(time.Millisecond))
	p.asked[real] = virtual
	return real
}

// Left is the virtual time for which a key will live, given the PTTL measured.
func (p *Port) Left(node, key string, pttl int64) time.Duration {
	if l, ok := p.leases[node+" "+key]; ok {
		return l.virtual - p.now
	}
	return p.story(time.Duration(pttl) * time.Millisecond)
}

// Net is from where on a PTTL, in milliseconds, is the lab's net.
func (p *Port) Net() int64 { return netFloor.Milliseconds() }

// Now is the virtual time since the story began.
func (p *Port) Now() time.Duration { return p.now }

// Sleep lets virtual time pass: it waits in reality for the leases that end
// until then, and makes sure that no other has.
func (p *Port) Sleep(ctx context.Context, until time.Duration) error {
	if until <= p.now {
		return ctx.Err()
	}
	wake := time.Now().Add(breath)
	for id, l := range p.leases {
		if l.virtual <= until {
			if err := p.awaitEnd(ctx, l); err != nil {
				return err
			}
			delete(p.leases, id)
		}
	}
	if err := pause(ctx, time.Until(wake)); err != nil {
		return err
	}
	for _, l := range p.leases {
		if time.Until(l.real) < l.full/10 && l.virtual-until > time.Duration(float64(l.full)/p.scale)/10 {
			return ErrTooSlow
		}
	}
	p.now = until
	return nil
}

// awaitEnd waits until Redis has let go of a key.
func (p *Port) awaitEnd(ctx context.Context, l lease) error {
	if err := pause(ctx, time.Until(l.real)+breath); err != nil {
		return err
	}
	client, err := p.clients(l.node)
	if err != nil {
		return nil // a server that is down has let go of everything
	}
	for range 500 {
		ttl, err := client.PTTL(ctx, l.key).Result()
		if err != nil {
			return plainError(err)
		}
		if ttl == -2 {
			return nil
		}
		if err := pause(ctx, breath); err != nil {
			return err
		}
	}
	return fmt.Errorf("labrun: %s did not expire", l.key)
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// messageWait is how long a message that was published may take.
const messageWait = 2 * time.Second

// Subscribe listens on a channel. See scenario.Port.
func (p *Port) Subscribe(ctx context.Context, node, channel string) (func() (string, bool), func(), error) {
	client, err := p.clients(node)
	if err != nil {
		return nil, nil, err
	}
	sub := client.Subscribe(ctx, channel)
	end := func() { _ = sub.Close() } // nothing is to be done about an error here
	if _, err := sub.ReceiveTimeout(ctx, p.timeout); err != nil {
		end()
		return nil, nil, plainError(err)
	}
	next := func() (string, bool) {
		until := time.Now().Add(messageWait)
		for time.Now().Before(until) {
			got, err := sub.ReceiveTimeout(ctx, time.Until(until))
			if err != nil {
				return "", false
			}
			if m, ok := got.(*redis.Message); ok {
				return m.Payload, true
			}
		}
		return "", false
	}
	return next, end, nil
}

// Clean removes everything that the run wrote. It is to be called at the end of
// every run; what a killed lab leaves goes when its net ends.
func (p *Port) Clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var first error
	for key, client := range p.touched {
		if err := client.Del(ctx, key).Err(); err != nil && first == nil {
			first = fmt.Errorf("labrun: %s could not be removed; it expires within ten minutes: %w", key, err)
		}
	}
	return first
}
