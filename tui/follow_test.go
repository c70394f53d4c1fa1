package tui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// newFollowing has no Follower: views are put into it by hand.
func newFollowing() *following {
	return &following{}
}

// row is the row of a lock, and count how many there are.
func (fw *following) row(id string) *row { return feed{slots: fw.slots}.row(id) }

func (fw *following) count() (n int) {
	for _, r := range fw.slots {
		if r != nil {
			n++
		}
	}
	return n
}

// seen is a fact about a Redisson lock.
func seen(key, holder string, ttl int64, since time.Time) *inspect.Watched {
	l := inspect.Lock{Node: "n", Key: wire.Raw(key), Family: "redisson", State: family.Held, TTL: ttl, SampledAt: since,
		Deadline: since.Add(time.Duration(ttl) * time.Millisecond), Holders: []family.Holder{{ID: wire.Raw(holder)}}}
	return &inspect.Watched{Lock: l, FirstSeen: since}
}

func viewOf(complete bool, w ...*inspect.Watched) *inspect.View {
	v := &inspect.View{Rows: w, Scanning: !complete, Coverage: inspect.Coverage{Nodes: 1, Complete: complete}}
	if complete {
		v.Coverage.NodesScanned = 1
	}
	return v
}

// A row keeps its place and what was learned while its holder has it; another
// holder begins anew and is said to have come; what is gone stays for a moment,
// and its place is given to another then.
func TestRowsFollowTheFacts(t *testing.T) {
	t.Run("by seat", func(t *testing.T) {
		seats := map[wire.Raw]*inspect.Seat{}
		rowsFollow(t, func(w ...*inspect.Watched) *inspect.View {
			had := seats
			seats = map[wire.Raw]*inspect.Seat{} // who leaves gets another
			for _, w := range w {
				if seats[w.Key] = had[w.Key]; seats[w.Key] == nil {
					seats[w.Key] = &inspect.Seat{}
				}
				w.Seat = seats[w.Key]
			}
			return viewOf(true, w...)
		})
	})
	t.Run("by name", func(t *testing.T) {
		rowsFollow(t, func(w ...*inspect.Watched) *inspect.View { return viewOf(true, w...) })
	})
}

func rowsFollow(t *testing.T, view func(...*inspect.Watched) *inspect.View) {
	fw := newFollowing()
	first := seen("a", redissonA, 30_000, noon)
	fw.take(view(first), noon)
	a := fw.row("n/0/a")
	if a == nil || !a.cameAt().IsZero() || a.whole != 30_000 {
		t.Fatalf("what the first pass found became %+v", a)
	}
	fw.take(view(first), noon.Add(time.Second))
	if fw.row("n/0/a") != a {
		t.Error("a fact that did not change made a new row")
	}
	low := seen("a", redissonA, 9_000, noon)
	fw.take(view(low), noon.Add(2*time.Second))
	if r := fw.row("n/0/a"); r.whole != 30_000 || r.slot != a.slot || !r.cameAt().IsZero() || r.holderBefore() != "" {
		t.Errorf("the same holder a moment later became %+v", r)
	}
	other := seen("a", redissonB, 20_000, noon.Add(3*time.Second))
	fw.take(view(other), noon.Add(3*time.Second))
	if r := fw.row("n/0/a"); r.whole != 20_000 || r.holderBefore() != redissonA || !r.cameAt().Equal(noon.Add(3*time.Second)) {
		t.Errorf("another holder became %+v", r)
	}
	fw.take(view(), noon.Add(4*time.Second))
	again := seen("a", redissonA, 30_000, noon.Add(4*time.Second))
	fw.take(view(again), noon.Add(4*time.Second))
	if r := fw.row("n/0/a"); r.slot != a.slot || !r.goneAt().IsZero() || r.holderBefore() != redissonB || fw.count() != 1 {
		t.Errorf("a lock that came again became %+v", r)
	}
	fw.take(view(), noon.Add(4*time.Second))
	if r := fw.slots[a.slot]; r == nil || r.goneAt().IsZero() || fw.leaves != 1 {
		t.Errorf("a lock that is gone became %+v, %d leave", r, fw.leaves)
	}
	fw.take(view(), noon.Add(4*time.Second+goneShown))
	b := seen("b", redissonA, 1, noon)
	fw.take(view(b), noon.Add(10*time.Second))
	if r := fw.row("n/0/b"); r.slot != a.slot || r.cameAt().IsZero() || fw.count() != 1 || fw.leaves != 0 {
		t.Errorf("the next lock became %+v among %d", r, fw.count())
	}
}

// What a pass comes upon was there before; what comes while none is under way
// has come, and what was seen to begin has come in any case.
func TestWhatThePassFindsHasNotJustCome(t *testing.T) {
	fw := newFollowing()
	old, begun := seen("old", redissonA, 1, noon), seen("begun", redissonA, 1, noon)
	begun.Began = true
	fw.take(viewOf(false, old, begun), noon)
	late := seen("late", redissonA, 1, noon)
	fw.take(viewOf(true, old, begun, late), noon) // the last page and its end are one message
	now := seen("now", redissonA, 1, noon)
	fw.take(viewOf(true, old, begun, late, now), noon)
	deep := seen("deep", redissonA, 1, noon)
	v := viewOf(true, old, begun, late, now, deep)
	v.DeepAt = noon
	fw.take(v, noon)
	for key, came := range map[string]bool{"old": false, "begun": true, "late": false, "now": true, "deep": false} {
		if r := fw.row("n/0/" + key); r.cameAt().IsZero() == came {
			t.Errorf("%s: came is %v", key, !r.cameAt().IsZero())
		}
	}
}

// Rows that are put between those that did not change stand as if all had been
// sorted, whatever came, went, changed or was turned round.
func TestOrderedIsSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fw := newFollowing()
	locks := map[string]*inspect.Watched{}
	l := newList()
	for step := range 400 {
		for range rng.IntN(4) {
			key := fmt.Sprint("k", rng.IntN(40))
			if rng.IntN(4) == 0 {
				delete(locks, key)
				continue
			}
			locks[key] = seen(key, fmt.Sprint("h", rng.IntN(5)), rng.Int64N(50_000), noon.Add(time.Duration(step)*time.Second))
			if rng.IntN(5) == 0 {
				locks[key].Warnings = []family.Warning{{Code: "w", Text: "w"}}
			}
		}
		if rng.IntN(20) == 0 {
			l.order, l.reverse = order(rng.IntN(7)), rng.IntN(2) == 0
			l = l.reorder()
		}
		var rows []*inspect.Watched
		for _, w := range locks {
			rows = append(rows, w)
		}
		fw.take(viewOf(true, rows...), noon.Add(time.Duration(step)*time.Second))
		l.all = l.ordered(slices.Clone(fw.slots))
		want := slices.DeleteFunc(slices.Clone(fw.slots), func(r *row) bool { return r == nil })
		slices.SortFunc(want, l.compare)
		if !slices.Equal(l.all, want) {
			t.Fatalf("step %d: %d rows in another order than %d sorted ones", step, len(l.all), len(want))
		}
	}
}

// What has the same key is told apart: by its database, and by its node where
// that may be on several.
func TestNamesTellRowsApart(t *testing.T) {
	at := func(addr string, db int, cluster bool) inspect.Node {
		return inspect.Node{Addr: addr, DB: db, Cluster: cluster}
	}
	for want, nodes := range map[string][]inspect.Node{
		"3/lock:a":      {at("n", 3, false), at("n", 0, false)},
		"lock:a":        {at("n", 0, true), at("o", 0, true)},
		"lock:a @n:1":   {at("n:1", 0, false), at("o:1", 0, false)},
		"3/lock:a @n:1": {at("n:1", 3, false), at("o:1", 3, false)},
	} {
		w := seen("lock:a", redissonA, 1, noon)
		w.Node, w.DB = nodes[0].Addr, nodes[0].DB
		if got := newRow(w, false, sited(nodes)).name; got != want {
			t.Errorf("a lock on %s in db %d is called %q, want %q", w.Node, w.DB, got, want)
		}
	}
	w := seen("lock:a", redissonA, 1, noon)
	w.Node = "Host-9:1"
	text := haystacks(nil).of(newRow(w, false, true))
	if !newSieve("host-9").passes(text) || newSieve("!lock:a").passes(text) {
		t.Error("the filter does not look at the whole name")
	}
}

// After a gap it is said what was found to be other, and later events are not
// put down to it.
func TestGapSaysWhatWasFound(t *testing.T) {
	d := newDirect(120, 40).found(someLocks()...)
	v := d.m.feed.view
	of := func(k inspect.EventKind) inspect.Event { return inspect.Event{Kind: k, Key: "lock:a", At: d.m.now} }
	d.sees(v, inspect.Event{Kind: inspect.FeedGap, At: d.m.now, Note: "the connection was lost for 12 s"})
	if want := "the connection was lost for 12 s; what happened meanwhile was not seen"; d.m.notice.text != want {
		t.Errorf("it says %q, want %q", d.m.notice.text, want)
	}
	d.m.now = d.m.now.Add(time.Second)
	d.sees(v, of(inspect.HandedOver), of(inspect.WentAway), of(inspect.WentAway), of(inspect.WasRenewed), of(inspect.WasAcquired))
	want := "the connection was lost for 12 s; found since: 1 changed hands, 2 gone, 1 new; more may be missed"
	if d.m.notice.text != want {
		t.Errorf("it says %q, want %q", d.m.notice.text, want)
	}
	d.m.now = d.m.now.Add(gapFor)
	if d.sees(v, of(inspect.WentAway)); d.m.notice.text != want {
		t.Errorf("it says %q long after, want %q", d.m.notice.text, want)
	}
}

// Of several nodes one that is silent is named, and the others' locks stay as
// fresh as they are.
func TestOneOfSeveralNodesIsSilent(t *testing.T) {
	locks := someLocks()[:2]
	locks[1].Node, locks[1].SampledAt = "10.0.0.2:6379", noon.Add(-12*time.Second)
	ns := append(nodes(), nodes()...)
	ns[1].Addr, ns[1].Reach, ns[1].Heard = "10.0.0.2:6379", inspect.Lost, noon.Add(-12*time.Second)
	ns[1].Err, ns[1].RetryAt = "connection refused: does Redis run there?", noon.Add(2*time.Second)
	cov := inspect.Coverage{Nodes: 2, NodesScanned: 2, Complete: true}
	d := newDirect(120, 24).sees(&inspect.View{Rows: watched(locks...), Nodes: ns, Coverage: cov})
	golden(t, "one-node-lost-120x24", d.view())
	live, lost := d.m.feed.row(rowID(&locks[0])), d.m.feed.row(rowID(&locks[1]))
	if d.m.sight(live, noon).stale() || !d.m.sight(lost, noon).stale() {
		t.Error("a silent node made another's lock old, or kept its own fresh")
	}
}

// Where a lock's node does not answer, no screen counts its lease down: not the
// list, not the details, not the panels that release it.
func TestNoScreenCountsDownUnheard(t *testing.T) {
	lock := someLocks()[7]
	ns := nodes()
	ns[0].Reach, ns[0].Heard = inspect.Lost, noon.Add(-12*time.Second)
	ns[0].Err, ns[0].RetryAt = "no answer in time", noon.Add(time.Hour)
	lock.Node, lock.SampledAt, lock.TTL = ns[0].Addr, noon.Add(-12*time.Second), (20 * time.Minute).Milliseconds()
	lock.Deadline, lock.Persistent = lock.SampledAt.Add(20*time.Minute), false
	d := newDirect(120, 40).sees(&inspect.View{Rows: watched(lock), Nodes: ns, Coverage: inspect.Coverage{Nodes: 1, NodesScanned: 1, Complete: true}})
	mine := d.m.feed.row(rowID(&lock))
	d.m.release = release{row: mine, stage: asking, seen: lock, live: lock, armed: true}
	d.m = d.m.review(lock)
	d.m.bulk = bulk{items: []bulkItem{{id: mine.id, name: lock.Name(), seen: lock}}, stage: filling}
	for what, shown := range map[string]func() string{
		"the list":    func() string { return d.view() },
		"the details": func() string { return d.m.timeFacts(mine)[0].value + "\n" + d.m.timeFacts(mine)[1].value },
		"the panel": func() string {
			for _, f := range d.m.reviewFacts() {
				if f.name == "ends" {
					return f.value
				}
			}
			return ""
		},
		"the panel of several": func() string { return strings.Join(d.m.bulkItemLines(0), "\n") },
	} {
		for _, at := range []time.Time{noon, noon.Add(100 * time.Second)} {
			d.m.now = at
			if text := shown(); !strings.Contains(text, "20 min") || strings.Contains(text, "19 min") || strings.Contains(text, "18 min") {
				t.Errorf("%s, %v without an answer:\n%s", what, at.Sub(lock.SampledAt), text)
			}
		}
		d.m.now = noon
	}
}
