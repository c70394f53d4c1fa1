package wire

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Plain is a release taken apart into plain commands, for a server that runs no
// scripts for this user. WATCH the keys, send Reads, ask Decide; what it returns
// goes between MULTI and EXEC. An EXEC that answers null has done nothing:
// something was touched in between, and all of it has to be asked again.
type Plain struct {
	Watch  []string
	Reads  []Call
	Decide func(replies []any) (PlainAnswer, error)
}

// PlainAnswer is what the replies say: a reply as a script would have given it
// or, with Status ReleaseDone, the commands to send. Wake is the one among them
// that tells the waiters, whose reply says how many were told; -1 for none.
type PlainAnswer struct {
	ReleaseReply
	Writes []Call
	Wake   int
}

// Plain takes a release apart. False where the script decides more than
// plain commands can: a fair lock's queue, permits, deadlines that are to be moved.
func (c Call) Plain() (Plain, bool) {
	if !c.IsRelease() || c.movesDeadlines() {
		return Plain{}, false
	}
	p := plainCall{Call: c}
	p.plan.Watch = slices.Clone(c.Keys)
	if c.Args[argReceipt] != "" {
		p.receipt = p.read("GET", c.Keys[keyReceipt])
	}
	var see func(replies []any) (ReleaseReply, []Call)
	switch c.Script {
	case scriptReleaseString:
		see = p.str()
	case scriptReleaseHash:
		see = p.hash()
	case scriptReleaseMembers:
		see = p.members()
	default:
		return Plain{}, false
	}
	guard := p.guard()
	p.plan.Decide = func(replies []any) (PlainAnswer, error) {
		return p.decide(replies, see, guard)
	}
	slices.Sort(p.plan.Watch)
	p.plan.Watch = slices.Compact(p.plan.Watch)
	return p.plan, true
}

// movesDeadlines reports whether new scores are to be made from the server's
// clock, which only a script can read and use in one step.
func (c Call) movesDeadlines() bool {
	verb := WakeVerb(c.Args[argVerb])
	return c.Script == scriptReleaseMembers && c.Args[headArgs+2] == "deadlines" && (verb == verbTTL || verb == verbHold)
}

// plainCall is a release while it is taken apart.
type plainCall struct {
	Call
	plan    Plain
	receipt func([]any) any // nil: none
}

// read adds a reading command and returns how to find its reply.
func (p *plainCall) read(name string, args ...string) func([]any) any {
	i := len(p.plan.Reads)
	p.plan.Reads = append(p.plan.Reads, Command(name, args...))
	return func(replies []any) any {
		if i >= len(replies) {
			return errors.New("wire: a reply is missing")
		}
		return replies[i]
	}
}

func (p *plainCall) decide(replies []any, see func([]any) (ReleaseReply, []Call), guard func([]any) Why) (PlainAnswer, error) {
	for _, r := range replies {
		if err, failed := r.(error); failed && !isWrongType(err) {
			return PlainAnswer{}, err
		}
	}
	if p.receipt != nil {
		if text, ok := p.receipt(replies).(string); ok {
			if told, off, _ := ReadReceipt(text); off {
				return PlainAnswer{ReleaseReply: ReleaseReply{Status: ReleaseOff, Told: ToldNobody}, Wake: -1}, nil
			} else {
				return PlainAnswer{ReleaseReply: ReleaseReply{Status: ReleaseDone, Told: told}, Wake: -1}, nil
			}
		}
	}
	reply, writes := see(replies)
	if reply.Status == ReleaseDone {
		if why := guard(replies); why != "" {
			reply = ReleaseReply{Status: ReleaseChanged, Why: why, Told: ToldNobody}
		}
	}
	if reply.Status != ReleaseDone {
		return PlainAnswer{ReleaseReply: reply, Wake: -1}, nil
	}
	return p.complete(reply, writes), nil
}

// complete adds the wake-up and the receipt to the writes.
func (p *plainCall) complete(reply ReleaseReply, writes []Call) PlainAnswer {
	a := PlainAnswer{ReleaseReply: reply, Writes: writes, Wake: -1}
	for _, c := range p.Wake().Calls() {
		if c.Name == "LPUSH" || strings.HasSuffix(c.Name, "PUBLISH") && a.Wake < 0 {
			a.Wake = len(a.Writes)
		}
		a.Writes = append(a.Writes, c)
	}
	if r := p.Receipt(); r.Key != "" {
		a.Writes = append(a.Writes, Command("SET", r.Key, strconv.FormatInt(ToldNobody, 10), "PX", lifeArg(r.LifeMS)))
	}
	return a
}

func isWrongType(err error) bool { return strings.HasPrefix(err.Error(), "WRONGTYPE") }

func wrongType(reply any) bool {
	err, ok := reply.(error)
	return ok && isWrongType(err)
}

var (
	plainDone = ReleaseReply{Status: ReleaseDone, Told: ToldNobody}
	plainGone = ReleaseReply{Status: ReleaseGone, Told: ToldNobody}
)

func plainChanged(why Why, now string) ReleaseReply {
	return ReleaseReply{Status: ReleaseChanged, Why: why, Now: Raw(now), Told: ToldNobody}
}

// guard is guard_fails of the head.
func (p *plainCall) guard() func([]any) Why {
	deadline, fence := p.Args[argDeadline], p.Args[argFence]
	var counter, left, clock func([]any) any
	if fence != "" {
		counter = p.read("GET", p.Keys[keyFence])
	}
	if deadline != "" {
		left, clock = p.read("PTTL", p.Keys[keyLock]), p.read("TIME")
	}
	return func(replies []any) Why {
		if counter != nil && counter(replies) != any(fence) {
			return WhyFence
		}
		if left == nil {
			return ""
		}
		ttl, _ := left(replies).(int64)
		seen, _ := strconv.ParseInt(deadline, 10, 64) // written by guardArg
		switch {
		case seen == GuardNoTTL && ttl < 0, seen != GuardNoTTL && ttl >= 0 && clockMS(clock(replies))+ttl <= seen+1000:
			return ""
		}
		return WhyDeadline
	}
}

// clockMS reads the answer to TIME; an answer that cannot be read is late.
func clockMS(reply any) int64 {
	parts, _ := reply.([]any)
	sec, ok1 := at[string](parts, 0)
	usec, ok2 := at[string](parts, 1)
	s, err1 := strconv.ParseInt(sec, 10, 64)
	us, err2 := strconv.ParseInt(usec, 10, 64)
	if !ok1 || !ok2 || err1 != nil || err2 != nil {
		return 1 << 60
	}
	return s*1000 + us/1000
}

// str is release_string.lua.
func (p *plainCall) str() func([]any) (ReleaseReply, []Call) {
	value := p.Args[headArgs]
	lock := p.read("GET", p.Keys[keyLock])
	same := p.Args[headArgs+1] == "same"
	var others []func([]any) any
	for _, k := range p.Keys[headKeys:] {
		if same {
			others = append(others, p.read("GET", k))
		}
	}
	return func(replies []any) (ReleaseReply, []Call) {
		switch v := lock(replies); {
		case wrongType(v):
			return plainChanged(WhyType, ""), nil
		case v == nil:
			return plainGone, nil
		case v != any(value):
			now, _ := v.(string)
			return plainChanged(WhyHolder, now), nil
		}
		writes := p.act(p.Keys[keyLock])
		for i, k := range p.Keys[headKeys:] {
			if !same || others[i](replies) == any(value) {
				writes = append(writes, p.act(k)...)
			}
		}
		return plainDone, writes
	}
}

// act is what happens to a string key: a release, or what is in its place.
func (p *plainCall) act(key string) []Call {
	switch ms := p.Args[argLife]; WakeVerb(p.Args[argVerb]) {
	case verbTTL:
		return []Call{Command("PEXPIRE", key, ms)}
	case verbHold:
		held := []Call{Command("SET", key, p.Args[argChannel], "PX", ms)}
		if key == p.Keys[keyLock] {
			held = append(held, Command("SET", p.Keys[keyList], p.Args[argMessage], "PX", ms))
		}
		return held
	}
	return []Call{Command("DEL", key)}
}
