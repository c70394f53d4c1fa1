package inspect

import (
	"cmp"
	"context"
	"slices"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// LookKey is Look for a key that somebody named. Where nothing at the key itself
// is a lock, what families keep beside a lock of this name is looked for too: a
// queue that outlived its lock, the permits of a semaphore that is a plain number.
func (in *Inspector) LookKey(ctx context.Context, db int, key string) ([]Lock, error) {
	locks, err := in.Look(ctx, db, key)
	if err != nil || len(locks) > 0 {
		return locks, err
	}
	return in.tryPlaces(ctx, db, key, func(n Node) ([]Lock, error) {
		probes, err := in.around(ctx, n, key)
		if err != nil || len(probes) < 2 {
			return nil, err
		}
		found, err := in.lookAt(ctx, n, probes)
		return slices.DeleteFunc(found, func(l Lock) bool { return string(l.Key) != key }), err
	})
}

// around is the key itself and those of its companions, in any family, that exist.
func (in *Inspector) around(ctx context.Context, n Node, key string) ([]probe, error) {
	mains, err := in.dateKeys(ctx, n, []probe{{key: key}})
	if err != nil {
		return nil, err
	}
	names := map[string]bool{key: true}
	probes := []probe{{key: key}}
	for _, f := range family.All() {
		found := family.Found{Family: f, Key: key}
		for _, k := range found.Reads(mains[0].Sample).Keys {
			if !names[k] {
				names[k] = true
				probes = append(probes, probe{key: k})
			}
		}
	}
	beside, err := in.dateKeys(ctx, n, probes)
	if err != nil {
		return nil, err
	}
	probes = probes[:1]
	for _, sm := range beside[1:] {
		if sm.Type != family.None {
			probes = append(probes, probe{key: sm.Key})
		}
	}
	return probes, nil
}

// Explain reads one key and says of every family why it does or does not claim
// it, those that do first. The sample is what they were shown.
func (in *Inspector) Explain(ctx context.Context, db int, key string) (*family.Sample, []family.Verdict, error) {
	nodes, err := in.places(ctx, db, key)
	var failed error
	for _, n := range nodes {
		mains, err := in.dateKeys(ctx, n, []probe{{key: key, idle: true}})
		switch {
		case err != nil:
			failed = cmp.Or(failed, err)
		case mains[0].Type != family.None:
			return mains[0].Sample, family.Explain(mains[0].Sample, in.own...), nil
		case mains[0].refused != "":
			failed = cmp.Or(failed, error(&UnreadError{wire.Raw(key), mains[0].refused}))
		}
	}
	return &family.Sample{Key: key, Type: family.None, PTTL: family.Gone}, nil, cmp.Or(err, failed)
}
