package inspect

import (
	"context"
	"slices"

	"fencepost/lockcore/inspect/family"
)

// LookKey is Look for a key that somebody named. Where nothing at the key itself
// is a lock, what families keep beside a lock of this name is looked for too: a
// queue that outlived its lock, the permits of a semaphore that is a plain number.
func (in *Inspector) LookKey(ctx context.Context, db int, key string) ([]Lock, error) {
	locks, err := in.Look(ctx, db, key)
	if err != nil || len(locks) > 0 {
		return locks, err
	}
	for _, n := range in.nodes {
		if n.DB != db {
			continue
		}
		probes, err := in.around(ctx, n, key)
		if err != nil || len(probes) < 2 {
			return nil, err
		}
		found, err := in.lookAt(ctx, n, probes)
		if err != nil {
			return nil, err
		}
		for _, l := range found {
			if string(l.Key) == key {
				locks = append(locks, l)
			}
		}
		if len(locks) > 0 {
			return locks, nil
		}
	}
	return nil, nil
}

// around is the key itself and those of its companions, in any family, that exist.
func (in *Inspector) around(ctx context.Context, n Node, key string) ([]probe, error) {
	mains, err := dateKeys(ctx, n, []probe{{key: key}})
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, f := range family.All() {
		found := family.Found{Family: f, Key: key}
		for _, k := range found.Reads(mains[0].Sample).Keys {
			if k != key && !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	b := newBatch(ctx, n.Client)
	for _, k := range keys {
		b.do("type", k)
	}
	if err := b.exec(); err != nil {
		return nil, err
	}
	probes := []probe{{key: key}}
	for i, cmd := range b.cmds {
		if kind, err := cmd.Text(); err == nil && kind != string(family.None) {
			probes = append(probes, probe{key: keys[i], kind: family.Type(kind)})
		}
	}
	return probes, nil
}

// Explain reads one key and says of every family why it does or does not claim
// it, those that do first. The sample is what they were shown.
func (in *Inspector) Explain(ctx context.Context, db int, key string) (*family.Sample, []family.Verdict, error) {
	for _, n := range in.nodes {
		if n.DB != db {
			continue
		}
		mains, err := dateKeys(ctx, n, []probe{{key: key, idle: true}})
		if err != nil {
			return nil, nil, err
		}
		if mains[0].Type != family.None {
			return mains[0].Sample, family.Explain(mains[0].Sample, in.own...), nil
		}
	}
	return &family.Sample{Key: key, Type: family.None, PTTL: family.Gone}, nil, nil
}
