package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// shim answers what miniredis does not know and clients ask: who is connected,
// what server this is, how it is configured. An interactive redis-cli 7 crashes
// without it, because miniredis answers COMMAND DOCS with a table of another
// form.
type shim struct {
	m       *miniredis.Miniredis
	started time.Time

	mu      sync.Mutex
	nextID  int
	clients map[*server.Peer]*client
}

// client is what is known of a connection that has introduced itself.
type client struct {
	id      int
	name    string
	libName string
	libVer  string
	since   time.Time
	last    time.Time
	cmd     string
	resp3   bool
}

func newShim(m *miniredis.Miniredis) *shim {
	return &shim{m: m, started: time.Now(), clients: map[*server.Peer]*client{}}
}

// hook sees every command before miniredis does; true means it was answered.
// Commands inside a script come here too, and then miniredis is locked: nothing
// below may wait for that lock.
func (s *shim) hook(p *server.Peer, cmd string, args ...string) bool {
	s.touch(p, cmd)
	switch cmd {
	case "HELLO":
		s.hello(p, args)
		return false
	case "CLIENT":
		return len(args) > 0 && s.client(p, strings.ToUpper(args[0]), args[1:])
	case "COMMAND":
		return s.command(p, args)
	case "INFO":
		p.WriteBulk(s.info(args))
	case "CONFIG":
		s.config(p, args)
	case "ROLE":
		p.Block(func(w *server.Writer) {
			w.WriteLen(3)
			w.WriteBulk("master")
			w.WriteInt(0)
			w.WriteLen(0)
		})
	case "ACL":
		if len(args) != 1 || !strings.EqualFold(args[0], "WHOAMI") {
			p.WriteError("ERR the sandbox has no ACL, only the user default")
			return true
		}
		p.WriteBulk("default")
	default:
		return false
	}
	return true
}

// touch notes the last command of a known client.
func (s *shim) touch(p *server.Peer, cmd string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[p]; c != nil {
		c.cmd, c.last = strings.ToLower(cmd), time.Now()
	}
}

// know registers a connection. Only commands that clients send of themselves
// call it, because the commands of a script have a peer each.
func (s *shim) know(p *server.Peer) *client {
	if c := s.clients[p]; c != nil {
		return c
	}
	s.nextID++
	now := time.Now()
	c := &client{id: s.nextID, since: now, last: now}
	s.clients[p] = c
	p.OnDisconnect(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.clients, p)
	})
	return c
}

func (s *shim) hello(p *server.Peer, args []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.know(p)
	c.cmd = "hello"
	c.resp3 = len(args) > 0 && args[0] == "3"
	if i := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "SETNAME") }); i >= 0 && i+1 < len(args) {
		c.name = args[i+1]
	}
}

// client answers CLIENT; what it does not know is left to miniredis.
func (s *shim) client(p *server.Peer, sub string, args []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.know(p)
	switch sub {
	case "ID":
		p.WriteInt(c.id)
	case "INFO":
		p.WriteBulk(c.line(time.Now()))
	case "LIST":
		p.WriteBulk(s.list())
	case "SETNAME":
		if len(args) != 1 || strings.ContainsAny(args[0], " \n") {
			return false
		}
		c.name = args[0]
		p.WriteOK()
	case "GETNAME":
		p.WriteBulk(c.name)
	case "SETINFO":
		if len(args) == 2 && strings.EqualFold(args[0], "lib-name") {
			c.libName = args[1]
		} else if len(args) == 2 {
			c.libVer = args[1]
		}
		p.WriteOK()
	case "NO-TOUCH", "NO-EVICT":
		p.WriteOK()
	default:
		return false
	}
	return true
}

func (s *shim) list() string {
	all := make([]*client, 0, len(s.clients))
	for _, c := range s.clients {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *client) int { return a.id - b.id })
	var b strings.Builder
	now := time.Now()
	for _, c := range all {
		b.WriteString(c.line(now))
	}
	return b.String()
}

func (c *client) line(now time.Time) string {
	resp := 2
	if c.resp3 {
		resp = 3
	}
	return fmt.Sprintf("id=%d addr=sandbox laddr=sandbox fd=0 name=%s age=%d idle=%d flags=N db=0 sub=0 psub=0 ssub=0 "+
		"multi=-1 cmd=%s user=default redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		c.id, c.name, int(now.Sub(c.since).Seconds()), int(now.Sub(c.last).Seconds()), c.cmd, resp, c.libName, c.libVer)
}

// command answers COMMAND's newer forms with an error, which redis-cli takes
// for an old server.
func (s *shim) command(p *server.Peer, args []string) bool {
	if len(args) == 0 {
		return false
	}
	p.WriteError("ERR the sandbox knows COMMAND without arguments only")
	return true
}

// settings are what CONFIG GET answers, as Redis has them without a file.
func settings() [][2]string {
	return [][2]string{
		{"appendonly", "no"}, {"databases", "16"}, {"lfu-decay-time", "1"}, {"maxclients", "10000"},
		{"maxmemory", "0"}, {"maxmemory-policy", "noeviction"}, {"min-replicas-to-write", "0"},
		{"notify-keyspace-events", ""}, {"proto-max-bulk-len", "536870912"}, {"save", ""}, {"timeout", "0"},
	}
}

func (s *shim) config(p *server.Peer, args []string) {
	if len(args) < 2 || !strings.EqualFold(args[0], "GET") {
		p.WriteError("ERR the sandbox cannot be configured; it answers CONFIG GET only")
		return
	}
	var found [][2]string
	for _, kv := range settings() {
		for _, pattern := range args[1:] {
			if ok, err := path.Match(strings.ToLower(pattern), kv[0]); ok && err == nil {
				found = append(found, kv)
				break
			}
		}
	}
	p.Block(func(w *server.Writer) {
		w.WriteMapLen(len(found))
		for _, kv := range found {
			w.WriteBulk(kv[0])
			w.WriteBulk(kv[1])
		}
	})
}
