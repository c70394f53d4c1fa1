package cli

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/target"
	"fencepost/lockcore/wire"
	"fencepost/tui/config"
)

// query is what the flags say to look for. A profile's patterns are among them
// only after the target was opened.
func (inv *invocation) query() (inspect.Query, error) {
	o := inv.opts
	q := inspect.Query{Match: o.match, Families: o.family, Possible: o.possible, Count: o.scanCount, Rate: -1}
	if inv.given["scan-rate"] {
		q.Rate = o.scanRate
	}
	switch {
	case slices.Contains(o.match, ""):
		return q, usagef("--match '' is the pattern of a key without a name; leave it out to look at every key")
	case o.deep && o.names:
		return q, usagef("--deep and --names exclude each other")
	case o.deep:
		q.Depth = inspect.Deep
	case o.names:
		q.Depth = inspect.ByName
	}
	if len(o.family) == 0 {
		return q, nil
	}
	own, err := inv.ownFamilies()
	if err != nil {
		return q, err
	}
	for _, id := range o.family {
		if err := knownFamily(id, own); err != nil {
			return q, err
		}
	}
	return q, nil
}

// ownFamilies are those that the configuration file describes.
func (inv *invocation) ownFamilies() ([]*family.Family, error) {
	c, err := inv.loadConfig()
	if err != nil {
		return nil, err
	}
	var own []*family.Family
	for _, f := range c.Families {
		made, err := family.Custom(f.Name, f.Key, f.Value)
		if err != nil {
			return nil, usagef("%s: %s", wire.Clean(inv.paths().Config), wire.Clean(err.Error()))
		}
		own = append(own, made)
	}
	return own, nil
}

func knownFamily(id string, own []*family.Family) error {
	var ids []string
	for _, f := range append(own, family.All()...) {
		if f.ID == id {
			return nil
		}
		ids = append(ids, f.ID)
	}
	if near := config.Closest(id, ids); near != "" {
		return usagef("there is no such family; is %s meant?", near)
	}
	return usagef("there is no such family; list --json shows each lock's, as redisson or redsync")
}

// inspector looks at the target with all the families that are known here, the
// user's own among them. closing ends the connections that it made.
func (inv *invocation) inspector(ctx context.Context, t *target.Target) (in *inspect.Inspector, closing func(), err error) {
	own, err := inv.ownFamilies()
	if err != nil {
		return nil, nil, err
	}
	nodes, closing, err := inv.nodes(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	return inspect.New(nodes...).WithFamilies(own...), closing, nil
}

// nodes are the databases to look at: one of each master, or with --all-dbs
// every database that has keys. closing ends the connections that were made
// for those besides the target's own.
func (inv *invocation) nodes(ctx context.Context, t *target.Target) (nodes []inspect.Node, closing func(), err error) {
	masters, err := t.Masters(ctx)
	if err != nil {
		return nil, nil, err
	}
	closing = func() {}
	for _, m := range masters {
		nodes = append(nodes, inspect.Node{
			Addr: m.Addr, DB: m.Client.Options().DB, Client: m.Client, Cluster: t.Info.Mode == target.Cluster,
			Another: another(t, m.Client),
		})
	}
	if !inv.opts.allDBs || t.Info.Mode == target.Cluster {
		return nodes, closing, nil
	}
	if t.Info.Fields == nil {
		return nil, nil, errNoKeyspace
	}
	own := nodes[0]
	for _, db := range t.Info.OtherDBs(own.DB) {
		c := t.ForDB(db)
		before := closing
		closing = func() { _ = c.Close(); before() }
		nodes = append(nodes, inspect.Node{Addr: own.Addr, DB: db, Client: c, Another: another(t, c)})
	}
	return nodes, closing, nil
}

// another makes further clients of the node that c talks to.
func another(t *target.Target, c *redis.Client) func(func(*redis.Options)) *redis.Client {
	return func(change func(*redis.Options)) *redis.Client { return t.Another(c, change) }
}

var errNoKeyspace = &target.ConnectError{
	Text: "--all-dbs has to know which databases have keys, and the server does not say (no permission: INFO)",
	Hint: "name one with -n",
}

// wanted reports whether a lock passes the selectors that only its reading can
// answer.
func (inv *invocation) wanted(l *inspect.Lock, now time.Time) bool {
	if inv.opts.noExpiry && (!l.Endless() || l.State == family.Free) { // where nobody holds it, nothing is to end
		return false
	}
	if d := inv.opts.heldLongerThan; d > 0 {
		return slices.ContainsFunc(l.Holders, func(h family.Holder) bool {
			return !h.Since.IsZero() && now.Sub(h.Since) > d
		})
	}
	return true
}
