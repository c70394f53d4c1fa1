package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Node is one database of one server that keeps locks: a master.
type Node struct {
	Addr   string
	DB     int
	Client *redis.Client
	// Cluster says that the server publishes per shard too, so that subscribers
	// of sharded channels are counted and woken.
	Cluster bool
	// Another makes one more client of this node, with the same login and the
	// same gate, after change has had its options. Following needs connections of
	// its own. Nil: a plain client of Client's options is made.
	Another func(change func(*redis.Options)) *redis.Client
}

// Inspector reads the locks of some nodes. It keeps no state between calls and
// is safe for concurrent use.
type Inspector struct {
	nodes []Node
	own   []*family.Family
	// peers are the nodes of a Cluster that may be asked for what belongs to a lock,
	// and the addresses of those that do not answer; nil: nodes.
	peers func() (live []Node, silent []string)
}

// New returns an Inspector over nodes; it does not talk to them yet.
func New(nodes ...Node) *Inspector { return &Inspector{nodes: nodes} }

// WithFamilies returns an Inspector that also knows these families, and asks
// them before its own: a user's, from the configuration file.
func (in *Inspector) WithFamilies(own ...*family.Family) *Inspector {
	return &Inspector{nodes: in.nodes, peers: in.peers, own: append(slices.Clone(in.own), own...)}
}

// Families returns every family that is known, a user's own first.
func (in *Inspector) Families() []*family.Family {
	return append(slices.Clone(in.own), family.All()...)
}

// Nodes returns the nodes that are looked at.
func (in *Inspector) Nodes() []Node { return slices.Clone(in.nodes) }

// Look reads the locks at one key of a database: several, where the key is a
// hash with a lock in more than one field; none, where it is no lock. The key
// may also be a companion (a queue, a counter) of a lock. What cannot be read is
// an error, an UnreadError where it is the key alone: never taken for no lock.
func (in *Inspector) Look(ctx context.Context, db int, key string) ([]Lock, error) {
	return in.tryPlaces(ctx, db, key, func(n Node) ([]Lock, error) {
		return in.lookAt(ctx, n, []probe{{key: key}})
	})
}

// tryPlaces looks wherever the key may be until something is found. A node that
// fails is passed over, and its error counts where no other finds anything.
func (in *Inspector) tryPlaces(ctx context.Context, db int, key string, look func(Node) ([]Lock, error)) ([]Lock, error) {
	nodes, err := in.places(ctx, db, key)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, n := range nodes {
		locks, err := look(n)
		if len(locks) > 0 {
			return locks, nil
		}
		failed = cmp.Or(failed, err)
	}
	return nil, failed
}

// lookAt samples keys and decodes every lock among them. The first key is the one
// that was asked for.
func (in *Inspector) lookAt(ctx context.Context, n Node, probes []probe) ([]Lock, error) {
	samples, err := in.dateKeys(ctx, n, probes)
	if err != nil {
		return nil, err
	}
	found, err := in.decode(ctx, n, samples, nil)
	if why := found.unread[probes[0].key]; why != "" && err == nil && len(found.locks) == 0 {
		err = &UnreadError{wire.Raw(probes[0].key), why}
	}
	return found.locks, err
}

// Age is how old a lock's facts are at now.
func (l *Lock) Age(now time.Time) time.Duration { return max(0, now.Sub(l.SampledAt)) }
