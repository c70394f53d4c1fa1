package scenario

import (
	"strconv"
	"time"

	"fencepost/lockcore/wire"
)

// actServer is what happens to a server. Play has made sure that it may.
func (e *engine) actServer(act Act) {
	var err error
	what := ""
	switch act.Verb {
	case Fill:
		what, err = "fill", e.fill(act.Who)
	case Stop, Start:
		what, err = "stop", e.power(act)
	case Detach:
		what, err = "replica", e.servers.Detach(e.ctx)
		e.sees(Outcome{Code: CutOff})
		e.count("replica-behind")
	case Promote:
		what, err = "replica", e.servers.Promote(e.ctx)
		e.sees(Outcome{Code: Promoted})
	case Clock:
		what, err = "clock", e.servers.Shift(e.ctx, act.For)
		e.sees(Outcome{Code: Jumped, Left: act.For})
		e.count("clock-offset")
	}
	e.step.Emulated = e.servers.Emulated(what)
	if err != nil {
		e.err = err
	}
}

// fill fills the memory of the lock's server, until a key is thrown out.
func (e *engine) fill(what string) error {
	k := e.wire().keys(e.s.Stage.Lock)
	key := k.Lock
	if what == "number" {
		key = k.Counter
	}
	policy := e.set[SwPolicy].Word
	evicted, err := e.servers.Fill(e.ctx, policy, key)
	switch {
	case err != nil:
		e.sees(Outcome{Code: Broke, Value: err.Error()})
	case evicted:
		e.sees(Outcome{Code: ThrownOut})
		e.count("evicted-keys")
	default:
		e.sees(Outcome{Code: Full})
	}
	return err
}

// waitReplicas asks, where the switch says so, that a replica has the grant;
// if none has, the holder gives the lock up again.
func (e *engine) waitReplicas(a *actor) {
	if !e.set[SwReplicas].Is("wait") {
		return
	}
	reply, ok := e.ask(NodeLock, func(o on) wire.Call {
		return wire.Command("WAIT", "1", o.ms(100*time.Millisecond))
	})
	n, _ := reply.(int64)
	if ok && n > 0 {
		return
	}
	e.carryOut(e.release(a))
	e.leave(a, ThinksNothing)
	e.count("acquire-timeout")
	e.sees(Outcome{Code: Replicas, Value: strconv.FormatInt(n, 10)})
}

// power stops a server or brings it back. A server that a fork has killed may be
// stopped by the story once more; that is no second stop.
func (e *engine) power(act Act) error {
	node := or(act.Who, NodeLock)
	if act.Verb == Stop {
		e.sees(Outcome{Code: Stopped, Value: act.Who})
		if e.down[node] {
			return nil
		}
		e.down[node] = true
		return e.servers.Stop(e.ctx, node)
	}
	e.sees(Outcome{Code: Empty, Value: act.Who})
	if !e.down[node] {
		return nil
	}
	e.down[node] = false
	if e.set[SwRestart].Is("one-lease") {
		e.keptOut[node] = e.now + e.s.Stage.Lease
	}
	return e.servers.Start(e.ctx, node)
}
