package inspect

import (
	"context"
	"time"
)

// counts are what a server counts of that which ends many locks at once and is
// told by no source, or not by all: how often it was asked, and when it rose.
type counts struct {
	facts   serverFacts // as it answered last
	asked   time.Time   // and when it was asked
	flushes span        // when a database was emptied last
	evicted span        // when keys were evicted last
}

// span is a stretch of time in which something happened.
type span struct{ after, before time.Time }

// ended reports whether what happened in this stretch ended a lock that was not
// seen after it. Where the lock's hold began in the same stretch, that is unsure.
func (s span) ended(w *Watched) (ended, unsure bool) {
	within := w.Began && w.FirstSeen.After(s.after)
	after := s.before.After(w.SampledAt)
	return after && !within, after && within
}

// take compares an answer with the one before. Counts of another process say
// nothing of this one's, and those that were reset say nothing of what was before.
func (c *counts) take(f serverFacts, asked, answered time.Time) {
	was, since := c.facts, span{c.asked, answered}
	c.facts, c.asked = f, asked
	switch {
	case !was.known || !f.known:
		if f.evicts {
			c.evicted = since
		}
		return
	case was.runID != f.runID:
		return
	case f.flushes > was.flushes:
		c.flushes = since
	}
	if f.evicted != was.evicted {
		c.evicted = since
	}
}

// count asks the server for its counts.
func (j *readJob) count(ctx context.Context, n Node) {
	asked := time.Now()
	fields, ok := info(ctx, n)
	if !ok {
		j.unsure = true
		return
	}
	j.unsure = false
	j.counts.take(factsOf(fields, ok), asked, time.Now())
}

// tally takes over what a job counted, unless something newer is known.
func (t *tracker) tally(c counts, now time.Time) {
	if !c.asked.After(t.counts.asked) {
		return
	}
	flushed := c.flushes != t.counts.flushes
	c.facts.runID = t.counts.facts.runID // another one is for connected to notice
	t.counts = c
	if flushed && t.status.Source == ByNotification { // which keep silent about it
		t.rereadAll(now, "")
	}
}

// pushLate is how long what a server tells may be under way.
const pushLate = time.Second

// maybeEvicted reports whether a lock that is gone may have been evicted: keys
// were, after it was there for certain, or the server does not say.
func (t *tracker) maybeEvicted(job *readJob, r *row, m *mark) bool {
	there := r.w.SampledAt
	if m != nil && m.tracked {
		if told := m.first.Add(-pushLate); told.After(there) {
			there = told // nothing was told of it before
		}
	}
	return job.unsure || t.counts.evicted.before.After(there)
}
