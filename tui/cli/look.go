package cli

import (
	"context"
	"slices"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/target"
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
	case o.deep && o.names:
		return q, usagef("--deep and --names exclude each other")
	case o.deep:
		q.Depth = inspect.Deep
	case o.names:
		q.Depth = inspect.ByName
	}
	for _, id := range o.family {
		if err := knownFamily(id); err != nil {
			return q, err
		}
	}
	return q, nil
}

func knownFamily(id string) error {
	if family.ByID(id) != nil {
		return nil
	}
	var ids []string
	for _, f := range family.All() {
		ids = append(ids, f.ID)
	}
	if near := config.Closest(id, ids); near != "" {
		return usagef("there is no such family; is %s meant?", near)
	}
	return usagef("there is no such family; list --json shows each lock's, as redisson or redsync")
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
		nodes = append(nodes, inspect.Node{Addr: own.Addr, DB: db, Client: c})
	}
	return nodes, closing, nil
}

var errNoKeyspace = &target.ConnectError{
	Text: "--all-dbs has to know which databases have keys, and the server does not say (no permission: INFO)",
	Hint: "name one with -n",
}

// wanted reports whether a lock passes the selectors that only its reading can
// answer.
func (inv *invocation) wanted(l *inspect.Lock, now time.Time) bool {
	if inv.opts.noExpiry && !l.Persistent {
		return false
	}
	if d := inv.opts.heldLongerThan; d > 0 {
		return slices.ContainsFunc(l.Holders, func(h family.Holder) bool {
			return !h.Since.IsZero() && now.Sub(h.Since) > d
		})
	}
	return true
}
