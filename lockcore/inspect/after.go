package inspect

import (
	"context"
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
)

// After is what happened to a lock once a plan had been carried out.
type After struct {
	// Next is the lock as the next holder has it; nil: nobody took it.
	Next *Lock
	// Within is how long after the plan that was seen, at the most: the next
	// holder may have come up to Unsure earlier.
	Within, Unsure time.Duration
	// Same says that Next is held by one that the plan had removed: it put its
	// lock back, or took it anew.
	Same bool
	// Watched is how long was looked.
	Watched time.Duration
}

// The look after a release begins often, as a woken waiter comes at once, and
// slows down.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// WatchAfter looks who takes a lock next, until somebody did or ctx ends; it
// sets no limit of its own. Reading does not disturb the waiters.
func (in *Inspector) WatchAfter(ctx context.Context, p *Plan, o *Outcome) (After, error) {
	pause, before := firstLook, o.At
	for {
		locks, err := in.lookNow(ctx, p, o.Steps)
		at := time.Now()
		if next := taken(locks, p); err == nil && next != nil {
			return After{
				Next: next, Within: at.Sub(o.At), Unsure: at.Sub(before), Watched: at.Sub(o.At),
				Same: slices.ContainsFunc(next.Holders, func(h family.Holder) bool { return p.removes(h) }),
			}, nil
		}
		if ctx.Err() != nil {
			return After{Watched: at.Sub(o.At)}, nil
		}
		if err != nil {
			return After{Watched: at.Sub(o.At)}, err
		}
		before = at
		wait(ctx, pause)
		pause = min(2*pause, lastLook)
	}
}

// lookNow is a look that is not cut short by the end of the watch: it has its own time.
func (in *Inspector) lookNow(ctx context.Context, p *Plan, went []StepOutcome) ([]Lock, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepFor)
	defer cancel()
	return in.now(ctx, p, went)
}

// taken is the lock among these that somebody holds who was not to stay.
func taken(locks []Lock, p *Plan) *Lock {
	for i := range locks {
		l := &locks[i]
		if l.State == family.Held && slices.ContainsFunc(l.Holders, func(h family.Holder) bool { return p.removes(h) || !p.stays(h) }) {
			return l
		}
	}
	return nil
}

func (p *Plan) removes(h family.Holder) bool {
	return slices.ContainsFunc(p.Holders, func(x family.Holder) bool { return sameName(x, h) })
}

// stays reports whether a holder held the lock beside those that were removed.
func (p *Plan) stays(h family.Holder) bool {
	return !p.removes(h) && slices.ContainsFunc(p.Lock.Holders, func(x family.Holder) bool { return sameName(x, h) })
}
