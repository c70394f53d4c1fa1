package inspect

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// plan is what to ask of a feed now.
func (t *tracker) plan(now time.Time) (plan feedPlan, covered prefixSet) {
	prefixes, fits := prefixesFor(t.f.q.Match, t.knownKeys)
	if t.may(ByTracking, now) {
		if fits && !t.feeds.flooding {
			plan.prefixes, covered = prefixes, newPrefixSet(prefixes)
		} else {
			plan.redirect = true
		}
	}
	if t.level != notifyOff && t.may(ByNotification, now) {
		if !fits || plan.redirect {
			prefixes = nil
		}
		plan.patterns = notifyPatterns(t.node.DB, prefixes)
		if covered == nil && len(prefixes) > 0 && len(prefixes) <= mostPatterns {
			covered = newPrefixSet(prefixes)
		}
	}
	return plan, covered
}

// knownKeys goes through all keys of known locks.
func (t *tracker) knownKeys(yield func(string) bool) {
	for key := range t.rows {
		if !yield(key) {
			return
		}
	}
	for key := range t.companions {
		if !yield(key) {
			return
		}
	}
}

// arm opens a feed beside the loop. The present one stays until it stands.
func (t *tracker) arm(now time.Time) {
	plan, covered := t.plan(now)
	if len(plan.prefixes) == 0 && !plan.redirect && len(plan.patterns) == 0 {
		t.feeds.armAt = now.Add(rearmEvery)
		t.choose(now, nil, nil, covered)
		return
	}
	t.feeds.arming, t.feeds.lacking = true, false
	t.side.Go(func() {
		defer t.f.catch()
		f, err := openFeed(t.ctx, t.node, plan, t.box)
		var single *redis.Client
		hold := &leash{}
		if err == nil && plan.redirect && f.id != 0 {
			single = t.trackSingly(f.id, hold)
		}
		select {
		case t.back <- func() { t.armed(f, single, hold, covered, err) }:
		case <-t.ctx.Done():
			late := feeding{cur: f, single: single, hold: hold}
			late.closeAll()
		}
	})
}

// trackSingly makes a client whose reading makes the server track the keys that
// it reads, and tell the feed's connection of their next change; nil where the
// server refuses.
func (t *tracker) trackSingly(id int64, hold *leash) *redis.Client {
	defer context.AfterFunc(t.ctx, hold.cutAll)()
	c := t.node.another(func(o *redis.Options) {
		greet := o.OnConnect
		o.OnConnect = func(ctx context.Context, cn *redis.Conn) error {
			if greet != nil {
				if err := greet(ctx, cn); err != nil {
					return err
				}
			}
			return cn.Do(ctx, "client", "tracking", "on", "redirect", id).Err()
		}
		hold.put(o)
		ownClient(o, 2)
	})
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeout)
	defer cancel()
	if c.Ping(ctx).Err() != nil {
		hold.cutAll()
		_ = c.Close() // the server does not do this
		return nil
	}
	return c
}
