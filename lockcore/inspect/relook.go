package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Refresh reads again the keys of locks that are known, and returns the locks
// that are there now. A lock that is not among them is gone from its key, unless
// its node is among those that err names: the others' locks are true all the same.
func (in *Inspector) Refresh(ctx context.Context, known []Lock) ([]Lock, error) {
	var out []Lock
	var failed []error
	for _, n := range in.nodes {
		locks, err := in.refreshNode(ctx, n, known)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", n.Addr, err))
		}
		out = append(out, locks...)
	}
	return out, errors.Join(failed...)
}

// refreshBatch is how many keys go into one round trip.
const refreshBatch = 200

// refreshNode is Refresh of one node. A key that cannot be read is an error.
func (in *Inspector) refreshNode(ctx context.Context, n Node, known []Lock) ([]Lock, error) {
	var probes []probe
	var founds []family.Found
	seen := map[string]int{}
	for i := range known {
		l := &known[i]
		if l.Node != n.Addr || l.DB != n.DB {
			continue
		}
		if l.source != nil {
			founds = append(founds, l.found)
		}
		at, ok := seen[string(l.Key)]
		if !ok {
			at = len(probes)
			seen[string(l.Key)] = at
			probes = append(probes, l.probe())
		} else if l.HasField {
			probes[at].fields = append(probes[at].fields, string(l.Field))
		}
	}
	var out []Lock
	for chunk := range slices.Chunk(probes, refreshBatch) {
		found, err := in.relook(ctx, n, chunk, founds)
		if err != nil {
			return nil, err
		}
		for key, why := range found.unread {
			return nil, &UnreadError{wire.Raw(key), why}
		}
		out = append(out, found.locks...)
	}
	return out, nil
}

// probe is how to read a known lock again: its type is taken for granted, and
// of a large hash only the field that is the lock is read.
func (l *Lock) probe() probe {
	p := probe{key: string(l.Key), kind: l.Type}
	if l.Type == family.None {
		p.kind = ""
	}
	if l.source == nil {
		p.kind = ""
		return p
	}
	if m := l.facts.Main; l.HasField && !m.Whole {
		p.big, p.fields = true, []string{string(l.Field)}
	}
	return p
}

// relook samples known keys and decodes what is there now. Another type than
// before, or nothing, may be another library's lock, or only a queue that is left.
func (in *Inspector) relook(ctx context.Context, n Node, probes []probe, known []family.Found) (looked, error) {
	samples, err := in.dateKeys(ctx, n, probes)
	if err != nil {
		return looked{}, err
	}
	at := make(map[string]*dated, len(samples))
	for i := range samples {
		at[samples[i].Key] = &samples[i]
	}
	left := slices.DeleteFunc(slices.Clone(known), func(f family.Found) bool {
		sm := at[f.Key]
		// What only a companion had told of (a semaphore that is a plain number)
		// cannot be recognised by its main key alone.
		return sm == nil || !sm.known() || sm.Type != family.None && !f.Claim.Companion
	})
	found, err := in.decode(ctx, n, samples, left)
	found.outlived(samples)
	return found, err
}
