package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
)

// bounds limits one look at one key, so that a value of 100 MB or a hash of a
// million fields costs no more than a lock.
type bounds struct {
	value   int64 // bytes of a string
	entries int64 // of a hash, set, sorted set or list
	item    int64 // bytes of one field's value
	bulk    int64 // bytes that one key's entries may come to, by the server's estimate
	whole   bool  // a hash of more entries is read whole where it is not more than bulk: all who hold it
}

var (
	scanBounds = bounds{value: 256, entries: 32, item: 512, bulk: 64 << 10}
	lookBounds = bounds{value: 64 << 10, entries: 512, item: 64 << 10, bulk: 4 << 20, whole: true}
)

// probe is one key to be sampled, with what an earlier look knew of it.
type probe struct {
	key  string
	kind family.Type // "": not known
	big  bool        // entries are not packed small, and are read with care
	// fields are all that is wanted of a large hash; nil: some of every entry.
	fields []string
	// idle asks how long nobody had touched the key, before the value is read.
	// An earlier look that asked already hands its answer on: reading resets it.
	idle  bool
	known *int64
}

// stamp says when a batch was answered.
type stamp struct {
	sent, received time.Time
	server         time.Time // the server's clock; zero where TIME is not permitted
}

func (s stamp) middle() time.Time          { return s.sent.Add(s.received.Sub(s.sent) / 2) }
func (s stamp) uncertainty() time.Duration { return s.received.Sub(s.sent) / 2 }

// now is the server's clock, or this machine's where the server would not say.
func (s stamp) now() time.Time {
	if s.server.IsZero() {
		return s.middle()
	}
	return s.server
}

// sampler looks at a batch of keys of one node, in as few round trips as their
// types allow: one for strings whose type is known, two or three otherwise.
type sampler struct {
	c       *redis.Client
	bounds  bounds
	probes  []probe
	samples []*family.Sample
	fates   []fate
	when    stamp
	// guess is asked for the type of a key that came without one, before the
	// server is; nil: only the server is asked. A wrong guess costs an error reply.
	guess *typeGuess
	// second says that some keys are asked for once more.
	second bool
}

// sample fills in a sample for every probe, in order. Keys that vanish on the way
// have Type None, and so have those that cannot be read: their fate says so.
func (s *sampler) sample(ctx context.Context) error {
	s.samples, s.fates = make([]*family.Sample, len(s.probes)), make([]fate, len(s.probes))
	for i, p := range s.probes {
		s.samples[i] = &family.Sample{Key: p.key, Type: p.kind, PTTL: family.Gone}
		if p.kind == "" && s.guess != nil {
			s.samples[i].Type = s.guess.of(p.key)
		}
	}
	for _, pass := range []func(context.Context) error{s.types, s.encodings, s.values, s.lengths, s.entries} {
		if err := pass(ctx); err != nil {
			return err
		}
	}
	return nil
}

// types asks for the type of every key of which it is not known.
func (s *sampler) types(ctx context.Context) error {
	b := newBatch(ctx, s.c)
	cmds := make([]*redis.Cmd, len(s.probes))
	for i, p := range s.probes {
		if s.samples[i].Type == "" {
			cmds[i] = b.do("type", p.key)
		}
	}
	if err := b.exec(); err != nil {
		return err
	}
	for i, cmd := range cmds {
		if cmd == nil {
			continue
		}
		t, err := cmd.Text()
		if err != nil {
			s.fail(i, err)
			continue
		}
		s.samples[i].Type = family.Type(t)
		if s.guess != nil {
			s.guess.learn(s.probes[i].key, family.Type(t))
		}
	}
	return nil
}

// fail notes that a key cannot be read, and why.
func (s *sampler) fail(i int, err error) {
	sm := s.samples[i]
	s.fates[i] = fateOf(err)
	*sm = family.Sample{Key: sm.Key, Type: family.None, PTTL: family.Gone, NowMS: sm.NowMS}
}

// failKey is fail of a key by its name.
func (s *sampler) failKey(key string, err error) {
	for i := range s.probes {
		if s.probes[i].key == key {
			s.fail(i, err)
		}
	}
}

// encodings finds out which collections are packed small: those are read whole
// at once. Where the server will not say, they are taken for large.
func (s *sampler) encodings(ctx context.Context) error {
	b := newBatch(ctx, s.c)
	cmds := make([]*redis.Cmd, len(s.probes))
	for i, p := range s.probes {
		if p.kind == "" && collection(s.samples[i].Type) {
			cmds[i] = b.do("object", "encoding", p.key)
		}
	}
	if err := b.exec(); err != nil {
		return err
	}
	for i, cmd := range cmds {
		if cmd == nil {
			continue
		}
		enc, err := cmd.Text()
		s.probes[i].big = err != nil || !packed(enc)
	}
	return nil
}

func collection(t family.Type) bool {
	return t == family.Hash || t == family.ZSet || t == family.Set || t == family.List
}

// packed reports whether an encoding bounds its entries in number and size
// (by default 128 to 512 entries of at most 64 bytes).
func packed(encoding string) bool {
	return encoding == "listpack" || encoding == "ziplist" || encoding == "intset"
}

func sizeCommand(t family.Type) string {
	return map[family.Type]string{family.Hash: "hlen", family.ZSet: "zcard", family.Set: "scard", family.List: "llen"}[t]
}

func (s *sampler) entriesCommand(sm *family.Sample) []any {
	n := s.bounds.entries
	switch sm.Type {
	case family.Hash:
		return []any{"hgetall", sm.Key}
	case family.ZSet:
		return []any{"zrange", sm.Key, 0, n - 1, "withscores"}
	case family.Set:
		return []any{"sscan", sm.Key, 0, "count", n}
	default:
		return []any{"lrange", sm.Key, 0, n - 1}
	}
}

// pairsOf reads the entries of a collection from any form that RESP2 or RESP3
// gives them: flat lists, lists of pairs, maps, and SCAN's cursor before them.
func pairsOf(t family.Type, reply any) []family.Pair {
	if m, ok := reply.(map[any]any); ok {
		pairs := make([]family.Pair, 0, len(m))
		for k, v := range m {
			pairs = append(pairs, family.Pair{A: text(k), B: text(v)})
		}
		return inOrder(pairs)
	}
	items, _ := reply.([]any)
	if t == family.Set && len(items) == 2 { // cursor, members
		items, _ = items[1].([]any)
	}
	paired := t == family.Hash || t == family.ZSet
	pairs := make([]family.Pair, 0, len(items))
	for i := 0; i < len(items); i++ {
		switch sub, nested := items[i].([]any); {
		case nested && len(sub) == 2:
			pairs = append(pairs, family.Pair{A: text(sub[0]), B: text(sub[1])})
		case paired && i+1 < len(items):
			pairs = append(pairs, family.Pair{A: text(items[i]), B: text(items[i+1])})
			i++
		default:
			pairs = append(pairs, family.Pair{A: text(items[i])})
		}
	}
	if t == family.Hash {
		return inOrder(pairs)
	}
	return pairs
}

// inOrder sorts the fields of a hash, which have no order of their own: with one
// that differs from look to look the holders of a lock would change places.
func inOrder(pairs []family.Pair) []family.Pair {
	slices.SortFunc(pairs, func(a, b family.Pair) int { return cmp.Compare(a.A, b.A) })
	return pairs
}
