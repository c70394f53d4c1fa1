package inspect

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Plan is what will be done to one lock: made once, from that lock as it was
// seen. It can be shown, printed and written down; Run sends exactly these
// steps, or nothing.
type Plan struct {
	Act     Act
	Lock    Lock
	Holders []family.Holder // to be removed, or whose lease is to be set
	Steps   []Step
	// Guard says by what the acquisition that was seen is told from a later one.
	// Weak: by less than the holder's own id.
	Guard Guard
	Weak  bool
	// Said are sentences on what this plan cannot do, for the operator to read
	// before it runs.
	Said  []string
	hold  hold
	lifts bool // it gives up an operator's hold
}

// Act is what a plan does.
type Act int

// The acts. All of them compare first, and alike.
const (
	Release Act = iota
	SetTTL
	Hold
)

// Step is one command of a plan, what it does, and where it is sent.
type Step struct {
	family.Step
	Node string // host:port; in a Cluster it may have moved
	DB   int
	// After says that the step completes an earlier one: it is sent only when
	// that one did what it should.
	After bool
}

// Guard is what tells one acquisition from the next by the same holder.
type Guard int

// ByHolder: the id names one acquisition and no other. ByFence, ByDeadline: it
// does not, and the fencing number, or the deadline, is compared too; by the
// deadline a later acquisition is told from this one only if its lease ends
// more than a second later. ByNothing: it does not, and the lock has neither.
const (
	ByHolder Guard = iota
	ByFence
	ByDeadline
	ByNothing
)

// String says the guard in one sentence; "" for ByHolder, which needs none.
func (g Guard) String() string {
	switch g {
	case ByFence:
		return "weaker guard: this holder's id can come again, so the fencing number is compared too"
	case ByDeadline:
		return "weaker guard: this holder's id can come again, so the deadline is compared too (to a second)"
	case ByNothing:
		return "no guard: this holder's id can come again, and nothing here tells one acquisition from the next"
	}
	return ""
}

// Errors of the plans.
var (
	// ErrNoRelease: this lock can be looked at only; the text says why.
	ErrNoRelease = errors.New("inspect: this lock cannot be released from here")
	// ErrNotHolder: a holder that was named does not hold the lock.
	ErrNotHolder = errors.New("inspect: named holder does not hold the lock")
)

// CanRelease reports whether a plan can be made, else why not.
func (l *Lock) CanRelease() (bool, string) {
	if l.source == nil {
		return false, "this lock was not read from a server"
	}
	f := l.found.Family
	switch {
	case l.reading.NoRelease != "":
		return false, l.reading.NoRelease
	case f.Release == nil && f.NoRelease != "":
		return false, f.NoRelease
	case f.Release == nil:
		return false, f.Label + " locks can be looked at only"
	case len(l.Holders) == 0 && len(f.Release(&family.Target{Facts: l.facts, Reading: l.reading})) == 0:
		return false, "nobody holds it"
	}
	return true, ""
}

// PlanRelease makes the plan that removes these holders from a lock as it was
// seen; no holders means all of them.
func (in *Inspector) PlanRelease(l Lock, holders ...wire.Raw) (Plan, error) {
	p, err := in.plan(Release, l, holders)
	if err != nil {
		return Plan{}, err
	}
	if l.Family == unknownFamily {
		p.wakeUnknown(l, in.cluster(l.Node))
	}
	return p, in.route(&p)
}

const unknownFamily = "unknown"

// wakeUnknown adds the wake-up of the one library among the candidates whose
// waiters nobody else would ever wake. It is no part of the release: a user who
// may not write that list may release all the same. Across the slots of a Cluster
// that library cannot release, so that it is not used there.
func (p *Plan) wakeUnknown(l Lock, cluster bool) {
	wake, ok := family.SignalWake(string(l.Key), l.Candidates)
	if !ok || cluster && slotOf(wake.Target) != slotOf(string(l.Key)) {
		p.Said = append(p.Said, "its library is not known: nothing is known of its waiters, and none can be woken")
		return
	}
	p.Said = append(p.Said, "its library is not known: the waiters of python-redis-lock are woken, should it be that; of others nothing is known")
	says := "should it be python-redis-lock: put one element on the list that the waiters block on"
	for _, c := range wake.Calls() {
		p.Steps = append(p.Steps, Step{Step: family.Step{Call: c, Says: says}, Node: l.Node, DB: l.DB, After: true})
		says = "let that element be gone after a second, should nobody have taken it"
	}
}

// plan asks the family for the steps of a release, which all acts share.
func (in *Inspector) plan(act Act, l Lock, holders []wire.Raw) (Plan, error) {
	if ok, why := l.CanRelease(); !ok {
		return Plan{}, fmt.Errorf("%w: %s", ErrNoRelease, why)
	}
	p := Plan{Act: act, Lock: l, Holders: l.Holders}
	if len(holders) > 0 {
		p.Holders = nil
		for _, id := range holders {
			h, err := l.Named(id)
			if err != nil {
				return Plan{}, err
			}
			if !slices.ContainsFunc(p.Holders, func(x family.Holder) bool { return sameName(x, h) }) {
				p.Holders = append(p.Holders, h)
			}
		}
	}
	target := &family.Target{Facts: l.facts, Reading: l.reading, Holders: p.Holders, Split: in.cluster(l.Node)}
	for _, step := range l.found.Family.Release(target) {
		p.Steps = append(p.Steps, Step{Step: step, Node: l.Node, DB: l.DB})
	}
	if len(p.Steps) == 0 {
		return Plan{}, fmt.Errorf("%w: %s", ErrNoRelease, "what was read of it does not tell how to remove exactly this holder")
	}
	p.guard()
	return p, nil
}

// Named is the holder that is meant by a name: its id, or, where its library gives
// it none, what it is called ("permit 1"). The error is ErrNotHolder, also where
// no name is given and several have none.
func (l *Lock) Named(name wire.Raw) (family.Holder, error) {
	var found []family.Holder
	for _, h := range l.Holders {
		if h.ID == name || h.ID == "" && h.Label == string(name) {
			found = append(found, h)
		}
	}
	switch {
	case len(found) == 0:
		return family.Holder{}, fmt.Errorf("%w: %s", ErrNotHolder, name)
	case len(found) > 1 && name == "" && !sameName(found[0], found[1]):
		return family.Holder{}, fmt.Errorf("%w: none of them has an id; say which by what it is called, as %q", ErrNotHolder, found[0].Label)
	}
	return found[0], nil
}

// sameName reports whether two entries name one holder.
func sameName(a, b family.Holder) bool { return a.ID == b.ID && (a.ID != "" || a.Label == b.Label) }

// Exactly makes a plan that asks, where the server can tell, that nobody hold the
// lock beside those who are to go: one who joins them after the look is a
// surprise, not a bystander.
func (p Plan) Exactly() Plan {
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		s := &p.Steps[i]
		// What lies there besides the holders (a member whose time is over) was
		// there when it was looked at, and is no surprise.
		if m := p.Lock.facts.Main; s.Call.Lock() == m.Key && int64(s.Call.Names()) == m.Len {
			s.Call = s.Call.Exactly()
		}
	}
	return p
}

// guard adds to each step what is compared besides the holder, where the
// holder's id does not name one acquisition.
func (p *Plan) guard() {
	if !p.Lock.reading.Weak {
		return
	}
	p.Weak = true
	for i := range p.Steps {
		s := &p.Steps[i]
		g, how := p.Lock.guard(s.Call.Lock())
		s.Call = s.Call.WithGuard(g)
		p.Guard = max(p.Guard, how)
	}
}

// guard is what was seen of a key that a later holder of the same name will
// change: the fence, else the key's deadline by the server's clock.
func (l *Lock) guard(key string) (wire.Guard, Guard) {
	if fence := l.reading.FenceKey; fence != "" {
		if c := l.facts.Key(fence); c.Type == family.String && c.Whole && wire.ValidFence(c.Value) {
			return wire.Guard{FenceKey: fence, Fence: c.Value}, ByFence
		}
	}
	sample := l.facts.Main
	if key != sample.Key {
		sample = l.facts.Key(key)
	}
	switch {
	case l.reading.NoTTL, sample.Type == family.None, sample.PTTL == family.Gone:
		return wire.Guard{}, ByNothing
	case sample.PTTL < 0:
		// That a lock still has no TTL tells nothing of who took it; a TTL that it
		// has now tells that somebody else did.
		return wire.Guard{DeadlineMS: wire.GuardNoTTL}, ByNothing
	}
	return wire.Guard{DeadlineMS: l.facts.NowMS() + sample.PTTL}, ByDeadline
}

// Join makes one plan of several, for one lock that is kept on several masters
// at once: each step compares and acts on its own master.
func Join(plans ...Plan) Plan {
	if len(plans) == 0 {
		return Plan{}
	}
	joined := plans[0]
	joined.Steps, joined.Holders, joined.Said = nil, nil, nil
	for _, p := range plans {
		joined.Steps = append(joined.Steps, p.Steps...)
		joined.Guard, joined.Weak = max(joined.Guard, p.Guard), joined.Weak || p.Weak
		for _, h := range p.Holders {
			if !slices.ContainsFunc(joined.Holders, func(x family.Holder) bool { return sameName(x, h) }) {
				joined.Holders = append(joined.Holders, h)
			}
		}
		for _, s := range p.Said {
			if !slices.Contains(joined.Said, s) {
				joined.Said = append(joined.Said, s)
			}
		}
	}
	if len(plans) > 1 {
		joined.Said = append(joined.Said, fmt.Sprintf("the lock is kept on %d masters: each is asked on its own, one after the other", len(plans)))
	}
	return joined
}

// Life is the lease that a plan gives: of SetTTL and Hold, else 0.
func (p *Plan) Life() time.Duration { return time.Duration(p.hold.life) * time.Millisecond }

// Lines are the steps as one would paste them into a shell.
func (p *Plan) Lines() []string {
	lines := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		lines[i] = s.Call.String()
	}
	return lines
}

// Consequence is one sentence on what the plan means for whoever holds the lock
// now.
func (p *Plan) Consequence() string {
	switch {
	case p.lifts:
		return "The next one may begin at once; whoever was put out of its place may still be at work."
	case p.Act == SetTTL:
		return "If the holder does not renew it, the lock ends then, whether or not the work is done."
	case p.Lock.State == family.Free:
		return "Nobody holds it; only what is left of those who waited is cleaned up."
	case p.Lock.State == family.Lapsed:
		return "Its own library already takes this lock for free."
	case p.Lock.State == family.Cooling:
		return "The work is done; the lock stays on purpose to keep the next run away for a while."
	case p.Act == Hold:
		return "If the holder is still at work, nothing here can stop its writes; but nobody else begins until the hold is lifted."
	case p.Lock.Fence != "":
		return "If the holder is still at work, two may act at once; a resource that compares fencing tokens will refuse the older one, but only after it has seen a newer one."
	}
	return "If the holder is still at work, two may act at once; nothing here can stop its writes."
}
