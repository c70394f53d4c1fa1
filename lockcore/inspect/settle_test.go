package inspect_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
)

func patient(d time.Duration) func(*redis.Options) {
	return func(o *redis.Options) { o.ReadTimeout, o.DialTimeout = d, d }
}

// The script ran and its answer was lost: the receipt proves it, and nothing is
// sent a second time.
func TestLostReplyIsProvenByTheReceipt(t *testing.T) {
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr)
	in := at(t, proxy.Addr)
	for _, c := range []struct {
		name, given string
	}{
		{"string", "set lock:a " + tokenA + " px 60000"},
		{"hash", "hset lock:a " + threadA + " 1"},
	} {
		give(s, "flushall", c.given)
		p := releasePlan(t, in, "lock:a")
		before := proxy.Seen("EVAL")
		proxy.CutReply(1, "EVAL")
		o := carryOut(t, in, p)
		expectOutcome(t, o, p, inspect.Released)
		if !o.Receipt || !strings.Contains(o.Detail(&p), "receipt") || proxy.Seen("EVAL") != before+1 {
			t.Errorf("%s: receipt %v, sent %d times: %s", c.name, o.Receipt, proxy.Seen("EVAL")-before, o.Detail(&p))
		}
	}
}

// Without EVAL it is EXEC whose answer is lost, and the same receipt proves it.
func TestLostReplyWithoutScripts(t *testing.T) {
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr)
	user(s, "op", "~*", "&*", "+@all", "-@scripting")
	in := at(t, proxy.Addr, as("op"))
	give(s, "set lock:a "+tokenA+" px 60000")
	p := releasePlan(t, in, "lock:a")
	proxy.CutReply(1, "EXEC")
	o := carryOut(t, in, p)
	expectOutcome(t, o, p, inspect.Released)
	if !o.Receipt || !o.Steps[0].Plainly {
		t.Errorf("receipt %v, plainly %v", o.Receipt, o.Steps[0].Plainly)
	}
	give(s, "set lock:a "+tokenA+" px 60000")
	p = releasePlan(t, in, "lock:a")
	proxy.CutReply(1, "MULTI")
	o = carryOut(t, in, p)
	if o.Word != inspect.Failed || s.Do("get", "lock:a") != tokenA {
		t.Errorf("EXEC was never sent: %s %s", o.Word, o.Detail(&p))
	}
}

// Where no receipt may be written nothing proves what happened: UNKNOWN, and
// what is there now.
func TestLostReplyWithoutAReceipt(t *testing.T) {
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr)
	user(s, "op", "~lock:*", "&*", "+@all", "-set")
	in := at(t, proxy.Addr, as("op"))
	give(s, "set lock:a "+tokenA+" px 60000")
	p := releasePlan(t, in, "lock:a")
	proxy.CutReply(1, "EVAL")
	o := carryOut(t, in, p)
	if o.Word != inspect.Unknown || o.CalledOff || !strings.Contains(o.Detail(&p), "may have run") || !strings.Contains(o.Detail(&p), "nobody holds it") {
		t.Errorf("got %s %s", o.Word, o.Detail(&p))
	}
	if s.Do("exists", "lock:a") != int64(0) {
		t.Error("the release did not run, so this test shows nothing")
	}
}

// B44: writes are paused when the release is sent, and the connection is killed.
// The command is called off, so that it cannot run after the pause.
func TestConnectionDiesWhileAReleaseIsInFlight(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	in := at(t, s.Addr)
	give(s, "set lock:a "+tokenA+" px 60000")
	p := releasePlan(t, in, "lock:a")
	s.Do("client", "pause", "1500", "WRITE")
	killer := s.Client()
	killer.Ping(t.Context())
	var both sync.WaitGroup
	both.Go(func() {
		time.Sleep(300 * time.Millisecond)
		_ = killer.Do(t.Context(), "client", "kill", "type", "normal", "skipme", "yes").Err()
	})
	o := carryOut(t, in, p)
	both.Wait()
	if o.Word != inspect.Unknown || !o.CalledOff || len(o.Now) != 1 || o.Now[0].Holders[0].ID != tokenA {
		t.Errorf("got %s %s", o.Word, o.Detail(&p))
	}
	if !strings.Contains(o.Detail(&p), "called off") || s.Do("get", "lock:a") != tokenA {
		t.Error(o.Detail(&p))
	}
	p = releasePlan(t, in, "lock:a") // and again, as the operator would
	expectOutcome(t, carryOut(t, in, p), p, inspect.Released)
}

// The answer is late, not lost: the client gave up, the server had done it.
func TestLateReply(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr)
	in := at(t, proxy.Addr, patient(150*time.Millisecond))
	give(s, "set lock:a "+tokenA+" px 60000")
	p := releasePlan(t, in, "lock:a")
	var both sync.WaitGroup
	both.Go(func() {
		s.Until("the release has arrived", func() bool { return proxy.Seen("EVAL") > 0 })
		proxy.HoldReplies()
		time.Sleep(400 * time.Millisecond)
		proxy.Heal()
	})
	proxy.DelayRequests(30 * time.Millisecond)
	o := carryOut(t, in, p)
	both.Wait()
	expectOutcome(t, o, p, inspect.Released)
	if s.Do("exists", "lock:a") != int64(0) {
		t.Error("it is still there")
	}
}

// A server that cannot be reached was sent nothing, and that is said.
func TestServerIsDown(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	give(s, "set lock:a "+tokenA+" px 60000")
	p := releasePlan(t, in, "lock:a")
	s.Kill()
	o := carryOut(t, in, p)
	expectOutcome(t, o, p, inspect.Failed)
	if text := o.Detail(&p); !strings.Contains(text, "nothing was changed: connection refused") {
		t.Errorf("it says %q", text)
	}
}

// A server that stands still was asked whether it answers, and sent nothing.
func TestServerStandsStill(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	give(s, "set lock:a "+tokenA+" px 60000")
	p := releasePlan(t, in, "lock:a")
	s.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	o := in.Run(ctx, p)
	if text := o.Detail(&p); o.Word != inspect.Failed || !strings.Contains(text, "nothing was changed: no answer in time") {
		t.Errorf("it says %s %q", o.Word, text)
	}
}

// fault is what a network does to one release.
var faults = []func(p *redistest.Proxy){
	func(p *redistest.Proxy) {},
	func(p *redistest.Proxy) { p.CutReply(1, "EVAL") },
	func(p *redistest.Proxy) { p.CutReply(1 + rand.IntN(3)) },
	func(p *redistest.Proxy) { time.Sleep(time.Duration(rand.IntN(900)) * time.Microsecond); p.CutAll() },
	func(p *redistest.Proxy) {
		time.Sleep(time.Duration(rand.IntN(700)) * time.Microsecond)
		p.HoldReplies()
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		p.Heal()
	},
	func(p *redistest.Proxy) {
		time.Sleep(time.Duration(rand.IntN(700)) * time.Microsecond)
		p.HoldRequests()
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		p.Heal()
	},
}

// Whatever the network does, and whenever the lock changes hands, every outcome
// is the true one: what was removed is said to be removed, and the other way
// round; a command that was called off has done nothing and never does.
func TestOutcomesAreTrueOnABadNetwork(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr)
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			clean, in := at(t, s.Addr), inspect.New(inspect.Node{Addr: s.Addr, Client: client(t, proxy.Addr, patient(25*time.Millisecond))})
			o := owner{t, s.Client(), f}
			said := map[string]int{}
			rounds := redistest.Rounds(60, 3400)
			for n := range rounds {
				r := o.badRound(clean, in, proxy, f.id(2*n), f.id(2*n+1))
				said[r.said()]++
				if !r.stillThere {
					t.Fatalf("round %d: a lock that changed hands was removed: %s", n, r.said())
				}
				if removed := !r.hadIt; r.claims(removed) {
					t.Fatalf("round %d: the operator removed it: %v, and the outcome was %s", n, removed, r.said())
				}
			}
			t.Logf("%d rounds: %v", rounds, said)
		})
	}
}

func (o owner) badRound(clean, in *inspect.Inspector, proxy *redistest.Proxy, a, b string) round {
	r := round{a: a, b: b}
	if o.eval(o.f.take, a, 10*time.Second) != 1 {
		o.t.Fatalf("%s: the lock of the round before is still there", o.f.name)
	}
	plan := releasePlan(o.t, clean, raced)
	var all sync.WaitGroup
	all.Go(func() { faults[rand.IntN(len(faults))](proxy) })
	before := rand.IntN(2) == 0
	if before {
		all.Go(func() {
			time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
			r.hadIt = o.handOver(a, b, 0, 10*time.Second)
		})
	}
	r.outcome = carryOut(o.t, in, plan)
	all.Wait()
	proxy.Heal()
	if !before {
		r.hadIt = o.handOver(a, b, 0, 10*time.Second)
	}
	r.stillThere = o.eval(o.f.leave, b, 0) == 1
	return r
}

func (r round) said() string {
	text := string(r.outcome.Word)
	switch {
	case r.outcome.CalledOff:
		text += ", called off"
	case r.outcome.Receipt:
		text += " by receipt"
	}
	return text
}

// claims reports whether the outcome says something else than what happened.
func (r round) claims(removed bool) bool {
	switch r.outcome.Word {
	case inspect.Released:
		return !removed
	case inspect.Unknown:
		return r.outcome.CalledOff && removed
	}
	return removed
}
