package inspect

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// scanBatch is how many keys a scan reads in one round trip: a server answers
// them in well under a millisecond, and nobody waits longer than that.
const scanBatch = 250

// look returns the locks among some keys that are new.
func (n *nodeWalk) look(ctx context.Context, keys []string) ([]Lock, error) {
	return n.read(ctx, n.candidates(keys))
}

// candidates are the keys that are worth reading.
func (n *nodeWalk) candidates(keys []string) (out []probe) {
	for _, k := range keys {
		if p, ok := n.candidate(k); ok {
			out = append(out, p)
		}
	}
	return out
}

// read returns the locks among the candidates that are new. At full speed two
// batches are under way at once, so that the server has work while an answer is
// read.
func (n *nodeWalk) read(ctx context.Context, probes []probe) ([]Lock, error) {
	chunks := slices.Collect(slices.Chunk(probes, scanBatch))
	worth := make([][]dated, len(chunks))
	errs := make([]error, len(chunks))
	var all sync.WaitGroup
	lanes := make(chan struct{}, n.lanes())
	for i, chunk := range chunks {
		lanes <- struct{}{}
		all.Go(func() {
			defer func() { <-lanes }()
			defer n.w.catch()
			worth[i], errs[i] = n.chunk(ctx, chunk)
		})
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return n.proper(ctx, slices.Concat(worth...))
}

// lanes is how many batches are under way at once.
func (n *nodeWalk) lanes() int {
	if n.pace.full {
		return 2
	}
	return 1
}

// candidate reports whether a key is worth reading. In a small database, and
// where the name says lock, its idle time is asked before anything resets it. The
// key is cloned: it is part of a whole page, which nothing may keep alive.
func (n *nodeWalk) candidate(key string) (probe, bool) {
	deep := n.w.cov.Depth == Deep || n.named
	if !deep && !family.NameCandidate(key, n.w.in.own...) { // hardly any name passes, so this is first
		return probe{}, false
	}
	if isReceipt(key) || !matchAny(n.w.q.Match, key) || n.w.known != nil && n.w.known(key) {
		return probe{}, false
	}
	idle := !deep || n.keys <= autoDeepLimit || family.SmellsLikeLock(key)
	return probe{key: strings.Clone(key), idle: idle}, true
}

// chunk takes a small look at keys, and returns those that are worth a proper one.
func (n *nodeWalk) chunk(ctx context.Context, probes []probe) ([]dated, error) {
	s := &sampler{c: n.Client, bounds: scanBounds, probes: probes, guess: n.guess}
	if err := s.sample(ctx); err != nil {
		return nil, err
	}
	var worth []dated
	for i, sm := range s.samples {
		switch why := s.fates[i].refused; {
		case why != "":
			n.w.refused(map[string]string{sm.Key: why})
			if n.w.ordinary != nil {
				n.w.ordinary(sm.Key)
			}
		case n.w.worthALook(sm):
			worth = append(worth, s.dated(n.Node, i))
		case n.w.ordinary != nil && sm.Type != family.None:
			n.w.ordinary(sm.Key)
		}
	}
	return worth, nil
}

// proper makes locks of samples, and keeps those that are new and wanted. What
// the small look did not see whole is read again first.
func (n *nodeWalk) proper(ctx context.Context, samples []dated) ([]Lock, error) {
	var out []Lock
	for chunk := range slices.Chunk(samples, scanBatch) {
		if err := n.complete(ctx, chunk); err != nil {
			return nil, err
		}
		found, err := n.w.in.decode(ctx, n.Node, chunk, nil)
		if err != nil {
			return nil, err
		}
		n.w.refused(found.unread)
		for i := range found.locks {
			if n.w.take(&found.locks[i]) {
				out = append(out, found.locks[i])
			}
		}
	}
	return out, nil
}

// complete reads again what is not whole.
func (n *nodeWalk) complete(ctx context.Context, samples []dated) error {
	var parts []int
	var probes []probe
	for i, sm := range samples {
		if sm.Whole {
			continue
		}
		p := probe{key: sm.Key, kind: sm.Type}
		if sm.Type == family.Hash {
			p.fields = n.fieldsOf(sm.Sample)
			p.big = p.fields != nil
		}
		if sm.HasIdle {
			p.known = &sm.Idle
		}
		parts, probes = append(parts, i), append(probes, p)
	}
	if len(parts) == 0 {
		return nil
	}
	whole, err := n.w.in.dateKeys(ctx, n.Node, probes)
	if err != nil {
		return err
	}
	for i, at := range parts {
		samples[at] = whole[i]
	}
	return nil
}

// fieldsOf are the fields of a hash that are locks, where the hash is none: all
// that is to be read again of it, however large the rest is. Else nil.
func (n *nodeWalk) fieldsOf(sm *family.Sample) []string {
	var fields []string
	for _, m := range family.Recognise(sm, n.w.in.own...) {
		if m.Claim.Field == "" {
			return nil
		}
		fields = append(fields, m.Claim.Field)
	}
	return fields
}

// worthALook reports whether a sample is a lock that the caller asked for. One
// that is only possible is counted, once for each key.
func (w *Walk) worthALook(sm *family.Sample) bool {
	hidden := false
	for _, m := range family.Recognise(sm, w.in.own...) {
		switch {
		case !w.wanted(m.Family.ID) && !(w.wanted(familyUnknown) && len(m.Claim.Candidates) > 0):
		case m.Claim.Confidence > family.Possible || w.q.Possible:
			return true
		case !m.Claim.Companion:
			hidden = true
		}
	}
	if hidden {
		w.hide(sm.Key)
	}
	return false
}

// hide counts a key that is only possibly a lock.
func (w *Walk) hide(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hidden.add(key) {
		w.cov.PossibleHidden++
	}
}

// refused counts keys that could not be read, and keeps the first of them.
func (w *Walk) refused(unread map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, why := range unread {
		if !w.unread.add(key) {
			continue
		}
		if w.cov.Refused++; w.cov.Refused == 1 {
			w.first = wire.Escape(key) + ": " + why
		}
	}
}

// familyUnknown is the family of locks of which only the shape is known.
const familyUnknown = "unknown"

func (w *Walk) wanted(id string) bool {
	return len(w.q.Families) == 0 || slices.Contains(w.q.Families, id)
}

// acceptable reports whether a lock is one that the caller asked for.
func (w *Walk) acceptable(l *Lock) bool {
	if !w.wanted(l.Family) {
		return false
	}
	if l.Confidence < family.Likely && !w.q.Possible {
		w.hide(string(l.Key))
		return false
	}
	return true
}

// take reports whether a lock is new and wanted. SCAN may give a key twice, and
// a lock is met again at each of its companions.
func (w *Walk) take(l *Lock) bool {
	if !w.acceptable(l) {
		return false
	}
	id := l.RowID()
	if had, ok := w.seen[id]; ok && had >= l.Confidence {
		return false
	}
	w.seen[id] = l.Confidence
	return true
}

// keySet remembers some keys by a hash, in bounded memory: what comes after
// keySetLimit keys is forgotten at once, and may be counted twice.
type keySet struct {
	seed maphash.Seed
	have map[uint64]struct{}
}

const keySetLimit = 1 << 16

// add reports whether the key is new.
func (s *keySet) add(key string) bool {
	if s.have == nil {
		s.seed, s.have = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	h := maphash.String(s.seed, key)
	if _, ok := s.have[h]; ok {
		return false
	}
	if len(s.have) < keySetLimit {
		s.have[h] = struct{}{}
	}
	return true
}

func (s *keySet) has(key string) bool {
	if s.have == nil {
		return false
	}
	_, ok := s.have[maphash.String(s.seed, key)]
	return ok
}
