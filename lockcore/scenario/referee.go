package scenario

import (
	"strings"
	"time"

	"fencepost/lockcore/wire"
)

// grant is one success on the server.
type grant struct {
	n       int // the order in which they were given, over all locks
	lock    string
	actor   string
	value   string // what the lock's key holds under it
	number  string
	at      time.Duration
	lease   time.Duration
	until   time.Duration // by what Redis last said
	live    bool
	met     bool // its actor has read, written or entered since
	orphan  bool // said
	forever bool // said that it is immortal
	bare    bool // said that it has no expiry
	long    bool // said that it was held longer than its lease
	undone  bool // its own actor took it back
}

// lockRecord is what the referee knows of one lock.
type lockRecord struct {
	name  string
	node  string
	live  *grant // the grant that the key stands for; nil when it is free
	free  time.Duration
	state LockState
}

// storeRecord is what the referee knows of the protected resource.
type storeRecord struct {
	value, by      string
	highest        string
	taken, refused int
	writes         []string // who wrote, in order
}

// mainLock is the lock that the story is about.
func (e *engine) mainLock() *lockRecord { return e.lockNamed(e.s.Stage.Lock) }

// lockOf is the lock as the actor names it: where callers name it, all but the
// first use another name.
func (e *engine) lockOf(a *actor) *lockRecord {
	if e.set[SwValue].Is("caller") && a.index > 0 && e.s.Stage.Other != "" {
		return e.lockNamed(e.s.Stage.Other)
	}
	return e.mainLock()
}

func (e *engine) lockNamed(name string) *lockRecord {
	l := e.locks[name]
	if l == nil {
		l = &lockRecord{name: name, node: e.s.Stage.Node}
		if e.set[SwAcquire].Is("quorum") {
			l.node = "R1"
		}
		e.locks[name] = l
	}
	return l
}

// granted notes a success on the server, whether or not its actor hears of it.
func (e *engine) granted(a *actor, l *lockRecord, value, number string, lease time.Duration) {
	g := &grant{n: len(e.grants), lock: l.name, actor: a.name, value: value, number: number, at: e.now,
		lease: lease, until: e.now + lease, live: true}
	e.endGrant(l)
	for _, old := range e.grants {
		if number != "" && old.lock == l.name && old.number != "" && !wire.LessFence(old.number, number) {
			e.broke(FenceOrder)
		}
	}
	e.grants = append(e.grants, g)
	l.live = g
	a.grant = g
	e.span(a.name, Leased, g.at, g.until)
	if a.gaveUp {
		e.orphan(g)
	}
	e.passedOver(a)
}

// numbered gives a grant its number afterwards.
func (e *engine) numbered(g *grant, number string) {
	for _, other := range e.grants {
		if other != g && other.lock == g.lock && other.number != "" &&
			(other.n > g.n) != wire.LessFence(number, other.number) {
			e.broke(FenceOrder)
		}
	}
	g.number = number
}

// endGrant notes that the key no longer stands for its grant.
func (e *engine) endGrant(l *lockRecord) {
	if l.live == nil {
		return
	}
	g := l.live
	g.live = false
	l.live = nil
	l.free = e.now
	if g.until > g.at && g.until < e.now {
		l.free = g.until
	} else {
		e.span(g.actor, Leased, g.at, e.now)
	}
}

// removed notes that the actor deleted the lock, and judges it. own is the
// grant that it may delete.
func (e *engine) removed(l *lockRecord, own *grant) {
	if l.live == nil {
		return
	}
	if l.live != own {
		e.broke(ForeignRelease)
	} else {
		own.undone = true
	}
	e.endGrant(l)
}

func (e *engine) orphan(g *grant) {
	if !g.orphan {
		g.orphan = true
		e.broke(OrphanLock)
	}
}

// newest reports whether no later grant of the same lock exists.
func (e *engine) newest(g *grant) bool {
	for _, other := range e.grants {
		if g != nil && other.lock == g.lock && other.n > g.n {
			return false
		}
	}
	return g != nil
}

// overtaken reports whether a later holder has already been at the store.
func (e *engine) overtaken(g *grant) bool {
	for _, other := range e.grants {
		if g != nil && other.lock == g.lock && other.n > g.n && other.met {
			return true
		}
	}
	return false
}

// applied notes that the store took a write, and judges it. computed: the
// actor worked it out from what it had read.
func (e *engine) applied(a *actor, computed bool) {
	if a.grant == nil && !a.inside {
		e.broke(UnlockedWork)
	}
	if e.overtaken(a.grant) {
		e.broke(StaleWrite)
	}
	if computed && a.hasRead {
		for _, by := range e.store.writes[a.readSeq:] {
			if by != a.name {
				e.broke(LostUpdate)
			}
		}
	}
	e.overtime(a)
	e.store.writes = append(e.store.writes, a.name)
	e.store.taken++
	e.met(a)
	if computed {
		a.readSeq = len(e.store.writes)
	}
}

// met notes that the actor has been at the store under its grant.
func (e *engine) met(a *actor) {
	if a.grant != nil {
		a.grant.met = true
	}
}

// highest notes the highest number that the store has seen now.
func (e *engine) highest(number string) {
	if old := e.store.highest; old != "" && wire.LessFence(number, old) {
		e.broke(FenceOrder)
	}
	e.store.highest = number
}

// refused notes that the store refused a number as too old.
func (e *engine) refused(a *actor) {
	e.count("write-refused")
	if e.newest(a.grant) {
		e.broke(FreshRefused)
	}
}

// entered takes the actor into the critical section, and judges that.
func (e *engine) entered(a *actor) {
	if a.inside {
		return
	}
	a.inside, a.lost, a.since = true, false, e.now
	e.span(a.name, Within, e.now, open)
	if a.grant == nil {
		e.broke(UnlockedWork)
		return
	}
	for _, b := range e.order {
		if b != a && b.inside && b.grant != nil && !b.crashed {
			e.broke(MutualExclusion)
		}
	}
}

// stuck looks at the rules about locks that nobody can get.
func (e *engine) stuck() {
	for _, l := range e.locks {
		g := l.live
		if g == nil || !l.state.Held {
			continue
		}
		if l.state.Forever && !g.bare {
			g.bare = true
			e.count("lock-without-ttl")
		}
		if l.state.Forever && !e.living() {
			e.immortal(g)
		}
		if !l.state.Forever && l.state.Left > 2*g.lease {
			e.orphan(g)
		}
	}
}

// observe asks Redis, unseen by the story, how the locks are.
func (e *engine) observe() {
	for _, l := range e.locks {
		e.observeLock(l)
	}
}

func (e *engine) observeLock(l *lockRecord) {
	if e.set[SwAcquire].Is("mutex") || l.node == NodeClosed {
		l.state = LockState{Known: e.set[SwAcquire].Is("mutex")}
		return
	}
	first := "GET"
	if e.set[SwAcquire].Is("hash") {
		first = "EXISTS"
	}
	if e.set[SwAcquire].Is("quorum") {
		e.observeQuorum(l)
		return
	}
	key := e.wire().keys(l.name).Lock
	replies, err := e.port.Do(e.ctx, l.node, wire.Command(first, key), wire.Command("PTTL", key))
	if err != nil || len(replies) != 2 {
		l.state = LockState{}
		if !e.down[l.node] {
			e.broken(err)
		}
		return
	}
	pttl, _ := replies[1].(int64)
	if pttl == -2 {
		l.state = LockState{Known: true}
		e.endGrant(l)
		return
	}
	value, _ := replies[0].(string)
	l.state = e.holds(l, l.node, key, value, pttl)
}

// holds is the state of a lock that is there.
func (e *engine) holds(l *lockRecord, node, key, value string, pttl int64) LockState {
	st := LockState{Known: true, Held: true, Forever: pttl == -1 || e.warp != nil && pttl >= e.warp.Net()}
	if !st.Forever {
		st.Left = e.left(node, key, pttl)
	}
	g := l.live
	if value != "" && (g == nil || !g.holds(value)) {
		for _, other := range e.grants {
			if other.holds(value) {
				g = other
			}
		}
	}
	if g == nil {
		return st
	}
	st.Holder, st.Number = g.actor, g.number
	if until := e.now + st.Left; !st.Forever && g.until != until {
		g.until = until
		e.span(g.actor, Leased, g.at, until)
	}
	return st
}

// holds reports whether the lock's key has this grant's value.
func (g *grant) holds(value string) bool {
	return value == g.value || strings.HasPrefix(value, g.value+":")
}

// left is the virtual time behind a PTTL that was answered.
func (e *engine) left(node, key string, pttl int64) time.Duration {
	if e.warp != nil {
		return e.warp.Left(node, key, pttl)
	}
	return time.Duration(pttl) * time.Millisecond
}

func (e *engine) count(s Signal) {
	if e.run == nil {
		return
	}
	if e.crowd.signals == nil {
		e.crowd.signals = make(map[Signal]int)
	}
	e.crowd.signals[s]++
}

// open is the end of a span that has not ended.
const open = time.Duration(1<<62 - 1)

func (e *engine) span(actor string, kind SpanKind, from, to time.Duration) {
	e.run.Spans = append(e.run.Spans, Span{Actor: actor, Kind: kind, From: from, To: to, Set: e.now})
}

func (e *engine) closeSpan(a *actor, kind SpanKind) {
	for i := len(e.run.Spans) - 1; i >= 0; i-- {
		if s := e.run.Spans[i]; s.Actor == a.name && s.Kind == kind {
			e.span(a.name, kind, s.From, e.now)
			return
		}
	}
}
