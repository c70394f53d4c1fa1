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
		w := &world{t: t, m: m, changed: make(chan struct{})}
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

// world is one server, its clients, and the network between them.
type world struct {
	t       *testing.T
	m       *miniredis.Miniredis
	clients []*redis.Client
	lockers []*Locker

	mu      sync.Mutex
	faults  virtualFaults
	changed chan struct{} // closed and replaced with every change
	log     []string      // the commands that were sent, lower case
}

type virtualFaults struct {
	requestDelay, replyDelay   time.Duration
	holdRequests, holdReplies  bool
	cut                        int // replies that break their connection instead
	dropRequests, onlyPipeline bool
}

// client is a client of the world's server with go-redis's own settings.
func (w *world) client() *redis.Client {
	c := redis.NewClient(&redis.Options{
		Dialer:   func(context.Context, string, string) (net.Conn, error) { return w.dial() },
		Addr:     "127.0.0.1:1", // a name would be looked up, outside of virtual time
		PoolSize: 100, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	w.clients = append(w.clients, c)
	return c
}

func (w *world) locker(opts ...Option) *Locker {
	w.t.Helper()
	l, err := New(w.client(), opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.lockers = append(w.lockers, l)
	return l
}

// end lets everything come to rest: leases that the test left expire, and with
// them whatever runs for them. A goroutine that is left then fails the test.
func (w *world) end() {
	w.heal()
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

func (w *world) set(change func(*virtualFaults)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.faults)
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) heal() { w.set(func(f *virtualFaults) { *f = virtualFaults{} }) }

// blackHole lets nothing through, in either direction.
func (w *world) blackHole() {
	w.set(func(f *virtualFaults) { f.holdRequests, f.holdReplies = true, true })
}

// sent is how many scripts were sent since the start.
func (w *world) sent(names ...string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.log {
		if len(names) == 0 && strings.HasPrefix(c, "eval") || slices.Contains(names, c) {
			n++
		}
	}
	return n
}

// get is a key's value on the server, "" when it is missing.
func (w *world) get(key string) string {
	v, err := w.m.Get(key)
	if err != nil {
		return ""
	}
	return v
}

// dial connects through the faults.
func (w *world) dial() (net.Conn, error) {
	server, err := w.m.Dial()
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
			w.note(chunk)
			if !w.pass(at, func(f virtualFaults) (time.Duration, bool) { return f.requestDelay, f.holdRequests }) {
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
			if w.cutNow(chunk) || !w.pass(at, func(f virtualFaults) (time.Duration, bool) { return f.replyDelay, f.holdReplies }) {
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
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		to <- bytes.Clone(buf[:n])
	}
}

// pass waits as long as the faults say.
func (w *world) pass(at time.Time, of func(virtualFaults) (time.Duration, bool)) bool {
	for {
		w.mu.Lock()
		delay, held := of(w.faults)
		changed := w.changed
		w.mu.Unlock()
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
func (w *world) note(chunk []byte) {
	lines := strings.Split(string(chunk), "\r\n")
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := 0; i+2 < len(lines); i++ {
		if strings.HasPrefix(lines[i], "*") && strings.HasPrefix(lines[i+1], "$") {
			w.log = append(w.log, strings.ToLower(lines[i+2]))
		}
	}
}

func (w *world) cutNow(reply []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faults.cut == 0 || bytes.HasPrefix(reply, []byte("-NOSCRIPT")) || bytes.HasPrefix(reply, []byte("%")) {
		return false // the handshake, and what did not run
	}
	w.faults.cut--
	return true
}
