package inspect

import (
	"fmt"
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// past is what was seen of a lock before its present hold.
type past struct {
	whole   int    // holds of which beginning and end were seen
	expired int    // those of them that were never renewed, and ended because their time was over
	fence   string // the largest that was seen
}

// pasts remembers some locks' pasts, by row id, and draws from them the warnings
// that one look cannot give.
type pasts map[string]*past

// Limits of what is remembered, and of what is concluded from it.
const (
	mostPasts   = 5000
	lastHolds   = 16 // older ones count half as much
	someExpired = 2
	longRenewed = 15 * time.Minute
	manyLeases  = 20
)

// of is what is remembered of a lock, which may be nothing yet.
func (p *pasts) of(id string) *past {
	if x := (*p)[id]; x != nil {
		return x
	}
	if *p == nil {
		*p = pasts{}
	}
	for old := range *p {
		if len(*p) < mostPasts {
			break
		}
		delete(*p, old)
	}
	x := &past{}
	(*p)[id] = x
	return x
}

// ended counts a hold that was seen from beginning to end.
func (p *pasts) ended(was *Watched, cur *Lock, events []Event) {
	if !was.Began || !was.Kind.ForWork() || len(held(&was.Lock)) != 1 || cur != nil && sameHold(&was.Lock, cur) {
		return
	}
	x := p.of(was.RowID())
	if x.whole == lastHolds {
		x.whole, x.expired = x.whole/2, x.expired/2
	}
	x.whole++
	if was.Beat == nil && slices.ContainsFunc(events, func(e Event) bool { return e.Kind == WasExpired }) {
		x.expired++
	}
}

// warn adds the warnings that a lock's past gives, and remembers its fence.
func (p *pasts) warn(w *Watched, now time.Time) {
	more := p.lints(w, now)
	if wire.ValidFence(w.Fence) {
		if x := p.of(w.RowID()); x.fence == "" || wire.LessFence(x.fence, w.Fence) {
			x.fence = w.Fence
		}
	}
	if len(more) == 0 {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(w.Warnings), func(x family.Warning) bool {
		return slices.ContainsFunc(more, func(y family.Warning) bool { return y.Code == x.Code })
	})
	w.Warnings = append(kept, more...)
}

// lints are the warnings that one look cannot give.
func (p *pasts) lints(w *Watched, now time.Time) []family.Warning {
	var out []family.Warning
	x := (*p)[w.RowID()]
	if x != nil && wire.ValidFence(x.fence) && wire.ValidFence(w.Fence) && wire.LessFence(w.Fence, x.fence) {
		out = append(out, family.Warning{Code: family.FenceBackwards, Text: "its fence is " + w.Fence + ", and " + x.fence +
			" was seen before: numbers are given twice, and a stale writer may pass a guard"})
	}
	if x != nil && x.expired >= someExpired && 2*x.expired >= x.whole {
		out = append(out, family.Warning{Code: family.ShortTTL, Text: fmt.Sprintf("of the last %d holds that were seen whole, %d ended "+
			"because their time was over, without a renewal or a release: its TTL may be shorter than the work, which then goes on without the lock", x.whole, x.expired)})
	}
	if text := w.heldLong(now); text != "" {
		out = append(out, family.Warning{Code: family.HeldLong, Text: text})
	}
	return out
}

// heldLong says that a lock is held for long, though it is renewed as it should
// be; "" where it is not.
func (w *Watched) heldLong(now time.Time) string {
	if w.Beat == nil || w.Beat.Renewals < manyLeases || !w.Kind.ForWork() || len(w.Holders) != 1 {
		return ""
	}
	since, _ := w.HeldSince()
	if held := now.Sub(since); !since.IsZero() && held >= longRenewed && held >= manyLeases*w.Beat.Lease {
		return fmt.Sprintf("held for more than %s, though renewed all the time: a renewal that goes on by itself keeps a lock whose work has ended", SpanOf(held.Truncate(longRenewed)))
	}
	return ""
}

// note writes warnings that are new into the last of the events that brought them.
func (pasts) note(events []Event, before, after []family.Warning) {
	if len(events) == 0 {
		return
	}
	e := &events[len(events)-1]
	for _, w := range after {
		switch {
		case w.Code != family.ShortTTL && w.Code != family.HeldLong, e.Note != "":
		case !slices.ContainsFunc(before, func(x family.Warning) bool { return x.Code == w.Code }):
			e.Note = w.Text
		}
	}
}
