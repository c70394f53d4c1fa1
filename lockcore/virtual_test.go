package lockcore

import (
	"bytes"
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// virtual runs a test in virtual time: lockcore, go-redis and a server that
// runs the real scripts, over pipes. Hours pass in no time, and exactly.
func virtual(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		w := &world{t: t, m: m}
		w.network = w.another()
		defer func() { // also after a Fatal
			w.end()
			for _, c := range w.clients {
				_ = c.Close()
			}
			m.Close()
		}()
		test(t, w)
	})
}

// world is one server, its clients, and the networks between them.
type world struct {
	t *testing.T
	m *miniredis.Miniredis
	*network
	networks []*network
	clients  []*redis.Client
	lockers  []*Locker
}

// network is between some clients and the server, with faults of its own.
type network struct {
	w       *world
	mu      sync.Mutex
	faults  virtualFaults
	changed chan struct{} // closed and replaced with every change
	log     []string      // the commands that were sent, lower case
}

// another is a network beside the world's first one.
func (w *world) another() *network {
	n := &network{w: w, changed: make(chan struct{})}
	w.networks = append(w.networks, n)
	return n
}

type virtualFaults struct {
	requestDelay, replyDelay  time.Duration
	holdRequests, holdReplies bool
	cut                       int // replies that break their connection instead
}

// client is a client of the world's server with go-redis's own settings.
func (n *network) client() *redis.Client {
	w := n.w
	c := redis.NewClient(&redis.Options{
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return n.dial()
		},
		Addr:     "127.0.0.1:1", // a name would be looked up, outside of virtual time
		PoolSize: 100, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	w.clients = append(w.clients, c)
	return c
}

func (n *network) locker(opts ...Option) *Locker {
	w := n.w
	w.t.Helper()
	l, err := New(n.client(), opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.lockers = append(w.lockers, l)
	return l
}

// end lets everything come to rest: leases that the test left expire, and with
// them whatever runs for them. A goroutine that is left then fails the test.
func (w *world) end() {
	for _, n := range w.networks {
		n.heal()
	}
	longest := time.Minute
	for _, l := range w.lockers {
		l.sched.mu.Lock()
		for _, h := range l.sched.heap {
			h.forgotten()
			longest = max(longest, 2*h.cfg.ttl)
		}
		l.sched.mu.Unlock()
	}
	time.Sleep(longest)
}

// get is a key's value on the server, "" when it is missing.
func (w *world) get(key string) string {
	v, err := w.m.Get(key)
	if err != nil {
		return ""
	}
	return v
}

func (n *network) set(change func(*virtualFaults)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.faults)
	close(n.changed)
	n.changed = make(chan struct{})
}

func (n *network) heal() { n.set(func(f *virtualFaults) { *f = virtualFaults{} }) }

// blackHole lets nothing through, in either direction.
func (n *network) blackHole() {
	n.set(func(f *virtualFaults) { f.holdRequests, f.holdReplies = true, true })
}

// sent is how many scripts were sent since the start.
func (n *network) sent(names ...string) (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.log {
		if len(names) == 0 && strings.HasPrefix(c, "eval") || slices.Contains(names, c) {
			count++
		}
	}
	return count
}

// dial connects through the faults.
func (n *network) dial() (net.Conn, error) {
	server, err := n.w.m.Dial()
	if err != nil {
		return nil, err
	}
	client, relay := net.Pipe()
	requests, replies := make(chan []byte, 1000), make(chan []byte, 1000)
	shut := func() { _, _ = relay.Close(), server.Close() }
	go read(relay, requests)
	go read(server, replies)
	go func() {
		defer shut()
		for chunk := range requests {
			at := time.Now()
			n.note(chunk)
			if !n.pass(at, func(f virtualFaults) (time.Duration, bool) { return f.requestDelay, f.holdRequests }) {
				return
			}
			if _, err := server.Write(chunk); err != nil {
				return
			}
		}
	}()
	go func() {
		defer shut()
		for chunk := range replies {
			at := time.Now()
			if n.cutNow(chunk) || !n.pass(at, func(f virtualFaults) (time.Duration, bool) { return f.replyDelay, f.holdReplies }) {
				return
			}
			if _, err := relay.Write(chunk); err != nil {
				return
			}
		}
	}()
	return client, nil
}

func read(c net.Conn, to chan []byte) {
	defer close(to)
	buf := make([]byte, 1<<16)
	for {
		k, err := c.Read(buf)
		if err != nil {
			return
		}
		to <- bytes.Clone(buf[:k])
	}
}

// pass waits as long as the faults say.
func (n *network) pass(at time.Time, of func(virtualFaults) (time.Duration, bool)) bool {
	for {
		n.mu.Lock()
		delay, held := of(n.faults)
		changed := n.changed
		n.mu.Unlock()
		if held {
			<-changed
			continue
		}
		if wait := time.Until(at.Add(delay)); wait > 0 {
			select {
			case <-changed:
				continue
			case <-time.After(wait):
			}
		}
		return true
	}
}

// note logs the names of the commands in a chunk of requests.
func (n *network) note(chunk []byte) {
	lines := strings.Split(string(chunk), "\r\n")
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := 0; i+2 < len(lines); i++ {
		if strings.HasPrefix(lines[i], "*") && strings.HasPrefix(lines[i+1], "$") {
			n.log = append(n.log, strings.ToLower(lines[i+2]))
		}
	}
}

func (n *network) cutNow(reply []byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.faults.cut == 0 || bytes.HasPrefix(reply, []byte("-NOSCRIPT")) || bytes.HasPrefix(reply, []byte("%")) {
		return false // the handshake, and what did not run
	}
	n.faults.cut--
	return true
}
