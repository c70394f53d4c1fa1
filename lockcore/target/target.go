package target

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"fencepost/lockcore/wire"
)

// Target is a connected server, Cluster, or master behind Sentinels.
type Target struct {
	// Client never sends a command again by itself, and gives up on each after
	// Options.Timeout, or earlier where the context says so.
	Client redis.UniversalClient
	Info   ServerInfo
	// Warnings are things that the operator should know though they are no
	// errors, each a sentence.
	Warnings []string

	place  *place
	master *atomic.Value // string: the master dialled last, behind Sentinels
}

// Node is one master and a client of it. The client belongs to the Target.
type Node struct {
	Addr   string
	Client *redis.Client
}

// Open connects and learns what the server permits to learn. Its errors are
// *UsageError and *ConnectError; neither holds a secret. ctx bounds all of it,
// Options.Timeout each step.
func Open(ctx context.Context, o Options) (*Target, error) {
	logging.Disable() // it writes to standard error, over the screen
	p, err := resolve(o)
	if err != nil {
		return nil, err
	}
	t := &Target{place: p, master: &atomic.Value{}}
	if err := t.open(ctx, o); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Target) open(ctx context.Context, o Options) error {
	addr, note, local, err := t.reach(ctx)
	if err != nil {
		return err
	}
	t.Info = ServerInfo{Addr: addr, Mode: Single, Env: o.Env, Local: local, ReadOnly: o.ReadOnly, Nodes: 1}
	client := t.hooked(redis.NewClient(t.options(addr)))
	if err := t.Info.learn(ctx, client, t.place); err != nil {
		_ = client.Close() // the error says more
		return err
	}
	t.Client = client
	if err := t.settle(ctx, client); err != nil {
		_ = t.Client.Close() // the error says more
		return err
	}
	t.warn(o, note)
	return nil
}

// reach finds an address that answers: of one server, of the seeds, or the
// master that the Sentinels name.
func (t *Target) reach(ctx context.Context) (addr, note string, local bool, err error) {
	if t.place.master != "" {
		if addr, err = t.place.askSentinels(ctx); err != nil {
			return "", "", false, err
		}
		t.master.Store(addr)
		note, local, err = t.place.knock(ctx, addr, t.place.login)
		var ce *ConnectError
		if errors.As(err, &ce) && !ce.Auth && ce.Hint == "" {
			ce.Hint = "the address is the one that the Sentinels give out"
		}
		return addr, note, local, err
	}
	var first error
	for _, a := range t.place.addrs {
		if note, local, err = t.place.knock(ctx, a, t.place.login); err == nil {
			return a, note, local, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", "", false, first
}

// settle replaces the client by one of the whole Cluster, where there is one.
func (t *Target) settle(ctx context.Context, client *redis.Client) error {
	in := &t.Info
	switch {
	case in.kind == kindSentinel:
		return t.place.notAServer(ctx, in.Addr)
	case t.place.master != "":
		in.Mode = Sentinel
		_ = client.Close() // it only learnt
		t.Client = t.failover()
		return nil
	case in.kind != kindCluster && t.place.cluster:
		return &ConnectError{Addr: in.Addr, Text: "this is not a Cluster", Hint: "leave out --cluster"}
	case in.kind != kindCluster && len(t.place.addrs) > 1:
		return &ConnectError{Addr: in.Addr, Text: "this is a single server, and --addr names the nodes of a Cluster or Sentinels", Hint: "use -h and -p, or add --sentinel-master NAME"}
	case in.kind != kindCluster:
		return nil
	case t.place.db != 0:
		return &ConnectError{Addr: in.Addr, Text: "this is a Cluster, which has only database 0", Hint: "leave out -n"}
	}
	in.Mode = Cluster
	in.learnSize(ctx, client, t.place.timeout)
	if t.place.single {
		return nil
	}
	_ = client.Close() // it only learnt
	t.Client = t.cluster(in.Addr)
	in.Role = Master // it asks the masters, whatever the node is that it learnt from
	return nil
}

func (t *Target) warn(o Options, note string) {
	if note != "" {
		t.Warnings = append(t.Warnings, note)
	}
	if o.Insecure {
		t.Warnings = append(t.Warnings, "--insecure: the server's certificate is not checked; anybody between could read and change everything")
	}
	if t.Info.Role == Replica {
		t.Warnings = append(t.Warnings, "this is a replica: what it shows may be behind its master, and it takes no changes")
	}
	if w := fileWarning(o.PasswordFile); w != "" {
		t.Warnings = append(t.Warnings, w)
	}
}

// Close ends all connections.
func (t *Target) Close() error { return t.Client.Close() }

// Addr is the server's address; behind Sentinels that of the master which was
// dialled last, so it changes with a failover.
func (t *Target) Addr() string {
	if a, ok := t.master.Load().(string); ok {
		return a
	}
	return t.Info.Addr
}

// Guarded reports whether the target is to be handled as production: its
// environment says so, or it says nothing and is not on this machine.
func (t *Target) Guarded() bool { return t.Info.Guarded() }

// Masters returns a client for each master, ordered by address. A single
// server counts as one, whatever its role.
func (t *Target) Masters(ctx context.Context) ([]Node, error) {
	switch c := t.Client.(type) {
	case *redis.ClusterClient:
		ctx, cancel := context.WithTimeout(ctx, t.place.timeout)
		defer cancel()
		var mu sync.Mutex
		var nodes []Node
		err := c.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			nodes = append(nodes, Node{Addr: wire.Clean(node.Options().Addr), Client: node})
			return nil
		})
		slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.Addr, b.Addr) })
		return nodes, at(t.Info.Addr, wrap(err))
	case *redis.Client:
		return []Node{{Addr: t.Addr(), Client: c}}, nil
	}
	return nil, errors.New("target: a client of unknown kind")
}
