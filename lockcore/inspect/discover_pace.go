package inspect

import (
	"context"
	"time"
)

// A SCAN call stops a single-threaded server for as long as it walks, and what
// waits behind it gets late. So the polite default keeps each call short above
// the round trip and then leaves the server alone for longer than it took: for
// much longer where others use it, as its own count of commands says, or calls
// that get slower. At full speed calls are longer, since then nobody else is to
// be spared.
const (
	politeCount  = 200 // to begin with
	fullCount    = 1000
	leastCount   = 50
	mostCount    = 5000
	mostFull     = 20000 // the same at full speed
	politeTarget = 400 * time.Microsecond
	fullTarget   = 8 * time.Millisecond
	politeRest   = 11.0 // times what the server was kept busy: a twelfth of its time is ours
	idleRest     = 1.5  // the same where nobody else is to be spared
	idleOps      = 1000 // commands a second below which a server is idle
	lateCalls    = 3    // in a row, after which it is idle no more
	lateBy       = 100 * time.Microsecond
)

// pacer chooses SCAN's COUNT by how long calls take, and how long to rest
// between them.
type pacer struct {
	count  int
	fixed  bool // the operator chose the count
	full   bool // no rest
	rate   int  // keys a second; 0: by how busy the server was kept
	rtt    time.Duration
	target time.Duration
	rested time.Duration // beyond what was due: sleeping is never exact
	times  float64       // how much longer to rest than the server was kept busy
	calm   time.Duration // what a key takes on average, while the server is idle
	late   int           // calls in a row that took much longer
}

// newPacer begins with what the server said of itself: ops is how many commands
// a second it answers, -1 where it does not say.
func newPacer(q Query, rtt time.Duration, ops int64) pacer {
	p := pacer{count: politeCount, target: politeTarget, rtt: rtt, full: q.Rate == 0, rate: max(0, q.Rate), times: politeRest}
	if ops >= 0 && ops < idleOps {
		p.times = idleRest
	}
	if p.full {
		p.count, p.target = fullCount, fullTarget
	}
	if p.rate > 0 {
		p.count = min(p.count, p.most())
	}
	if q.Count > 0 {
		p.count, p.fixed = q.Count, true
	}
	return p
}

// most bounds COUNT where a rate is set: ten calls a second at least, so that
// the rate holds from moment to moment.
func (p *pacer) most() int {
	switch {
	case p.full:
		return mostFull
	case p.rate > 0:
		return min(mostCount, max(1, p.rate/10))
	}
	return mostCount
}

// learn adapts the count to how long a call took above a round trip.
func (p *pacer) learn(took time.Duration) {
	p.notice(took)
	if p.fixed {
		return
	}
	short := p.target / 2
	if p.full {
		short = p.target * 3 / 4
	}
	switch over := took - p.rtt; {
	case over > p.target:
		p.count = p.count * 3 / 4
	case over < short:
		p.count += p.count/4 + 1
	}
	p.count = max(min(leastCount, p.most()), min(p.count, p.most()))
}

// notice gives the idle pace up when calls take much longer than they did: then
// somebody else has come.
func (p *pacer) notice(took time.Duration) {
	if p.times == politeRest {
		return
	}
	over, keys := max(0, took-p.rtt), time.Duration(p.count)
	if p.calm == 0 {
		p.calm = over / keys
	}
	if over <= 3*p.calm*keys+lateBy {
		p.late = 0
		p.calm += (over/keys - p.calm) / 8
		return
	}
	if p.late++; p.late >= lateCalls {
		p.times = politeRest
	}
}

// rest waits between two pages: busy is what the last one took, reading
// included.
func (p *pacer) rest(ctx context.Context, busy time.Duration, keys int) error {
	wait := time.Duration(float64(max(busy-p.rtt, 0)) * p.times)
	if p.rate > 0 {
		wait = time.Duration(keys)*time.Second/time.Duration(p.rate) - busy
	}
	if wait -= p.rested; wait <= 0 {
		p.rested = -wait
		return ctx.Err()
	}
	began := time.Now()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		p.rested = min(time.Since(began)-wait, time.Second)
		return nil
	}
}
