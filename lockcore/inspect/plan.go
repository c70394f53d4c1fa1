package inspect

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Plan is what a release will do: made once, from one Lock as it was seen. It
// can be shown and printed; Run sends exactly these steps, or nothing.
type Plan struct {
	Lock    Lock
	Holders []family.Holder // to be removed
	Steps   []family.Step
	// Weak says that the holder's id does not identify one acquisition, so that
	// the deadline is compared too: a later acquisition is told from this one
	// only if its lease ends more than a second later.
	Weak    bool
	receipt wire.Receipt
}

// Errors of PlanRelease.
var (
	// ErrNoRelease: this lock can be looked at only; the text says why.
	ErrNoRelease = errors.New("inspect: this lock cannot be released from here")
	// ErrNotHolder: a holder that was named does not hold the lock.
	ErrNotHolder = errors.New("inspect: named holder does not hold the lock")
)

// PlanRelease makes the plan that removes these holders from a lock as it was
// seen; no holders means all of them.
func (in *Inspector) PlanRelease(l Lock, holders ...wire.Raw) (Plan, error) {
	if ok, why := l.CanRelease(); !ok {
		return Plan{}, fmt.Errorf("%w: %s", ErrNoRelease, why)
	}
	p := Plan{Lock: l, Holders: l.Holders, Weak: l.reading.Weak, receipt: in.receipt(&l)}
	if len(holders) > 0 {
		p.Holders = nil
		for _, id := range holders {
			i := slices.IndexFunc(l.Holders, func(h family.Holder) bool { return h.ID == id })
			if i < 0 {
				return Plan{}, fmt.Errorf("%w: %s", ErrNotHolder, id)
			}
			p.Holders = append(p.Holders, l.Holders[i])
		}
	}
	guard := wire.Guard{}
	if p.Weak {
		guard = l.guard()
	}
	target := &family.Target{Facts: l.facts, Reading: l.reading, Holders: p.Holders, Guard: guard}
	for _, step := range l.found.Family.Release(target) {
		step.Call = step.Call.WithGuard(guard).WithReceipt(p.receipt)
		p.Steps = append(p.Steps, step)
	}
	if len(p.Steps) == 0 {
		return Plan{}, fmt.Errorf("%w: %s", ErrNoRelease, "its library gives no way to remove only this holder")
	}
	if in.cluster(l.Node) && !oneSlot(p.Steps) {
		return Plan{}, fmt.Errorf("%w: its keys lie in different slots of the Cluster, so that one step cannot compare and act", ErrNoRelease)
	}
	return p, nil
}

// guard is the deadline seen, by the server's clock: it tells a later holder of
// the same name by its later deadline.
func (l *Lock) guard() wire.Guard {
	ttl := l.facts.Main.PTTL
	if ttl < 0 {
		return wire.Guard{DeadlineMS: wire.GuardNoTTL}
	}
	return wire.Guard{DeadlineMS: l.facts.NowMS() + ttl}
}

// receiptLife is how long a receipt stays: long enough to ask for it after a
// connection was lost, short enough not to be in anybody's way.
const receiptLife = 60_000 // ms

// receiptMark is in the name of every receipt, so that a scan passes them over.
const receiptMark = ":fencepost:receipt:"

func isReceipt(key string) bool { return strings.Contains(key, receiptMark) }

// receipt names the key that proves what a release did. It begins with the
// lock's own name, so that a user who may write only some keys may write it, and
// in a Cluster it lies in the lock's slot; where no such name exists there is no
// receipt.
func (in *Inspector) receipt(l *Lock) wire.Receipt {
	key := string(l.Key)
	if in.cluster(l.Node) && hashTag(key) == "" {
		if strings.ContainsAny(key, "{}") {
			return wire.Receipt{}
		}
		key = "{" + key + "}"
	}
	return wire.Receipt{Key: key + receiptMark + rand.Text(), LifeMS: receiptLife}
}

func (in *Inspector) cluster(addr string) bool {
	return slices.ContainsFunc(in.nodes, func(n Node) bool { return n.Addr == addr && n.Cluster })
}

// hashTag is the part of a key that decides its slot, "" where all of it does.
func hashTag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	if !ok {
		return ""
	}
	tag, _, ok := strings.Cut(rest, "}")
	if !ok {
		return ""
	}
	return tag
}

// oneSlot reports whether the keys of each step share a slot as far as their
// names tell: equal hash tags, or equal names.
func oneSlot(steps []family.Step) bool {
	slot := func(key string) string {
		if tag := hashTag(key); tag != "" {
			return tag
		}
		return key
	}
	for _, s := range steps {
		for _, k := range s.Call.Keys {
			if slot(k) != slot(s.Call.Keys[0]) {
				return false
			}
		}
	}
	return true
}

// Lines are the steps as one would paste them into a shell.
func (p *Plan) Lines() []string {
	lines := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		lines[i] = s.Call.String()
	}
	return lines
}

// Consequence is one sentence on what the release means for whoever holds the
// lock now.
func (p *Plan) Consequence() string {
	switch {
	case p.Lock.State == family.Lapsed:
		return "Its own library already takes this lock for free."
	case p.Lock.State == family.Cooling:
		return "The work is done; the lock stays on purpose to keep the next run away for a while."
	case p.Lock.Fence != "":
		return "If the holder is still at work, two may act at once; a resource that compares fencing tokens will refuse the older one, but only after it has seen a newer one."
	}
	return "If the holder is still at work, two may act at once; nothing here can stop its writes."
}
