package family

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// capture is one line of testdata/corpus/corpus.jsonl.
type capture struct {
	ID           string `json:"id"`
	Library      string `json:"library"`
	CapturedAtMS int64  `json:"captured_at_ms"`
	Keys         []struct {
		Key    string `json:"key"`
		Type   string `json:"type"`
		PTTL   int64  `json:"pttl_ms"`
		Value  string `json:"value"`
		Fields map[string]string
		// Members are strings for sets and lists, pairs for sorted sets.
		Members []json.RawMessage
	} `json:"keys"`
	Channels []struct {
		Channel     string `json:"channel"`
		Subscribers int64  `json:"subscribers"`
	} `json:"channel_detail"`
	Expect expected `json:"expect"`
}

type expected struct {
	IsLock     bool            `json:"is_lock"`
	Kind       string          `json:"kind"`
	Holder     json.RawMessage `json:"holder"`
	Reentrancy json.RawMessage `json:"reentrancy"`
	Readers    *int            `json:"readers"`
	Waiters    *int64          `json:"waiters"`
	Fence      *int64          `json:"fence"`
	Persistent *bool           `json:"persistent"`
	Live       *bool           `json:"live"`
	LockKey    string          `json:"lock_key"`
}

// unescape undoes the \xNN and \\ of the corpus.
func unescape(t testing.TB, s string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if s[i+1] == '\\' {
			b.WriteByte('\\')
			i++
			continue
		}
		var c byte
		if _, err := fmt.Sscanf(s[i:i+4], `\x%02x`, &c); err != nil {
			t.Fatalf("escape in %q: %v", s, err)
		}
		b.WriteByte(c)
		i += 3
	}
	return b.String()
}

func readCorpus(t testing.TB) []capture {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "testdata", "corpus", "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var out []capture
	for lines.Scan() {
		var c capture
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// samples are the capture's keys as a look at a server would give them.
func (c *capture) samples(t testing.TB) []*Sample {
	t.Helper()
	var out []*Sample
	for _, k := range c.Keys {
		s := &Sample{Key: unescape(t, k.Key), Type: Type(k.Type), PTTL: k.PTTL, Whole: true, NowMS: c.CapturedAtMS}
		s.Value = unescape(t, k.Value)
		for f, v := range k.Fields {
			s.Pairs = append(s.Pairs, Pair{unescape(t, f), unescape(t, v)})
		}
		slices.SortFunc(s.Pairs, func(a, b Pair) int { return cmp.Compare(a.A, b.A) })
		for _, m := range k.Members {
			if s.Type == "stream" {
				break
			}
			var one string
			var pair [2]string
			if json.Unmarshal(m, &one) == nil {
				s.Pairs = append(s.Pairs, Pair{A: unescape(t, one)})
			} else if err := json.Unmarshal(m, &pair); err == nil {
				s.Pairs = append(s.Pairs, Pair{unescape(t, pair[0]), pair[1]})
			} else {
				t.Fatalf("%s: member %s: %v", c.ID, m, err)
			}
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

func (c *capture) family() string {
	if strings.HasPrefix(c.Library, "Redisson ") {
		return "redisson"
	}
	return cmp.Or(families[c.Library], c.Library)
}

// judge compares the rows of a capture with what it expects, and says what is wrong.
func (c *capture) judge(t testing.TB, rows []row) []string {
	e := &c.Expect
	if !e.IsLock {
		return c.judgeNegative(rows)
	}
	live := e.Live == nil || *e.Live
	r := c.pick(t, rows)
	if r == nil {
		if !live {
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
	want := c.family()
	say(r.Reading.Family == want || r.Reading.Family == "unknown" && slices.Contains(r.Candidates, want),
		"family %s %v, not %s", r.Reading.Family, r.Candidates, want)
	say(r.Kind == kinds[e.Kind], "kind %s, not %s", r.Kind, e.Kind)
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
	var want []string
	var one string
	if json.Unmarshal(e.Holder, &one) == nil && one != "" {
		want = []string{one}
	} else {
		_ = json.Unmarshal(e.Holder, &want) // null stays none
	}
	for i := range want {
		want[i] = unescape(t, want[i])
	}
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
func (c *capture) pick(t testing.TB, rows []row) *row {
	key := unescape(t, c.Expect.LockKey)
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
	ambiguous := strings.HasPrefix(c.ID, "negative-ordinary-data--idempotency")
	var bad []string
	for _, r := range rows {
		if r.State == Free {
			continue
		}
		excused := ambiguous && r.Confidence == Likely && SmellsLikeLock(r.Key)
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
			if c.Expect.IsLock && ByID(c.family()) == nil {
				t.Fatalf("the family %s is not known", c.family())
			}
			samples := c.samples(t)
			w := newWorld(samples, time.UnixMilli(c.CapturedAtMS))
			for _, ch := range c.Channels {
				w.subs[unescape(t, ch.Channel)] = ch.Subscribers
			}
			bad := c.judge(t, w.rows(samples))
			live := c.Expect.IsLock && (c.Expect.Live == nil || *c.Expect.Live)
			if live {
				locks++
			}
			switch reason, ok := excused[c.ID]; {
			case len(bad) == 0 && ok:
				t.Errorf("is right now: take it off the list of what cannot be read (%s)", reason)
			case len(bad) == 0 && live:
				right++
			case len(bad) > 0 && !ok:
				t.Error(strings.Join(bad, "; "))
			}
		})
	}
	t.Logf("%d of %d live locks right", right, locks)
	if right*100 < locks*98 {
		t.Errorf("%d of %d live locks are right: fewer than 98 of 100", right, locks)
	}
}
