package inspect

import (
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
}

// New returns an Inspector over nodes; it does not talk to them yet.
func New(nodes ...Node) *Inspector { return &Inspector{nodes: nodes} }

// WithFamilies returns an Inspector that also knows these families, and asks
// them before its own: a user's, from the configuration file.
func (in *Inspector) WithFamilies(own ...*family.Family) *Inspector {
	return &Inspector{nodes: in.nodes, own: append(slices.Clone(in.own), own...)}
}

// Families returns every family that is known, a user's own first.
func (in *Inspector) Families() []*family.Family {
	return append(slices.Clone(in.own), family.All()...)
}

// Nodes returns the nodes that are looked at.
func (in *Inspector) Nodes() []Node { return slices.Clone(in.nodes) }

// Look reads the locks at one key of a database: several, where the key is a
// hash with a lock in more than one field; none, where it is no lock. The key
// may also be a companion (a queue, a counter) of a lock.
func (in *Inspector) Look(ctx context.Context, db int, key string) ([]Lock, error) {
	for _, n := range in.nodes {
		if n.DB != db {
			continue
		}
		locks, err := in.lookAt(ctx, n, []probe{{key: key}})
		if err != nil || len(locks) > 0 {
			return locks, err
		}
	}
	return nil, nil
}

// Refresh reads again the keys of locks that are known, and returns the locks
// that are there now. A lock that is not among them is gone from its key.
func (in *Inspector) Refresh(ctx context.Context, known []Lock) ([]Lock, error) {
	var out []Lock
	for _, n := range in.nodes {
		locks, err := in.refreshNode(ctx, n, known)
		if err != nil {
			return nil, err
		}
		out = append(out, locks...)
	}
	return out, nil
}

// refreshBatch is how many keys go into one round trip.
const refreshBatch = 200

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
		locks, err := in.relook(ctx, n, chunk, founds)
		if err != nil {
			return nil, err
		}
		out = append(out, locks...)
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

// dated is a sample and when it was taken.
type dated struct {
	*family.Sample
	when stamp
}

// dateKeys samples keys, each with the time of its answer.
func dateKeys(ctx context.Context, n Node, probes []probe) ([]dated, error) {
	samples, when, err := sampleKeys(ctx, n.Client, lookBounds, probes)
	if err != nil {
		return nil, err
	}
	out := make([]dated, len(samples))
	for i, sm := range samples {
		out[i] = dated{sm, when}
	}
	return out, nil
}

// relook samples known keys and decodes what is there now. Where the type was
// another, or the key is gone, it is asked for afresh: a lock may have been
// taken meanwhile by another library, or only its queue be left.
func (in *Inspector) relook(ctx context.Context, n Node, probes []probe, known []family.Found) ([]Lock, error) {
	samples, err := dateKeys(ctx, n, probes)
	if err != nil {
		return nil, err
	}
	var again []probe
	kept := samples[:0]
	for _, sm := range samples {
		if sm.Type == family.None {
			again = append(again, probe{key: sm.Key})
			continue
		}
		kept = append(kept, sm)
	}
	if len(again) > 0 {
		second, err := dateKeys(ctx, n, again)
		if err != nil {
			return nil, err
		}
		kept = append(kept, second...)
	}
	left := slices.DeleteFunc(slices.Clone(known), func(f family.Found) bool {
		i := slices.IndexFunc(kept, func(sm dated) bool { return sm.Key == f.Key })
		// What only a companion had told of (a semaphore that is a plain number)
		// cannot be recognised by its main key alone.
		return i < 0 || kept[i].Type != family.None && !f.Claim.Companion
	})
	return in.decode(ctx, n, kept, left)
}

// lookAt samples keys and decodes every lock among them.
func (in *Inspector) lookAt(ctx context.Context, n Node, probes []probe) ([]Lock, error) {
	samples, err := dateKeys(ctx, n, probes)
	if err != nil {
		return nil, err
	}
	return in.decode(ctx, n, samples, nil)
}

// pending is a lock between recognition and decoding.
type pending struct {
	found family.Found
	main  dated
	reads family.Reads
}

// decode turns samples into locks. It reads the main keys of locks that were
// recognised by a companion, and then asks again whose they are: the main key
// may be another family's. left are locks known before whose main key is gone;
// their companions may still be there.
func (in *Inspector) decode(ctx context.Context, n Node, samples []dated, left []family.Found) ([]Lock, error) {
	byKey := make(map[string]dated, len(samples))
	founds := in.recognise(samples)
	for _, sm := range samples {
		byKey[sm.Key] = sm
	}
	var missing []probe
	for _, f := range founds {
		if _, ok := byKey[f.Key]; !ok {
			byKey[f.Key] = dated{}
			missing = append(missing, probe{key: f.Key})
		}
	}
	if len(missing) > 0 {
		mains, err := dateKeys(ctx, n, missing)
		if err != nil {
			return nil, err
		}
		for _, sm := range mains {
			byKey[sm.Key] = sm
		}
		founds = in.recognise(append(slices.Clone(samples), mains...))
	}
	for _, f := range left {
		if !slices.ContainsFunc(founds, func(g family.Found) bool { return g.Key == f.Key && g.Field == f.Field }) {
			founds = append(founds, f)
		}
	}
	work := make([]pending, 0, len(founds))
	for _, f := range founds {
		if main, ok := byKey[f.Key]; ok {
			work = append(work, pending{found: f, main: main})
		}
	}
	return in.finish(ctx, n, work, byKey)
}

func (in *Inspector) recognise(samples []dated) []family.Found {
	var ms []family.Match
	for _, sm := range samples {
		ms = append(ms, family.Recognise(sm.Sample, in.own...)...)
	}
	return family.Group(ms)
}

// finish reads companions, single fields and subscriber counts for all pending
// locks in three round trips at most, and decodes.
func (in *Inspector) finish(ctx context.Context, n Node, work []pending, byKey map[string]dated) ([]Lock, error) {
	var probes []probe
	var fields []family.FieldRef
	var channels []string
	asked := map[string]bool{}
	for i := range work {
		w := &work[i]
		w.reads = w.found.Reads(w.main.Sample)
		fields = append(fields, w.reads.Fields...)
		channels = append(channels, w.reads.Channels...)
		for _, k := range w.reads.Keys {
			if _, have := byKey[k]; !have && !asked[k] {
				asked[k] = true
				probes = append(probes, probe{key: k})
			}
		}
	}
	companions, err := dateKeys(ctx, n, probes)
	if err != nil {
		return nil, err
	}
	for _, sm := range companions {
		byKey[sm.Key] = sm
	}
	values, err := readFields(ctx, n.Client, lookBounds.item, fields)
	if err != nil {
		return nil, err
	}
	subs, err := subscribers(ctx, n, channels)
	if err != nil {
		return nil, err
	}
	locks := make([]Lock, 0, len(work))
	for i := range work {
		if l, ok := work[i].lock(n, byKey, values, subs); ok {
			locks = append(locks, l)
		}
	}
	return locks, nil
}

// lock decodes one pending lock; false where there is nothing to show.
func (w *pending) lock(n Node, byKey map[string]dated, values map[family.FieldRef]string, subs map[string]int64) (Lock, bool) {
	facts := &family.Facts{
		Main: w.main.Sample, Field: w.found.Field, Claim: w.found.Claim, Now: w.main.when.now(),
		Keys:   make(map[string]*family.Sample, len(w.reads.Keys)),
		Fields: make(map[family.FieldRef]string, len(w.reads.Fields)),
		Subs:   make(map[string]int64, len(w.reads.Channels)),
	}
	for _, k := range w.reads.Keys {
		facts.Keys[k] = byKey[k].Sample
	}
	for _, ref := range w.reads.Fields {
		if v, ok := values[ref]; ok {
			facts.Fields[ref] = v
		}
	}
	for _, ch := range w.reads.Channels {
		if c, ok := subs[ch]; ok {
			facts.Subs[ch] = c
		}
	}
	r := w.found.Read(facts)
	if r.NoRow {
		return Lock{}, false
	}
	return assemble(n, w, facts, r), true
}

func assemble(n Node, w *pending, facts *family.Facts, r family.Reading) Lock {
	l := Lock{
		DB: n.DB, Node: n.Addr, Key: wire.Raw(w.found.Key), Field: wire.Raw(w.found.Field), HasField: w.found.Field != "",
		Resource: wire.Raw(r.Resource), Family: r.Family, Label: r.Label, Kind: r.Kind,
		Confidence: r.Confidence, Candidates: r.Candidates, Type: w.main.Type,
		Holders: r.Holders, Waiters: r.Waiters, Fence: r.Fence, State: r.State,
		SampledAt: w.main.when.middle(), Uncertainty: w.main.when.uncertainty(),
		Warnings: r.Warnings, Note: r.Note,
		source: &source{found: w.found, facts: facts, reading: r},
	}
	for _, k := range r.Companions {
		l.Companions = append(l.Companions, wire.Raw(k))
	}
	l.expiry(facts, r)
	return l
}

// expiry sets what is known of the lock's end.
func (l *Lock) expiry(facts *family.Facts, r family.Reading) {
	ttl, ok := r.TTL(facts)
	if !ok {
		l.Persistent = true
		if !r.Deadline.IsZero() {
			l.Deadline = l.SampledAt.Add(r.Deadline.Sub(facts.Now))
		}
		return
	}
	l.TTL = ttl
	l.Deadline = deadlineAfter(l.SampledAt, ttl)
}

// subscribers counts who listens on each channel. Where the server does not
// tell, the channel is missing from the result.
func subscribers(ctx context.Context, n Node, channels []string) (map[string]int64, error) {
	counts := make(map[string]int64, len(channels))
	if len(channels) == 0 {
		return counts, nil
	}
	verbs := []string{"numsub"}
	if n.Cluster {
		verbs = append(verbs, "shardnumsub")
	}
	b := newBatch(ctx, n.Client)
	cmds := make([]*redis.Cmd, len(verbs))
	for i, verb := range verbs {
		args := []any{"pubsub", verb}
		for _, ch := range channels {
			args = append(args, ch)
		}
		cmds[i] = b.do(args...)
	}
	if err := b.exec(); err != nil {
		return nil, err
	}
	for _, cmd := range cmds {
		for _, p := range pairsOf(family.Hash, cmd.Val()) {
			if c, ok := number(p.B); ok {
				counts[p.A] += c
			}
		}
	}
	return counts, nil
}

// Age is how old a lock's facts are at now.
func (l *Lock) Age(now time.Time) time.Duration { return max(0, now.Sub(l.SampledAt)) }
