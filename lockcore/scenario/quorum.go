package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fencepost/lockcore/wire"
)

// quorumNodes are the masters of a quorum, and quorum how many of them decide.
func quorumNodes() []string { return []string{"R1", "R2", "R3", "R4", "R5"} }

const quorum = 3

// asks reports whether the actor asks this master at all: the network may keep
// it away, and one that has just come back may be kept out for a lease.
func (e *engine) asks(a *actor, node string) bool {
	return !slices.Contains(a.cutFrom, node) && e.keptOut[node] <= e.now
}

// acquireQuorum asks five masters, and holds the lock when three agree. With
// fewer it gives back what it got, as the algorithm has it.
func (e *engine) acquireQuorum(a *actor, l *lockRecord, lease time.Duration) Outcome {
	agreed := 0
	for _, node := range quorumNodes() {
		if !e.asks(a, node) {
			continue
		}
		reply, ok := e.ask(node, func(o on) wire.Call {
			return wire.Command("SET", o.keys(l.name).Lock, a.token, "NX", "PX", o.ms(lease))
		})
		if ok && reply == "OK" {
			agreed++
		}
	}
	if agreed < quorum {
		e.giveBack(a, l)
		return Outcome{Code: Denied, Agreed: agreed}
	}
	e.granted(a, l, a.token, "", lease)
	return Outcome{Code: Granted, Agreed: agreed}
}

// giveBack deletes the actor's own keys on all masters, and counts them.
func (e *engine) giveBack(a *actor, l *lockRecord) int {
	gone := 0
	for _, node := range quorumNodes() {
		if !e.asks(a, node) {
			continue
		}
		reply, ok := e.ask(node, func(o on) wire.Call {
			return script("cad").Call([]string{o.keys(l.name).Lock}, a.token)
		})
		if ok && reply == int64(1) {
			gone++
		}
	}
	return gone
}

func (e *engine) releaseQuorum(a *actor, l *lockRecord) Outcome {
	if e.giveBack(a, l) == 0 {
		return Outcome{Code: NotYours}
	}
	e.removed(l, a.grant)
	return Outcome{Code: Released}
}

// observeQuorum is observeLock over five masters: what three of them hold is
// what the quorum holds.
func (e *engine) observeQuorum(l *lockRecord) {
	key := e.wire().keys(l.name).Lock
	votes := make(map[string][]vote)
	for _, node := range quorumNodes() {
		replies, err := e.port.Do(e.ctx, node, wire.Command("GET", key), wire.Command("PTTL", key))
		if err != nil || len(replies) != 2 {
			if !e.down[node] {
				e.broken(err)
			}
			continue
		}
		if value, ok := replies[0].(string); ok {
			pttl, _ := replies[1].(int64)
			votes[value] = append(votes[value], vote{node, pttl})
		}
	}
	for value, by := range votes {
		if len(by) >= quorum {
			l.state = e.holds(l, by[0].node, key, value, by[0].pttl)
			return
		}
	}
	l.state = LockState{Known: true}
	e.endGrant(l)
}

// vote is what one master of a quorum says: how long it will keep a value.
type vote struct {
	node string
	pttl int64
}

// prompt stands before a command on a screen where there is more than one lock
// server: which of them it went to.
func prompt(node string) string {
	if slices.Contains(quorumNodes(), node) {
		return node + "> "
	}
	return ""
}

// checkQuorum wants masters to be named where there are masters, and only there.
func (r *reader) checkQuorum(w *World) {
	of := strings.Join(quorumNodes(), ", ")
	for _, l := range w.Lines {
		for _, a := range l.Acts {
			named := len(a.Nodes) > 0 || verbs()[a.Verb].takes == aNode && a.Who != ""
			switch {
			case named && !w.Set[SwAcquire].Is("quorum"):
				r.fail(l.Text, fmt.Errorf("world %s: step %d names a master, and there is one server only; acquire = \"quorum\" has %s", w.Name, l.N, of))
			case verbs()[a.Verb].takes == aNode && !named && w.Set[SwAcquire].Is("quorum"):
				r.fail(l.Text, fmt.Errorf("world %s: step %d does not say which of %s", w.Name, l.N, of))
			}
		}
	}
}
