package inspect

import (
	"cmp"
	"context"
	"maps"
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
		probes, heard, err := in.around(ctx, n, key)
		if err != nil || len(probes) < 2 && len(heard) == 0 {
			return nil, err
		}
		samples, err := in.dateKeys(ctx, n, probes)
		if err != nil {
			return nil, err
		}
		found, err := in.decode(ctx, n, samples, heard)
		return slices.DeleteFunc(found.locks, func(l Lock) bool { return string(l.Key) != key }), err
	})
}

// around is the key itself and those of its companions, in any family, that
// exist, and what the channels tell on which somebody waits for it.
func (in *Inspector) around(ctx context.Context, n Node, key string) ([]probe, []family.Found, error) {
	mains, err := in.dateKeys(ctx, n, []probe{{key: key}})
	if err != nil {
		return nil, nil, err
	}
	names := map[string]bool{key: true}
	probes := []probe{{key: key}}
	var channels []string
	for _, f := range family.All() {
		found := family.Found{Family: f, Key: key}
		reads := found.Reads(mains[0].Sample)
		channels = append(channels, reads.Channels...)
		for _, k := range reads.Keys {
			if !names[k] {
				names[k] = true
				probes = append(probes, probe{key: k})
			}
		}
	}
	beside, err := in.dateKeys(ctx, n, probes)
	if err != nil {
		return nil, nil, err
	}
	probes = probes[:1]
	for _, sm := range beside[1:] {
		if sm.Type != family.None {
			probes = append(probes, probe{key: sm.Key})
		}
	}
	heard, err := in.heard(ctx, n, key, channels)
	return probes, heard, err
}

// heard is the locks at a key of which channels tell that somebody listens to:
// of a semaphore that is a plain number nothing else does.
func (in *Inspector) heard(ctx context.Context, n Node, key string, channels []string) ([]family.Found, error) {
	subs, err := in.subscribers(ctx, n, channels)
	if err != nil {
		return nil, err
	}
	var ms []family.Match
	for _, ch := range slices.Sorted(maps.Keys(subs.counts)) {
		if subs.counts[ch] > 0 {
			ms = append(ms, family.RecogniseChannel(ch)...)
		}
	}
	return slices.DeleteFunc(family.Group(ms), func(f family.Found) bool { return f.Key != key }), nil
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
