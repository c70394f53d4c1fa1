package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// looked is what a look came to: the locks, and the keys of which it is not
// known whether they are one, each with the reason.
type looked struct {
	locks  []Lock
	unread map[string]string
	ends   map[string]time.Time // when keys end that were there without a lock; see outlived
}

// pending is a lock between recognition and decoding.
type pending struct {
	found  family.Found
	main   dated
	reads  family.Reads
	unsure time.Duration // of the companions that have a time of their own
}

// decode turns samples into locks. It reads the main keys of locks that were
// recognised by a companion, and then asks again whose they are: the main key
// may be another family's. left are locks known before whose main key is gone;
// their companions may still be there.
func (in *Inspector) decode(ctx context.Context, n Node, samples []dated, left []family.Found) (looked, error) {
	out := looked{unread: map[string]string{}}
	byKey := make(map[string]dated, len(samples))
	founds := in.recognise(samples)
	for _, sm := range samples {
		byKey[sm.Key] = sm
		out.note(&sm)
	}
	var missing []probe
	for _, f := range founds {
		if _, ok := byKey[f.Key]; !ok {
			byKey[f.Key] = dated{}
			missing = append(missing, probe{key: f.Key})
		}
	}
	if len(missing) > 0 {
		mains, err := in.dateKeys(ctx, n, missing)
		if err != nil {
			return out, err
		}
		for _, sm := range mains {
			byKey[sm.Key] = sm
			out.note(&sm)
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
		if main, ok := byKey[f.Key]; ok && main.known() {
			work = append(work, pending{found: f, main: main})
		}
	}
	var err error
	out.locks, err = in.finish(ctx, n, work, byKey)
	return out, err
}

// note keeps in mind that a key could not be read.
func (l *looked) note(sm *dated) {
	if sm.refused != "" {
		l.unread[sm.Key] = sm.refused
	}
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
		w.main.DB = n.DB
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
	companions, err := in.dateKeys(ctx, n, probes)
	if err != nil {
		return nil, err
	}
	for _, sm := range companions {
		byKey[sm.Key] = sm
	}
	values, err := in.fieldsOf(ctx, n, fields)
	if err != nil {
		return nil, err
	}
	subs, err := in.subscribers(ctx, n, channels)
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
func (w *pending) lock(n Node, byKey map[string]dated, fields fieldAnswers, subs listeners) (Lock, bool) {
	facts := &family.Facts{
		Main: w.main.Sample, Field: w.found.Field, Claim: w.found.Claim, Now: w.main.when.now(), DB: n.DB,
		Keys:   make(map[string]*family.Sample, len(w.reads.Keys)),
		Fields: make(map[family.FieldRef]string, len(w.reads.Fields)),
		Subs:   make(map[string]int64, len(w.reads.Channels)),
	}
	for _, k := range w.reads.Keys {
		sm := byKey[k]
		facts.Keys[k] = sm.asOf(w.main.when)
		if sm.Sample != nil && sm.PTTL >= 0 {
			w.unsure = max(w.unsure, sm.when.uncertainty())
		}
		if !sm.known() {
			facts.Cannot(k, sm.refused)
		}
	}
	for _, ref := range w.reads.Fields {
		if v, ok := fields.values[ref]; ok {
			facts.Fields[ref] = v
		} else if err := fields.failed[ref]; err != nil {
			facts.Cannot(ref.Key, wire.Clean(err.Error()))
		}
	}
	for _, ch := range w.reads.Channels {
		if c, ok := subs.counts[ch]; ok {
			facts.Subs[ch] = c
		}
		for _, why := range subs.unknown {
			facts.Cannot(ch, why)
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
		DB: n.DB, Node: cmp.Or(w.main.at, n.Addr), Key: wire.Raw(w.found.Key), Field: wire.Raw(w.found.Field), HasField: w.found.Field != "",
		Resource: wire.Raw(r.Resource), Family: r.Family, Label: r.Label, Kind: r.Kind,
		Confidence: r.Confidence, Candidates: r.Candidates, Type: w.main.Type,
		Holders: r.Holders, Waiters: r.Waiters, Fence: r.Fence, State: r.State,
		SampledAt: w.main.when.middle(), Uncertainty: max(w.main.when.uncertainty(), w.unsure),
		Warnings: r.Warnings, Note: r.Note,
		source: &source{found: w.found, facts: facts, reading: r},
	}
	for _, k := range r.Companions {
		l.Companions = append(l.Companions, wire.Raw(k))
	}
	l.expiry(facts, r)
	return l
}

// expiry sets what is known of the lock's end. Some libraries let the key outlive
// the deadline that they go by (the members of a semaphore, a second in a value):
// the lock ends with the earlier of the two.
func (l *Lock) expiry(facts *family.Facts, r family.Reading) {
	ttl, ok := r.TTL(facts)
	l.Persistent = !ok
	if ok {
		l.TTL = ttl
		l.Deadline = deadlineAfter(l.SampledAt, ttl)
	}
	if r.Deadline.IsZero() {
		return
	}
	own := l.SampledAt.Add(r.Deadline.Sub(facts.Now))
	if l.Persistent || own.Before(l.Deadline) {
		l.Deadline = own
	}
}
