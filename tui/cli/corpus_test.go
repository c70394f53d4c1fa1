package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// Every captured lock, put back into a real server, must be listed as what it
// is; and no ordinary key as a lock.
func TestListReadsTheCorpus(t *testing.T) {
	s := redistest.Start(t)
	var locks, right int
	for _, c := range redistest.Corpus(t) {
		t.Run(c.ID, func(t *testing.T) {
			c.Restore(t, s)
			args := []string{"list", "--json", "-p", strconv.Itoa(s.Port)}
			if c.Expect.IsLock {
				args = append(args, "--possible") // some locks leave only a shape
			}
			r := run(t, nil, args...)
			var doc listDoc
			if err := json.Unmarshal([]byte(r.out), &doc); err != nil || r.code != exitOK {
				t.Fatalf("exit %d, %v: %s", r.code, err, r.err)
			}
			bad := judge(t, &c, doc.Locks)
			if c.Expect.Alive() {
				locks++
			}
			switch excuse := c.Excuse(); {
			case len(bad) == 0 && c.Expect.Alive():
				right++
			case len(bad) > 0 && excuse == "":
				t.Error(strings.Join(bad, "; "))
			}
		})
	}
	t.Logf("%d of %d live locks right", right, locks)
	if right*100 < locks*98 {
		t.Errorf("%d of %d live locks are right: fewer than 98 of 100", right, locks)
	}
}

// judge says what is wrong with the rows of a capture.
func judge(t *testing.T, c *redistest.Capture, rows []lockDoc) []string {
	e := &c.Expect
	if !e.IsLock {
		return judgeOrdinary(c, rows)
	}
	i := slices.IndexFunc(rows, func(d lockDoc) bool {
		key := wire.Escape(e.LockKey)
		return e.LockKey == "" || d.Key == key || slices.Contains(d.Companions, key)
	})
	if i < 0 {
		if !e.Alive() {
			return nil // what is left over need not be a row
		}
		return []string{"not listed"}
	}
	d := &rows[i]
	var bad []string
	say := func(ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	want := c.Family()
	say(d.Family == want || d.Family == "unknown" && slices.Contains(d.Candidates, want), "family %s %v, not %s", d.Family, d.Candidates, want)
	say(d.Kind == e.Kind(), "kind %s, not %s", d.Kind, e.Kind())
	if !e.Alive() {
		say(d.State != "held", "held, though nobody does")
		return bad
	}
	say(d.State == "held" || d.State == "cooling", "state %s", d.State)
	say((e.Fence == nil) == (d.Fence == nil) && (e.Fence == nil || *d.Fence == fmt.Sprint(*e.Fence)), "fence %v, not %v", d.Fence, e.Fence)
	say(e.Waiters == nil || d.Waiters != nil && d.Waiters.Count != nil && *d.Waiters.Count == *e.Waiters, "waiters %+v", d.Waiters)
	say(e.Persistent == nil || d.Persistent == *e.Persistent, "persistent %v", d.Persistent)
	say(d.Persistent == (d.TTLMS == nil), "persistent %v and ttl_ms %v", d.Persistent, d.TTLMS)
	judgeHolders(t, e, d, say)
	return bad
}

func judgeHolders(t *testing.T, e *redistest.Expected, d *lockDoc, say func(bool, string, ...any)) {
	var want, got []string
	for _, id := range e.Holders(t) {
		want = append(want, wire.Escape(id))
	}
	counts := map[string]int64{}
	for _, h := range d.Holders {
		counts[h.ID] = h.Count
		if h.ID != "" {
			got = append(got, h.ID)
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
}

func judgeOrdinary(c *redistest.Capture, rows []lockDoc) []string {
	var bad []string
	for _, d := range rows {
		excused := c.Ambiguous() && d.Confidence == "likely" && family.SmellsLikeLock(d.Key)
		if d.State != "free" && d.Confidence != "possible" && !excused {
			bad = append(bad, fmt.Sprintf("%s taken for a lock: %s %s", d.Key, d.Confidence, d.Family))
		}
	}
	return bad
}
