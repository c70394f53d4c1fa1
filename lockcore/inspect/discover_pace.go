package inspect

import (
	"context"
	"time"
)

// A SCAN call stops a single-threaded server for as long as it walks, and what
// waits behind it gets late. So the polite default keeps each call short above
// the round trip and then leaves the server alone for longer than it took. At
// full speed calls are longer, since then nobody else is to be spared.
const (
	politeCount  = 200 // to begin with
	fullCount    = 1000
	leastCount   = 50
	mostCount    = 5000
	politeTarget = 700 * time.Microsecond
	fullTarget   = 3 * time.Millisecond
	politeRest   = 1.5 // times what the server was kept busy
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
}

func newPacer(q Query, rtt time.Duration) pacer {
	p := pacer{count: politeCount, target: politeTarget, rtt: rtt, full: q.Rate == 0, rate: max(0, q.Rate)}
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
	if p.rate > 0 {
		return min(mostCount, max(1, p.rate/10))
	}
	return mostCount
}

// learn adapts the count to how long a call took above a round trip.
func (p *pacer) learn(took time.Duration) {
	if p.fixed {
		return
	}
	switch over := took - p.rtt; {
	case over > p.target:
		p.count = p.count * 3 / 4
	case over < p.target/2:
		p.count += p.count/4 + 1
	}
	p.count = max(min(leastCount, p.most()), min(p.count, p.most()))
}

// rest waits between two pages: busy is what the last one took, reading
// included.
func (p *pacer) rest(ctx context.Context, busy time.Duration, keys int) error {
	wait := time.Duration(float64(max(busy-p.rtt, 0)) * politeRest)
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
