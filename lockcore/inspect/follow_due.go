package inspect

import (
	"container/heap"
	"time"

	"fencepost/lockcore/inspect/family"
)

// row is a lock in a tracker's hands. Several locks in the fields of one hash
// hang together.
type row struct {
	w     *Watched
	learn *rhythm
	due   int64 // when its deadline is to be checked, Unix nanoseconds; 0: never
	tries int   // checks in vain: it is over, and still there
	vague int   // looks that left its deadline less sure than it could be
	at    int   // its place in the tracker's list
	next  *row
	seat  Seat

	// What a second look needs, also where the lock is kept slim.
	fam       *family.Family
	companion bool // only a companion told of it
	partial   bool // a field of a hash that is too large to be read whole
}

// found is what is known of a lock before it is read again.
func (r *row) found() family.Found {
	if r.w.source != nil {
		return r.w.source.found
	}
	claim := family.Claim{Field: string(r.w.Field), Companion: r.companion, Confidence: r.w.Confidence, Candidates: r.w.Candidates}
	return family.Found{Family: r.fam, Claim: claim, Key: string(r.w.Key), Field: string(r.w.Field)}
}

// probe is how to read it again.
func (r *row) probe() probe {
	p := probe{key: string(r.w.Key), kind: r.w.Type}
	if r.w.Type == family.None {
		p.kind = ""
	}
	if r.partial {
		p.big, p.fields = true, []string{string(r.w.Field)}
	}
	return p
}

// learnSource keeps what a second look needs.
func (r *row) learnSource(l *Lock) {
	if l.source == nil {
		return
	}
	r.fam, r.companion = l.found.Family, l.found.Claim.Companion
	r.partial = l.HasField && !l.facts.Main.Whole
}

// dueHeap has the locks whose deadlines come next. Expiries are told late or
// never by a server with many keys, so each is looked at when its time is over.
// An entry is out of date when its row says another moment.
type dueHeap []dueAt

type dueAt struct {
	at  int64
	row *row
}

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop are for container/heap.
func (h *dueHeap) Push(x any) { *h = append(*h, x.(dueAt)) }

// Pop removes the last entry.
func (h *dueHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = dueAt{}
	*h = old[:len(old)-1]
	return x
}

// schedule has a row looked at when its deadline has passed for certain.
func (h *dueHeap) schedule(r *row, now time.Time) {
	r.due = 0
	end, ok := r.w.ends()
	if !ok || end.Sub(now) > maxDeadline/2 { // beyond it nanoseconds overflow
		return
	}
	at := end.Add(r.w.Uncertainty + 2*time.Millisecond)
	if at.After(now) {
		r.tries = 0
	} else {
		// It is over and still there: a replica waits for its master, and some
		// libraries leave what they take for free.
		r.tries++
		at = now.Add(min(5*time.Second, 50*time.Millisecond<<min(r.tries, 10)))
	}
	r.due = at.UnixNano()
	heap.Push(h, dueAt{r.due, r})
}

// again has a row looked at at a moment, whatever its deadline.
func (h *dueHeap) again(r *row, at time.Time) {
	r.due = at.UnixNano()
	heap.Push(h, dueAt{r.due, r})
}

// over takes out the rows that are due; next is when the next one is, zero if
// none.
func (h *dueHeap) over(now time.Time, most int) (rows []*row, next time.Time) {
	limit := now.UnixNano()
	for len(*h) > 0 {
		top := (*h)[0]
		switch {
		case top.row.due != top.at:
			heap.Pop(h)
		case top.at > limit || len(rows) >= most:
			return rows, time.Unix(0, top.at)
		default:
			heap.Pop(h)
			top.row.due = 0
			rows = append(rows, top.row)
		}
	}
	return rows, time.Time{}
}

// tidy drops what is out of date, where that is most of the heap.
func (h *dueHeap) tidy(rows int) {
	if len(*h) < 2*rows+1000 {
		return
	}
	kept := (*h)[:0]
	for _, d := range *h {
		if d.row.due == d.at {
			kept = append(kept, d)
		}
	}
	clear((*h)[len(kept):])
	*h = kept
	heap.Init(h)
}
