package inspect

import (
	"errors"
	"fmt"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// The shortest and the longest lease that can be given to a lock.
const (
	MinTTL = time.Second
	MaxTTL = 366 * 24 * time.Hour
)

// ErrTTL says that a lease cannot be given, and why.
var ErrTTL = errors.New("inspect: no such TTL can be set")

// CheckTTL refuses what would not be a lease, as ErrTTL. Redis takes 0 and less as
// an order to delete, and so would a moment that has passed when it arrives.
func CheckTTL(ttl time.Duration) error {
	switch {
	case ttl <= 0:
		return fmt.Errorf("%w: 0 or less would delete the lock, without waking who waits; release it instead", ErrTTL)
	case ttl < MinTTL:
		return fmt.Errorf("%w: less than a second is as good as deleting it, without waking who waits; release it instead", ErrTTL)
	case ttl > MaxTTL:
		return fmt.Errorf("%w: more than a year is no lease", ErrTTL)
	}
	return nil
}

// PlanTTL makes the plan that lets a lock expire in ttl, if it is still as it was
// seen: it gives it an expiry, shortens or extends it. The whole lock's TTL is
// set, whoever of several holders is named: naming some compares only those.
func (in *Inspector) PlanTTL(l Lock, ttl time.Duration, holders ...wire.Raw) (Plan, error) {
	if err := CheckTTL(ttl); err != nil {
		return Plan{}, err
	}
	if why := l.noTTL(); why != "" {
		return Plan{}, fmt.Errorf("%w: %s", ErrTTL, why)
	}
	p, err := in.plan(SetTTL, l, holders)
	if err != nil {
		return Plan{}, err
	}
	wake := p.Steps[0].Call.WithPublish(in.publish(l.Node)).Wake()
	for i := range p.Steps {
		s := &p.Steps[i]
		var ok bool
		if s.Call, ok = s.Call.WithTTL(ttl.Milliseconds()); !ok {
			return Plan{}, fmt.Errorf("%w: its library does not keep the lock's time in a TTL", ErrTTL)
		}
		s.Says = "let the lock expire in " + SpanOf(ttl) + " if exactly this holder still has it"
	}
	p.hold.life = ttl.Milliseconds()
	if err := in.route(&p); err != nil {
		return Plan{}, err
	}
	p.tellTTL(l, ttl, wake)
	return p, nil
}

// tellTTL adds a message to those who sleep until a later end than the lock has
// now: they look again, and sleep no longer than it lasts.
func (p *Plan) tellTTL(l Lock, ttl time.Duration, wake wire.Wake) {
	later := l.Persistent || l.TTL > ttl.Milliseconds()
	switch {
	case !later || wake.Verb == wire.WakeNobody:
	case wake.Verb == wire.WakePush || wake.Verb == wire.WakeReset:
		p.Said = append(p.Said, "who waits blocks until a release: when the lock expires by itself, nobody wakes them before their own time is over")
	case l.Label == "RFairLock":
		p.Said = append(p.Said, "who waits sleeps until the end that it has read, or a release: when the lock expires earlier, nobody wakes them")
	default:
		for _, c := range wake.Calls() {
			p.Steps = append(p.Steps, Step{
				Step: family.Step{Call: c, Says: "tell who waits to look again: the lock ends earlier than they have read"},
				Node: l.Node, DB: l.DB, After: true,
			})
		}
	}
}

// noTTL says why a key's TTL is not this lock's time; "" where it is.
func (l *Lock) noTTL() string {
	switch {
	case l.source == nil:
		return "it was not read from a server"
	case l.reading.NoTTL:
		return "it is a part of a key that holds other things, which would go with it"
	case l.reading.TTLKey != "" && l.reading.TTLKey != string(l.Key):
		return "its library keeps the lock's time in another key"
	case !l.reading.Deadline.IsZero() && l.Type == family.String:
		return "its deadline stands in its value, by which the holder knows its lock: it cannot be changed without taking the lock from it"
	case !l.reading.Deadline.IsZero() && l.Type != family.ZSet:
		return "its deadline stands in a field, and its library goes by that, not by a TTL"
	case l.State != family.Held:
		return "nobody holds it"
	}
	return ""
}
