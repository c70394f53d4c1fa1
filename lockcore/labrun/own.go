package labrun

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"fencepost/lockcore/wire"
)

// ErrNoServer says that there is no redis-server to start.
var ErrNoServer = errors.New("labrun: redis-server is not on PATH, so the lab cannot start servers of its own; without --own-servers the story plays in the sandbox")

// Own is a Port over servers that the lab starts itself, one for each node, on
// free loopback ports, without persistence. It is a scenario.Servers too: it
// stops them, fills them, and promotes a replica. Close ends them all.
type Own struct {
	*Port
	binary string
	dir    string
	nodes  map[string]*process
}

// process is one redis-server.
type process struct {
	cmd    *exec.Cmd
	addr   string
	port   int
	client *redis.Client
	down   bool
}

// NewOwn returns a port on servers that start at the first command for them.
func NewOwn(l Lengths, timeout time.Duration) (*Own, error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNoServer
	}
	sweep()
	dir, err := os.MkdirTemp("", dirName)
	if err != nil {
		return nil, fmt.Errorf("labrun: %w", err)
	}
	logging.Disable() // it writes to standard error that a server is down, which is the story
	o := &Own{binary: binary, dir: dir, nodes: make(map[string]*process)}
	o.Port = newPort(o.client, l, timeout)
	return o, nil
}

// dirName begins the names of the directories in which servers of the lab run,
// and no story takes as long as dirLife.
const (
	dirName = "fencepost-lab-"
	dirLife = time.Hour
)

// sweep removes the directories of labs that were killed: their servers went
// with them, but nobody was left to tidy up.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), dirName+"*")) // the pattern is sound
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > dirLife {
			_ = os.RemoveAll(dir) // another user's stay
		}
	}
}

// Close ends all servers and removes what they kept.
func (o *Own) Close() error {
	for _, p := range o.nodes {
		p.end()
	}
	return os.RemoveAll(o.dir)
}

func (o *Own) client(node string) (redis.UniversalClient, error) {
	if node == "closed" {
		return nil, knockOnClosed()
	}
	p := o.nodes[node]
	if p == nil {
		var err error
		if p, err = o.start(node, 0); err != nil {
			return nil, err
		}
		o.nodes[node] = p
	}
	if p.down {
		return nil, errors.New("connection refused")
	}
	return p.client, nil
}

// start starts a server; port 0 picks a free one. Another program may take the
// port in between, so it tries again with another.
func (o *Own) start(node string, port int) (*process, error) {
	var err error
	for range 5 {
		var p *process
		if p, err = o.startOnce(node, port); err == nil {
			return p, nil
		}
	}
	return nil, err
}

func (o *Own) startOnce(node string, port int) (*process, error) {
	if port == 0 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("labrun: %w", err)
		}
		port = ln.Addr().(*net.TCPAddr).Port
		if err := ln.Close(); err != nil {
			return nil, fmt.Errorf("labrun: %w", err)
		}
	}
	dir, err := os.MkdirTemp(o.dir, node+"-") // a server loads what lies in its directory
	if err != nil {
		return nil, fmt.Errorf("labrun: %w", err)
	}
	cmd := exec.Command(o.binary, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", dir, "--logfile", filepath.Join(dir, "log"), "--repl-diskless-sync-delay", "0", "--databases", "1")
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("labrun: %w", err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p := &process{cmd: cmd, addr: addr, port: port, client: redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled: true, DisableIdentity: true, PoolSize: 16,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for {
		if err = p.client.Ping(ctx).Err(); err == nil {
			return p, nil
		}
		if pause(ctx, 10*time.Millisecond) != nil {
			p.end()
			return nil, fmt.Errorf("labrun: redis-server on %s does not answer: %w", addr, err)
		}
	}
}

// end ends the process, and waits for it.
func (p *process) end() {
	if p.down {
		return
	}
	p.down = true
	_ = p.client.Close()        // the server goes with it
	_ = p.cmd.Process.Kill()    // it keeps nothing
	_, _ = p.cmd.Process.Wait() // killed on purpose
}

// Stop ends a server.
func (o *Own) Stop(_ context.Context, node string) error {
	if p := o.nodes[node]; p != nil {
		p.end()
	}
	for id, l := range o.leases {
		if l.node == node {
			delete(o.leases, id)
		}
	}
	return nil
}

// Start brings it back at its port, empty.
func (o *Own) Start(_ context.Context, node string) error {
	old := o.nodes[node]
	if old == nil {
		return nil
	}
	p, err := o.start(node, old.port)
	if err == nil {
		o.nodes[node] = p
	}
	return err
}

// Detach starts a replica of the lock's server, waits until it has everything,
// and cuts it off. It keeps what it has.
func (o *Own) Detach(ctx context.Context) error {
	primary, err := o.client("redis")
	if err != nil {
		return err
	}
	if err := primary.Ping(ctx).Err(); err != nil {
		return plainError(err)
	}
	p, err := o.start("replica", 0)
	if err != nil {
		return err
	}
	o.nodes["replica"] = p
	if err := p.client.ReplicaOf(ctx, "127.0.0.1", strconv.Itoa(o.nodes["redis"].port)).Err(); err != nil {
		return fmt.Errorf("labrun: %w", err)
	}
	for range 500 {
		info, err := p.client.Info(ctx, "replication").Result()
		if err != nil {
			return fmt.Errorf("labrun: %w", err)
		}
		if strings.Contains(info, "master_link_status:up") {
			return p.client.ReplicaOf(ctx, "127.0.0.1", "1").Err()
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("labrun: the replica did not get what the primary has")
}

// Promote makes the replica the lock's server; the old one ends.
func (o *Own) Promote(ctx context.Context) error {
	p := o.nodes["replica"]
	if p == nil {
		return errors.New("labrun: there is no replica to promote")
	}
	if err := p.client.ReplicaOf(ctx, "NO", "ONE").Err(); err != nil {
		return fmt.Errorf("labrun: %w", err)
	}
	if err := o.Stop(ctx, "redis"); err != nil {
		return err
	}
	o.nodes["redis"] = p
	delete(o.nodes, "replica")
	return nil
}

// fillKeys is how many cache keys of half a kilobyte are written at most into
// the few megabytes that Fill leaves free.
const fillKeys = 20_000

// Fill gives the lock's server little memory and an eviction policy, and fills
// it with cache keys until key is thrown out, or nothing more fits.
func (o *Own) Fill(ctx context.Context, policy, key string) (bool, error) {
	client, err := o.client("redis")
	if err != nil {
		return false, err
	}
	if err := o.warmUp(ctx, client, key); err != nil {
		return false, err
	}
	for name, value := range map[string]string{"maxmemory": "3mb", "maxmemory-policy": policy, "maxmemory-samples": "64"} {
		if err := client.ConfigSet(ctx, name, value).Err(); err != nil {
			return false, fmt.Errorf("labrun: %w", err)
		}
	}
	page := strings.Repeat("x", 512)
	for n := range fillKeys {
		err := client.Set(ctx, o.prefix+"c:"+strconv.Itoa(n), page, time.Hour).Err()
		if err != nil && strings.HasPrefix(err.Error(), "OOM") {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("labrun: %w", err)
		}
		if n%50 == 49 {
			there, err := client.Exists(ctx, key).Result()
			if err != nil || there == 0 {
				return err == nil, err
			}
		}
	}
	return false, errors.New("labrun: the memory does not fill")
}

// warmUp lets key grow old and uses all others: an LRU policy throws out what
// was not used for longest, and counts in seconds.
func (o *Own) warmUp(ctx context.Context, client redis.UniversalClient, key string) error {
	if err := pause(ctx, 2100*time.Millisecond); err != nil {
		return err
	}
	for other := range o.touched {
		if other != key {
			if err := client.Touch(ctx, other).Err(); err != nil {
				return fmt.Errorf("labrun: %w", err)
			}
		}
	}
	return nil
}

// Shift does to every lease what a jump of the clock does: nobody moves the
// clock of this machine, so the moments at which keys expire are moved instead.
func (o *Own) Shift(ctx context.Context, by time.Duration) error {
	for id, l := range o.leases {
		if l.node != "redis" {
			continue
		}
		left := l.virtual - o.now - by
		if left <= 0 {
			delete(o.leases, id)
			if _, err := o.Do(ctx, l.node, wire.Command("DEL", l.key)); err != nil {
				return err
			}
			continue
		}
		ms := strconv.FormatInt(o.Short(left).Milliseconds(), 10)
		if _, err := o.Do(ctx, l.node, wire.Command("PEXPIRE", l.key, ms)); err != nil {
			return err
		}
	}
	return nil
}

// Emulated reports whether these servers only play the part: their clock is
// this machine's, and stays.
func (o *Own) Emulated(what string) bool { return what == "clock" }
