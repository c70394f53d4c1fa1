package inspect

import (
	"time"

	"fencepost/lockcore/inspect/family"
)

// peers are the nodes that answer: one that does not is not to hold up the others.
func (f *Follower) peers() (live []Node, silent []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.nodes {
		if t.status.Reach == Live {
			live = append(live, t.node)
		} else {
			silent = append(silent, t.node.Addr)
		}
	}
	return live, silent
}

// handOver gives a lock to the tracker of its node: something that belongs to it
// lies here. It is told beside the loop, for two trackers may tell each other.
func (t *tracker) handOver(l *Lock) {
	for _, other := range t.f.nodes {
		if other != t && other.node.Addr == l.Node && other.node.DB == l.DB {
			t.side.Go(func() {
				defer t.f.catch()
				other.tell(func(o *tracker) { o.handed(l) })
			})
		}
	}
}

// handed takes a lock that another node told of. One that stands here is read
// here, or found by the first pass; where only companions are left of it, nothing
// here would show it.
func (t *tracker) handed(l *Lock) {
	key, now, first := string(l.Key), time.Now(), !t.scan.first
	switch {
	case t.rows[key] != nil:
		t.mark(key, now)
		return
	case l.Type != family.None:
		if !first {
			t.comeUpon(key, now)
		}
		return
	}
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	w := &witness{at: now, source: t.status.Source, rescan: true}
	if first {
		t.enter(l, nil, w)
		t.snap(l, now)
	} else {
		t.enter(l, diff(nil, l, w), w)
	}
	t.f.bump()
}
