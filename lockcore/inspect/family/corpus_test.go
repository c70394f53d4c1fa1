package family

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// capture is one line of testdata/corpus/corpus.jsonl.
type capture struct{ redistest.Capture }

func readCorpus(t testing.TB) []capture {
	t.Helper()
	var out []capture
	for _, c := range redistest.Corpus(t) {
		out = append(out, capture{c})
	}
	return out
}

// samples are the capture's keys as a look at a server would give them.
func (c *capture) samples() []*Sample {
	var out []*Sample
	for _, k := range c.Keys {
		s := &Sample{Key: k.Key, Type: Type(k.Type), Value: k.Value, PTTL: k.PTTL, Whole: true, NowMS: c.CapturedAtMS}
		for f, v := range k.Fields {
			s.Pairs = append(s.Pairs, Pair{f, v})
		}
		slices.SortFunc(s.Pairs, func(a, b Pair) int { return cmp.Compare(a.A, b.A) })
		for _, m := range k.Members {
			s.Pairs = append(s.Pairs, Pair{m[0], m[1]})
		}
		s.Len = int64(len(s.Pairs))
		if s.Type == String {
			s.Len = int64(len(s.Value))
		}
		out = append(out, s)
	}
	return out
}

// row is a lock as the whole flow gives it.
type row struct {
	Found
	Reading
	facts *Facts
}

// world is a keyspace in memory with the flow of lockcore/inspect over it:
// recognise every key, group, read what the families want, decode.
type world struct {
	keys map[string]*Sample
	subs map[string]int64
	now  time.Time
}

func newWorld(samples []*Sample, now time.Time) *world {
	w := &world{keys: map[string]*Sample{}, subs: map[string]int64{}, now: now}
	for _, s := range samples {
		w.keys[s.Key] = s
	}
	return w
}

func (w *world) rows(samples []*Sample) []row {
	var ms []Match
	for _, s := range samples {
		ms = append(ms, Recognise(s)...)
	}
	for _, ch := range slices.Sorted(mapsKeys(w.subs)) {
		if w.subs[ch] > 0 {
			ms = append(ms, RecogniseChannel(ch)...)
		}
	}
	var out []row
	for _, f := range Group(ms) {
		facts := w.facts(&f)
		if r := f.Read(facts); !r.NoRow {
			out = append(out, row{f, r, facts})
		}
	}
	return out
}

func mapsKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (w *world) get(key string) *Sample {
	if s := w.keys[key]; s != nil {
		return s
	}
	return &Sample{Key: key, Type: None, PTTL: Gone}
}

func (w *world) facts(f *Found) *Facts {
	facts := &Facts{
		Main: w.get(f.Key), Field: f.Field, Claim: f.Claim, Now: w.now,
		Keys: map[string]*Sample{}, Fields: map[FieldRef]string{}, Subs: map[string]int64{},
	}
	reads := f.Reads(facts.Main)
	for _, k := range reads.Keys {
		facts.Keys[k] = w.get(k)
	}
	for _, ref := range reads.Fields {
		if v, ok := w.get(ref.Key).Get(ref.Field); ok {
			facts.Fields[ref] = v
		}
	}
	for _, ch := range reads.Channels {
		facts.Subs[ch] = w.subs[ch]
	}
	return facts
}

// judge compares the rows of a capture with what it expects, and says what is wrong.
func (c *capture) judge(t testing.TB, rows []row) []string {
	e := &c.Expect
	if !e.IsLock {
		return c.judgeNegative(rows)
	}
	live := e.Alive()
	r := c.pick(rows)
	if r == nil {
		if !live && (e.Waiters == nil || *e.Waiters == 0) {
			return nil // left over: no row is as good as a free one
		}
		return []string{"not listed"}
	}
	var bad []string
	say := func(ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	want := c.Family()
	say(r.Reading.Family == want || r.Reading.Family == "unknown" && slices.Contains(r.Candidates, want),
		"family %s %v, not %s", r.Reading.Family, r.Candidates, want)
	say(r.Kind == Kind(e.Kind()), "kind %s, not %s", r.Kind, e.Kind())
	if live {
		say(r.State == Held || r.State == Cooling, "state %s", r.State)
	} else {
		say(r.State != Held, "state %s of a dead lock", r.State)
	}
	if live {
		c.judgeHolders(t, r, say)
	}
	if e.Fence != nil {
		say(r.Fence == fmt.Sprint(*e.Fence), "fence %q, not %d", r.Fence, *e.Fence)
	} else {
		say(r.Fence == "", "fence %q", r.Fence)
	}
	if e.Waiters != nil {
		say(r.Waiters != nil && r.Waiters.Count == *e.Waiters, "waiters %+v, not %d", r.Waiters, *e.Waiters)
	}
	if e.Persistent != nil && live {
		_, ttl := r.TTL(r.facts)
		say(ttl == !*e.Persistent, "persistent %v", !ttl)
	}
	return bad
}

func (c *capture) judgeHolders(t testing.TB, r *row, say func(bool, string, ...any)) {
	e := &c.Expect
	want := e.Holders(t)
	var got []string
	counts := map[string]int64{}
	for _, h := range r.Holders {
		counts[string(h.ID)] = h.Count
		if h.ID != "" {
			got = append(got, string(h.ID))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	say(slices.Equal(want, got), "holders %q, not %q", got, want)
	var count int64
	var each map[string]int64
	if json.Unmarshal(e.Reentrancy, &count) == nil && count > 0 && len(want) == 1 {
		say(counts[want[0]] == count, "count %d, not %d", counts[want[0]], count)
	} else if json.Unmarshal(e.Reentrancy, &each) == nil {
		for id, n := range each {
			say(counts[id] == n, "count of %s %d, not %d", id, counts[id], n)
		}
	}
	if e.Readers != nil && r.Kind == RWLock {
		readers := 0
		for _, h := range r.Holders {
			if h.Mode == "read" {
				readers += 1
				if h.ID == "" {
					readers += int(h.Count) - 1
				}
			}
		}
		say(readers == *e.Readers, "readers %d, not %d", readers, *e.Readers)
	}
}

// pick is the row that the capture is about.
func (c *capture) pick(rows []row) *row {
	key := c.Expect.LockKey
	for i := range rows {
		if rows[i].Key == key || slices.Contains(rows[i].Companions, key) {
			return &rows[i]
		}
	}
	if key == "" && len(rows) > 0 {
		return &rows[0]
	}
	return nil
}

func (c *capture) judgeNegative(rows []row) []string {
	var bad []string
	for _, r := range rows {
		if r.State == Free {
			continue
		}
		excused := c.Ambiguous() && r.Confidence == Likely && SmellsLikeLock(r.Key)
		if r.Confidence > Possible && !excused {
			bad = append(bad, fmt.Sprintf("%q taken for a lock: %s %s (%s)", r.Key, r.Confidence, r.Reading.Family, r.Claim.Why))
		}
	}
	return bad
}

func TestCorpus(t *testing.T) {
	var locks, right int
	for _, c := range readCorpus(t) {
		t.Run(c.ID, func(t *testing.T) {
			if c.Expect.IsLock && ByID(c.Family()) == nil {
				t.Fatalf("the family %s is not known", c.Family())
			}
			samples := c.samples()
			w := newWorld(samples, time.UnixMilli(c.CapturedAtMS))
			for _, ch := range c.Channels {
				w.subs[ch.Channel] = ch.Subscribers
			}
			bad := c.judge(t, w.rows(samples))
			live := c.Expect.Alive()
			if live {
				locks++
			}
			switch reason := c.Excuse(); {
			case len(bad) == 0 && reason != "":
				t.Errorf("is right now: take it off the list of what cannot be read (%s)", reason)
			case len(bad) == 0 && live:
				right++
			case len(bad) > 0 && reason == "":
				t.Error(strings.Join(bad, "; "))
			}
		})
	}
	t.Logf("%d of %d live locks right", right, locks)
	if right*100 < locks*98 {
		t.Errorf("%d of %d live locks are right: fewer than 98 of 100", right, locks)
	}
}
