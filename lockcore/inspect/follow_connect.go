package inspect

import (
	"context"
	"time"

	"fencepost/lockcore/inspect/family"
)

// connect asks a node that does not answer whether it does now.
func (t *tracker) connect(now time.Time, wake *earliest) {
	if t.talking {
		return
	}
	if t.status.Reach == Lost && now.Before(t.status.RetryAt) {
		wake.by(t.status.RetryAt)
		return
	}
	t.talking = true
	t.beside(func(ctx context.Context) func() {
		if err := t.node.Client.Ping(ctx).Err(); err != nil {
			return func() { t.notYet(err) }
		}
		asked := time.Now()
		f := surveyNode(ctx, t.node)
		if f.failed != nil {
			return func() { t.notYet(f.failed) }
		}
		level := notifications(ctx, t.node)
		return func() { t.connected(f, asked, level) }
	})
}

// notYet waits longer before the next try.
func (t *tracker) notYet(err error) {
	t.talking = false
	if t.ctx.Err() != nil {
		return
	}
	t.retry = min(lastRetry, max(firstRetry, 2*t.retry))
	t.publish(func(s *NodeStatus) {
		s.Reach, s.Err, s.RetryAt = Lost, reasonOf(err), time.Now().Add(t.retry)
	})
}

// connected begins, or begins again after the node was lost: then it is said
// what may have been missed, all locks are read again, and all keys are walked
// over for new ones.
func (t *tracker) connected(f survey, asked time.Time, level notifyLevel) {
	t.talking = false
	lost := !t.since.IsZero()
	was := t.counts.facts
	again := lost && f.known && was.known && f.runID != was.runID
	now := time.Now()
	t.counts.take(f.serverFacts, asked, now)
	t.survey, t.level = f, level
	t.publish(func(s *NodeStatus) {
		s.Reach, s.Err, s.RetryAt, s.RTT, s.Heard = Live, "", time.Time{}, f.rtt, now
		s.Replica, s.MasterDown = f.replica, f.linkDown
		s.Coverage.Keyspace, s.Coverage.OtherDBsKnown = f.keys, f.dbsKnown
	})
	if !lost {
		return
	}
	why := "the connection was lost for " + moment(now.Sub(t.since))
	if again {
		why = "the server was started again; " + why
	}
	t.gap(now, why)
	t.since = time.Time{}
}

// gap says that changes may have been missed, and looks at everything again.
func (t *tracker) gap(now time.Time, why string) {
	t.sayGap(now, why)
	t.rereadAll(now, why)
	t.scan.wanted = true
}

func (t *tracker) sayGap(now time.Time, why string) {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	t.f.record(Event{
		At: now, Kind: FeedGap, DB: t.node.DB, Node: t.node.Addr, Source: t.status.Source, Inferred: true,
		TTL: family.Gone, PrevTTL: family.Gone, Note: why,
	})
}
