package redistest

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy stands between clients and a server and does to their connections
// what networks do. It understands requests and replies (of plain RESP, not of
// TLS), so a fault hits between two of them. Its methods may be called from
// any goroutine at any time.
type Proxy struct {
	Addr string // what clients connect to
	Host string
	Port int

	t      testing.TB
	server string
	listen net.Listener
	done   chan struct{} // closed at the end of the test
	all    sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every change of a fault
	faults  faults
	links   map[*link]bool
	seen    map[string]int
}

// faults is what is done to the connections now.
type faults struct {
	holdRequests, holdReplies   bool
	delayRequests, delayReplies time.Duration
	cut                         int      // replies still to be cut
	cutOnly                     []string // of these commands; empty: of all but handshakes
}

// NewProxy starts a proxy before the server at addr. It ends with the test.
func NewProxy(t testing.TB, addr string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr)
	p := &Proxy{
		Addr: at.String(), Host: "127.0.0.1", Port: at.Port, t: t, server: addr,
		listen: l, done: make(chan struct{}), changed: make(chan struct{}),
		links: map[*link]bool{}, seen: map[string]int{},
	}
	p.all.Go(p.accept)
	t.Cleanup(p.end)
	return p
}

func (p *Proxy) end() {
	close(p.done)
	_ = p.listen.Close() // the test is over
	p.CutAll()
	p.all.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.DialTimeout("tcp", p.server, 5*time.Second)
		if err != nil {
			reset(client)
			continue
		}
		l := &link{proxy: p, client: client, server: server}
		p.mu.Lock()
		p.links[l] = true
		p.mu.Unlock()
		select {
		case <-p.done: // CutAll may have run before the link was known
			l.cut()
		default:
		}
		p.all.Go(l.run)
	}
}

// set changes the faults and wakes whoever waits for a change.
func (p *Proxy) set(change func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.faults)
	close(p.changed)
	p.changed = make(chan struct{})
}

// CutReply lets the next n requests reach the server and closes the
// connection instead of answering them: the client cannot know whether they
// ran. With commands, only requests of these names are meant ("EVALSHA"); else
// all but those that open a connection (HELLO, AUTH, SELECT, CLIENT).
func (p *Proxy) CutReply(n int, commands ...string) {
	p.set(func(f *faults) { f.cut, f.cutOnly = n, commands })
}

// HoldReplies keeps what the server answers until ReleaseReplies or Heal.
// Requests still reach it.
func (p *Proxy) HoldReplies() { p.set(func(f *faults) { f.holdReplies = true }) }

// ReleaseReplies hands out the held replies and holds no more.
func (p *Proxy) ReleaseReplies() { p.set(func(f *faults) { f.holdReplies = false }) }

// HoldRequests keeps what clients send until DeliverRequests or Heal, also of
// clients that gave up and closed their connection meanwhile: these requests
// reach the server late, as a delayed packet does.
func (p *Proxy) HoldRequests() { p.set(func(f *faults) { f.holdRequests = true }) }

// DeliverRequests hands the held requests to the server and holds no more.
func (p *Proxy) DeliverRequests() { p.set(func(f *faults) { f.holdRequests = false }) }

// DelayRequests makes every request that arrives from now on so much later.
func (p *Proxy) DelayRequests(d time.Duration) { p.set(func(f *faults) { f.delayRequests = d }) }

// DelayReplies makes every reply that arrives from now on so much later.
func (p *Proxy) DelayReplies(d time.Duration) { p.set(func(f *faults) { f.delayReplies = d }) }

// BlackHole lets nothing pass in either direction; connections stay open and
// new ones are taken. As on a network, what was sent arrives after Heal.
func (p *Proxy) BlackHole() {
	p.set(func(f *faults) { f.holdRequests, f.holdReplies = true, true })
}

// Heal ends every fault.
func (p *Proxy) Heal() { p.set(func(f *faults) { *f = faults{} }) }

// CutAll resets all present connections. New ones are taken.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

// Seen is how many requests of a command ("EVALSHA") came from clients so far.
func (p *Proxy) Seen(command string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[strings.ToUpper(command)]
}

// Connections is how many connections are open now.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// note counts a request and says whether its reply is to be cut.
func (p *Proxy) note(words []string) (cut bool) {
	if len(words) == 0 {
		return false
	}
	name := strings.ToUpper(words[0])
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[name]++
	if p.faults.cut == 0 || !p.faults.hits(name) {
		return false
	}
	p.faults.cut--
	return true
}

func (f *faults) hits(name string) bool {
	if len(f.cutOnly) == 0 {
		return !slices.Contains([]string{"HELLO", "AUTH", "SELECT", "CLIENT"}, name)
	}
	return slices.ContainsFunc(f.cutOnly, func(c string) bool { return strings.EqualFold(c, name) })
}

func (p *Proxy) now() (faults, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults, p.changed
}

func (p *Proxy) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // makes Close send RST
	}
	_ = conn.Close() // whoever reads from it learns
}
