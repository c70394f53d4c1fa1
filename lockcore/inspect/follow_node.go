package inspect

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// How a tracker spends its time.
const (
	stepTimeout   = 3 * time.Second        // bounds every question to the server
	pulse         = time.Second            // between two signs of life
	sizePulse     = 2 * time.Second        // between two looks at how many keys there are
	lateAfter     = 700 * time.Millisecond // above the round trip: then the server is late
	feedSilence   = 6 * time.Second        // without an answer: then the feed is given up
	firstRetry    = 100 * time.Millisecond
	lastRetry     = 5 * time.Second
	readRest      = 10 * time.Millisecond // least time between two looks
	readDuty      = 1                     // times as long as a look took
	clockSamples  = 8
	rescanEvery   = time.Minute
	rescanSoonest = time.Second
	rescanDuty    = 10 // a rescan may take a tenth of the time
)

// tracker follows one node. One goroutine runs it and owns what it knows; what
// talks to the server runs beside it and reports back, so that a server that
// hangs is noticed at once.
type tracker struct {
	f    *Follower
	ctx  context.Context
	node Node       // with a client of its own
	in   *Inspector // of this node alone
	box  *inbox
	hold *leash
	back chan func()    // reports of what ran beside the loop, and what others tell
	side sync.WaitGroup // what runs beside the loop

	// What is published; guarded by f.mu, changed by the loop alone.
	status     NodeStatus
	rows       map[string]*row      // by main key
	companions map[string]companion // by companion key
	list       []*row
	paused     bool

	counts   counts
	survey   survey
	level    notifyLevel
	retry    time.Duration // to wait before the next try to connect
	trouble  error         // why the node was lost
	since    time.Time     // when it was last well, before it was lost
	talking  bool          // a first question is under way
	checking bool          // whether the node is lost
	stuck    bool          // it answers, but not with data
	askedAt  time.Time     // when the oldest question without an answer was sent; zero: none

	feeds feeding
	read  reading
	scan  scanning
	due   dueHeap
	clock clockGuess
	slim  slimmer
	pasts pasts
}

func newTracker(ctx context.Context, f *Follower, in *Inspector, n Node) *tracker {
	own, hold := n, &leash{}
	own.Client = n.another(func(o *redis.Options) {
		hold.put(o)
		ownClient(o, followPool)
	})
	t := &tracker{
		f: f, ctx: ctx, node: own, hold: hold, in: New(own).WithFamilies(in.own...), box: newInbox(strconv.Itoa(n.DB)), back: make(chan func()),
		rows: map[string]*row{}, companions: map[string]companion{}, paused: f.opt.Paused,
		status: NodeStatus{Addr: n.Addr, DB: n.DB, Reach: Connecting, Source: ByPolling, Following: "by polling"},
	}
	t.in.peers = f.peers
	t.scan.sieve, t.scan.guess = t.in.NewWalk(f.q), newTypeGuess()
	t.scan.sieve.ordinary, t.scan.sieve.catch = t.scan.ordinary.add, f.catch
	t.scan.depth, t.box.catch = f.q.Depth, f.catch
	t.status.Coverage = t.scan.sieve.Coverage()
	return t
}

// run is the loop.
func (t *tracker) run() {
	defer t.end()
	defer t.f.catch()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-t.box.signal:
			t.open(t.box.take())
		case report := <-t.back:
			report()
		case <-timer.C:
		}
		timer.Reset(max(0, time.Until(t.act(time.Now()))))
	}
}

// end leaves nothing behind. Cutting the connections ends what waits for an
// answer.
func (t *tracker) end() {
	t.hold.cutAll()
	t.feeds.closeAll()
	t.side.Wait()
	_ = t.node.Client.Close()
}

// beside runs a question to the server beside the loop, and its report on it.
func (t *tracker) beside(ask func(ctx context.Context) func()) {
	t.side.Go(func() {
		defer t.f.catch()
		ctx, cancel := context.WithTimeout(t.ctx, stepTimeout)
		defer cancel()
		report := ask(ctx)
		t.report(report)
	})
}

// report runs something on the loop's goroutine, unless that has ended.
func (t *tracker) report(do func()) {
	select {
	case t.back <- do:
	case <-t.ctx.Done():
	}
}

// tell has the loop do something for somebody else.
func (t *tracker) tell(do func(*tracker)) {
	t.report(func() { do(t) })
}

// act starts what is due and says when to come again.
func (t *tracker) act(now time.Time) time.Time {
	wake := earliest{now.Add(pulse)}
	t.watchReach(now, &wake)
	switch t.status.Reach {
	case Connecting, Lost:
		t.connect(now, &wake)
		return wake.at
	}
	t.follow(now, &wake)
	t.look(now, &wake)
	t.explore(now, &wake)
	return wake.at
}

// earliest is the first of several moments.
type earliest struct{ at time.Time }

func (e *earliest) by(at time.Time) {
	if at.Before(e.at) {
		e.at = at
	}
}

// publish changes the status and wakes whoever watches.
func (t *tracker) publish(change func(s *NodeStatus)) {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	before := t.status
	change(&t.status)
	if before.Reach != t.status.Reach || before.Following != t.status.Following || before.Err != t.status.Err ||
		before.Scanning != t.status.Scanning || before.heard != t.status.heard || before.Coverage.Scanned != t.status.Coverage.Scanned ||
		t.status.Heard.Sub(before.Heard) >= pulse/2 {
		t.f.bump()
	}
}

// heard notes a sign of life. Where nothing is told, nobody has looked while the
// server was silent, and that is said; a feed that lived through it missed nothing.
func (t *tracker) heard(at time.Time) {
	silent := time.Duration(0)
	t.publish(func(s *NodeStatus) {
		if s.Reach == Late && !t.stuck {
			s.Reach = Live
			silent = at.Sub(s.Heard)
		}
		if at.After(s.Heard) {
			s.Heard = at
		}
	})
	if t.status.Source == ByPolling && silent > 2*t.pollEvery() {
		t.sayGap(time.Now(), "no answer for "+moment(silent)+": nobody could look meanwhile")
	}
}

// asked notes that a question was sent; answered, that none is open any more.
func (t *tracker) asked(at time.Time) {
	if t.askedAt.IsZero() {
		t.askedAt = at
	}
}

func (t *tracker) answered(at time.Time) {
	t.askedAt = time.Time{}
	t.heard(at)
}

// watchReach turns the status late while an answer is overdue.
func (t *tracker) watchReach(now time.Time, wake *earliest) {
	if t.askedAt.IsZero() || t.status.Reach != Live {
		return
	}
	limit := t.askedAt.Add(lateAfter + 4*t.survey.rtt)
	if now.Before(limit) {
		wake.by(limit)
		return
	}
	t.publish(func(s *NodeStatus) { s.Reach = Late })
}

// failed judges an error of a question. A time-out leaves the connections as
// they are: the server may only be slow. What is broken is lost, with all that
// was told meanwhile.
func (t *tracker) failed(err error) {
	if err == nil || t.ctx.Err() != nil || serverError(err) && !unable(err) {
		return
	}
	if timedOut(err) {
		t.askedAt = time.Time{} // the next question asks again
		t.publish(func(s *NodeStatus) {
			if s.Reach == Live {
				s.Reach = Late
			}
		})
		return
	}
	if t.status.Reach == Lost || t.checking {
		return
	}
	t.checking = true
	t.beside(func(ctx context.Context) func() {
		again := t.node.Client.Ping(ctx).Err()
		return func() { t.checked(err, again) }
	})
}

// checked is what came of asking again after a connection broke: one may be cut
// by anybody, and only when no other can be had is the node lost.
func (t *tracker) checked(broken, again error) {
	t.checking = false
	switch {
	case t.ctx.Err() != nil || t.status.Reach == Lost:
	case again == nil && unable(broken): // a Cluster that is down
		t.askedAt, t.stuck = time.Time{}, true
		t.publish(func(s *NodeStatus) { s.Reach, s.Err = Late, reasonOf(broken) })
	case again == nil || timedOut(again):
		t.askedAt = time.Time{}
	default:
		t.lose(time.Now(), broken)
	}
}

// lose drops everything that hangs on the connection.
func (t *tracker) lose(now time.Time, err error) {
	t.trouble, t.since, t.retry, t.askedAt, t.stuck = err, t.status.Heard, firstRetry, time.Time{}, false
	t.scan.stop()
	t.untold(false)
	t.feeds.closeAll()
	t.feeds.pinged = time.Time{}
	t.publish(func(s *NodeStatus) {
		s.Reach, s.Err, s.RetryAt = Lost, reasonOf(err), now.Add(firstRetry)
	})
}

// timedOut reports whether an answer only took too long.
func timedOut(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redis.ErrPoolTimeout) || errors.As(err, &ne) && ne.Timeout()
}
