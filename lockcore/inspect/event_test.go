package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

var t0 = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// aLock is a mutex held by holder, sampled after some seconds with so many
// milliseconds left; ttl < 0: without expiry. An empty holder: nobody.
func aLock(after float64, holder string, ttl int64) *Lock {
	l := &Lock{
		Key: "k", Kind: family.Mutex, State: family.Held, SampledAt: t0.Add(time.Duration(after * float64(time.Second))),
		Uncertainty: time.Millisecond,
	}
	if holder == "" {
		l.State = family.Free
	}
	for h := range strings.FieldsSeq(holder) {
		l.Holders = append(l.Holders, family.Holder{ID: wire.Raw(h), Count: 1})
	}
	l.Persistent = ttl < 0
	if ttl >= 0 {
		l.TTL, l.Deadline = ttl, deadlineAfter(l.SampledAt, ttl)
	}
	return l
}

// brief is events in one line: "released(A) acquired(B)~", where ~ is inferred.
func brief(events []Event) string {
	var out []string
	for _, e := range events {
		text := string(e.Kind) + "("
		switch {
		case e.Previous.Known && e.Holder.Known:
			text += string(e.Previous.ID + ">" + e.Holder.ID)
		case e.Previous.Known:
			text += string(e.Previous.ID)
		case e.Holder.Known:
			text += string(e.Holder.ID)
		default:
			text += "?"
		}
		text += ")"
		if e.Inferred {
			text += "~"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestDiff(t *testing.T) {
	told := func(events string) witness { return witness{told: strings.Fields(events), whole: true, touched: true} }
	emptied := func(events string) witness { w := told(events); w.emptied = true; return w }
	for _, c := range []struct {
		name      string
		prev, cur *Lock
		w         witness
		at        float64 // seconds after t0
		want      string
	}{
		{"taken", nil, aLock(1, "A", 9000), witness{touched: true}, 1, "acquired(A)"},
		{"found by a scan", nil, aLock(1, "A", 9000), witness{rescan: true}, 1, "acquired(A)~"},
		{"taken after a gap", nil, aLock(1, "A", 9000), witness{gap: "lost"}, 1, "acquired(A)~"},
		{"free before", aLock(0, "", -1), aLock(1, "A", 9000), witness{}, 1, "acquired(A)"},
		{"nothing happened", aLock(0, "A", 10000), aLock(1, "A", 9000), witness{}, 1, ""},
		{"within what looks may differ by", aLock(0, "A", 10000), aLock(1, "A", 9003), witness{}, 1, ""},
		{"renewed", aLock(0, "A", 10000), aLock(4, "A", 9900), witness{}, 4, "renewed(A)"},
		{"shortened", aLock(0, "A", 10000), aLock(1, "A", 100), witness{}, 1, "renewed(A)"},
		{"given an expiry", aLock(0, "A", -1), aLock(1, "A", 100), witness{}, 1, "renewed(A)"},
		{"persisted", aLock(0, "A", 10000), aLock(1, "A", -1), witness{}, 1, "lost-expiry(A)"},
		{"gone early", aLock(0, "A", 10000), nil, witness{touched: true}, 1, "released(A)~"},
		{"gone late", aLock(0, "A", 10000), nil, witness{}, 10.5, "expired(A)~"},
		{"gone early, with evictions", aLock(0, "A", 10000), nil, witness{evicted: true}, 1, "gone(A)"},
		{"gone late, with evictions", aLock(0, "A", 10000), nil, witness{evicted: true}, 10.1, "expired(A)~"},
		{"gone in a gap", aLock(0, "A", 10000), nil, witness{gap: "lost"}, 1, "gone(A)"},
		{"over in a gap", aLock(0, "A", 10000), nil, witness{gap: "lost"}, 11, "expired(A)~"},
		{"without expiry and gone", aLock(0, "A", -1), nil, witness{}, 99, "released(A)~"},
		{"flushed", aLock(0, "A", 10000), nil, witness{flushed: true}, 1, "flushed(A)"},
		{"ended by us, and taken at once", aLock(0, "A", 10000), aLock(1, "B", 9000), witness{forced: &act{}}, 1, "force-released(A) acquired(B)"},
		{"taken for an operator", aLock(0, "A", 10000), aLock(1, "B", 9000), witness{forced: &act{}, hold: true}, 1, "held-by-operator(A>B)"},
		{"ended by us", aLock(0, "A", 10000), nil, witness{forced: &act{}}, 1, "force-released(A)"},
		{"ended after an act on another", aLock(0, "B", 10000), nil, witness{touched: true, forced: &act{of: []wire.Raw{"A"}}}, 1, "released(B)~"},
		{"free again", aLock(0, "A", 10000), aLock(1, "", -1), witness{}, 1, "released(A)~"},
		{"other holder", aLock(0, "A", 10000), aLock(1, "B", 9000), witness{}, 1, "handed-over(A>B)"},
		{"other holder, no expiry", aLock(0, "A", 10000), aLock(1, "B", -1), witness{}, 1, "handed-over(A>B) lost-expiry(B)"},
		{"a reader came", aLock(0, "A", 10000), aLock(1, "A B", 9000), witness{}, 1, "acquired(B)"},
		{"a reader left", aLock(0, "A B", 10000), aLock(1, "B", 9000), witness{}, 1, "released(A)~"},
		{"readers changed", aLock(0, "A B", 10000), aLock(1, "B C", 9900), witness{}, 1, "released(A)~ acquired(C) renewed(B)"},

		{"deleted, and its database was emptied", aLock(0, "A", 10000), nil, witness{told: []string{"del"}, flushed: true}, 1, "gone(A)"},
		{"told, not whole: replaced, and deleted", aLock(0, "A", 10000), nil, witness{told: strings.Fields("set expire del")}, 1, "gone(A)"},
		{"told, not whole: two ends", aLock(0, "A", 10000), nil, witness{told: strings.Fields("del set expire expired")}, 1, "gone(A)"},

		{"told: taken", nil, aLock(1, "A", 9000), told("set expire"), 1, "acquired(A)"},
		{"told: hash taken", nil, aLock(1, "A", 9000), told("hincrby expire"), 1, "acquired(A)"},
		{"told: renewed", aLock(0, "A", 10000), aLock(4, "A", 9900), told("expire"), 4, "renewed(A)"},
		{"told: renewed twice", aLock(0, "A", 10000), aLock(4, "A", 9900), told("expire expire"), 4, "renewed(A) renewed(A)"},
		{"told: released", aLock(0, "A", 10000), nil, told("del"), 1, "released(A)"},
		{"told: hash released", aLock(0, "A", 10000), nil, told("hdel del"), 1, "released(A)"},
		{"told: one field for another", aLock(0, "A", 10000), aLock(1, "B", 9000), told("hset hdel expire"), 1, "handed-over(A>B)"},
		{"told: expired", aLock(0, "A", 10000), nil, told("expired"), 11, "expired(A)"},
		{"told: evicted", aLock(0, "A", 10000), nil, told("evicted"), 1, "evicted(A)"},
		{"told: renamed", aLock(0, "A", 10000), nil, told("rename_from"), 1, "gone(A)"},
		{"told: persisted", aLock(0, "A", 10000), aLock(1, "A", -1), told("persist"), 1, "lost-expiry(A)"},
		{"told: released and taken", aLock(0, "A", 10000), aLock(1, "B", 9000), told("del set expire"), 1, "released(A) acquired(B)"},
		{"told: expired and taken", aLock(0, "A", 10000), aLock(11, "B", 9000), told("expired set expire"), 11, "expired(A) acquired(B)"},
		{"told: overwritten", aLock(0, "A", 10000), aLock(1, "B", 9000), told("set expire"), 1, "overwritten(A>B)"},
		{"told: overwritten, expiry wiped", aLock(0, "A", 10000), aLock(1, "B", -1), told("set"), 1, "overwritten(A>B) lost-expiry(B)"},
		{"told: written anew by the same", aLock(0, "A", 10000), aLock(1, "A", 10000), told("set expire"), 1, "renewed(A)"},
		{"told: written anew twice, by whom is not seen", aLock(0, "A", 10000), aLock(1, "A", 10000), told("set expire persist set expire"), 1,
			"overwritten(A)~ lost-expiry(?) overwritten(A)~"},
		{"told: overwritten, persisted", aLock(0, "A", 10000), aLock(1, "B", -1), told("set expire persist"), 1, "overwritten(A>B) lost-expiry(B)"},
		{"told: overwritten by somebody not seen", aLock(0, "A", 10000), nil, told("set expire del"), 1, "overwritten(A)~ released(?)"},
		{"told: overwritten, perhaps after a flush", aLock(0, "A", 10000), aLock(1, "B", 9000), emptied("set expire"), 1, "overwritten(A>B)~"},
		{"told: deleted, perhaps after a flush", aLock(0, "A", 10000), nil, emptied("hincrby expire del"), 1, "gone(A)"},
		{"told: a member and a mark", nil, aLock(1, "A", 9000), told("zadd zadd expire"), 1, "acquired(A)"},
		{"told: taken again", aLock(0, "A", 10000), aLock(1, "A", 30000), told("hincrby expire"), 1, ""},
		{"told: lived for milliseconds", nil, nil, told("set expire del"), 1, "acquired(?) released(?)"},
		{"told: another in between", aLock(0, "A", 10000), aLock(1, "C", 9000), told("del set expire del set expire"), 1,
			"released(A) acquired(?) released(?) acquired(C)"},
		{"told: given back and taken by the same", aLock(0, "A", 10000), aLock(1, "A", 9500), told("del set expire"), 1,
			"released(A) acquired(A)"},
		{"told: what contradicts the looks", aLock(0, "A", 10000), nil, told("expire"), 1, "released(A)~"},
		{"told, not whole: deleted", aLock(0, "A", 10000), nil, witness{told: []string{"del"}}, 1, "released(A)"},
		{"told, not whole: deleted when over", aLock(0, "A", 10000), nil, witness{told: []string{"del"}}, 11, "expired(A)~"},
		{"told: deleted by us", aLock(0, "A", 10000), nil, witness{told: []string{"del"}, whole: true, forced: &act{}}, 1, "force-released(A)"},
		{"told: taken for the operator", aLock(0, "A", 10000), aLock(1, "op", 9000),
			witness{told: []string{"set", "expire"}, whole: true, forced: &act{}, hold: true}, 1, "held-by-operator(A>op)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.w.at = t0.Add(time.Duration(c.at * float64(time.Second)))
			c.w.key = &Lock{Key: "k"}
			got := diff(c.prev, c.cur, &c.w)
			if brief(got) != c.want {
				t.Errorf("%s\nwant %s", brief(got), c.want)
			}
			for _, e := range got {
				if e.Key != "k" || e.At != c.w.at {
					t.Errorf("incomplete: %+v", e)
				}
			}
		})
	}
}

// Over a slow way a renewal and the end may both be told before anybody could
// look: the lock went with the last that was told, not with the first.
func TestEndIsDatedByTheLastThatWasTold(t *testing.T) {
	w := &witness{at: t0.Add(4 * time.Second), last: t0.Add(10*time.Second + time.Millisecond), touched: true}
	got := diff(aLock(0, "A", 10_000), nil, w)
	if brief(got) != "expired(A)~" || !got[0].At.Equal(w.last) || got[0].PrevTTL != 0 {
		t.Errorf("%+v", got)
	}
	told := tidings{first: t0.Add(9 * time.Second), last: t0.Add(10 * time.Second)}
	m := &mark{tidings: tidings{first: t0, last: t0}} // waits for a look of which nothing told
	m.tell(&told)
	if m.first != told.first || m.last != told.last || !m.tracked {
		t.Errorf("%+v", m)
	}
	later := tidings{first: t0.Add(11 * time.Second), last: t0.Add(11 * time.Second)}
	if m.tell(&later); m.first != told.first || m.last != later.last {
		t.Errorf("%+v", m)
	}
}

func TestEventsCarryTheTTLBeforeAndAfter(t *testing.T) {
	w := &witness{at: t0.Add(4 * time.Second)}
	e := diff(aLock(0, "A", 10_000), aLock(4, "A", 9_900), w)[0]
	if e.PrevTTL != 6_000 || e.TTL != 9_900 {
		t.Errorf("before %d, after %d", e.PrevTTL, e.TTL)
	}
	if e = diff(aLock(0, "A", 10_000), nil, w)[0]; e.PrevTTL != 6_000 || e.TTL != family.Gone {
		t.Errorf("before %d, after %d", e.PrevTTL, e.TTL)
	}
	if e = diff(aLock(0, "A", 10_000), aLock(4, "A", -1), w)[0]; e.TTL != family.NoTTL {
		t.Errorf("after %d", e.TTL)
	}
}

func TestFenceTellsOfAcquisitionsThatWereNotSeen(t *testing.T) {
	prev, cur := aLock(0, "A", 10_000), aLock(1, "B", 9_000)
	for _, c := range []struct{ before, after, want string }{
		{"34", "35", ""},
		{"34", "37", "its fence went from 34 to 37: 2 acquisitions between were not seen"},
		{"9007199254740993", "9007199254740995", "its fence went from 9007199254740993 to 9007199254740995: 1 acquisitions between were not seen"},
		{"34", "1", "its fence went back from 34 to 1"},
		{"", "1", ""},
	} {
		prev.Fence, cur.Fence = c.before, c.after
		if e := diff(prev, cur, &witness{at: cur.SampledAt})[0]; e.Note != c.want {
			t.Errorf("%s to %s: %q", c.before, c.after, e.Note)
		}
	}
}

func TestHoldersOwnDeadlines(t *testing.T) {
	permits := func(after float64, ttls ...int64) *Lock {
		l := aLock(after, "", 60_000)
		l.Kind, l.State = family.Semaphore, family.Held
		for i, ttl := range ttls {
			if ttl != 0 {
				l.Holders = append(l.Holders, family.Holder{ID: wire.Raw(fmt.Sprint("p", i)), HasTTL: true, TTL: ttl})
			}
		}
		return l
	}
	for _, c := range []struct {
		name      string
		prev, cur *Lock
		at        float64
		want      string
	}{
		{"one renewed", permits(0, 5000, 5000), permits(2, 3000, 5000), 2, "renewed(p1)"},
		{"one over", permits(0, 1000, 5000), permits(2, 0, 3000), 2, "expired(p0)~"},
		{"one given back", permits(0, 4000, 5000), permits(2, 0, 3000), 2, "released(p0)~"},
	} {
		w := &witness{at: t0.Add(time.Duration(c.at * float64(time.Second)))}
		if got := brief(diff(c.prev, c.cur, w)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRingKeepsTheNewest(t *testing.T) {
	var h history
	for i := range eventsKept + 500 {
		h.add(Event{Key: wire.Raw(fmt.Sprint("k", i%7)), Note: fmt.Sprint(i)})
	}
	events, lost := h.after(0)
	if len(events) != eventsKept || lost != 500 || events[0].Note != "500" || events[0].Seq != 501 {
		t.Errorf("%d events, %d lost, first %+v", len(events), lost, events[0])
	}
	if events, lost = h.after(h.seq - 3); len(events) != 3 || lost != 0 {
		t.Errorf("%d events, %d lost", len(events), lost)
	}
	of := h.of(&Lock{Key: "k3"})
	if len(of) < eventsKept/7 || of[0].Seq > of[1].Seq {
		t.Errorf("%d events of one lock", len(of))
	}
}
