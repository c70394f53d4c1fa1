package tui

import (
	"strings"
	"time"

	"fencepost/lockcore/inspect"
)

// gap is a time in which changes may have been missed, and what was found to be
// other after it.
type gap struct {
	says               string
	at                 time.Time // when it was over
	handed, ended, new int
}

// gapFor is how long after a gap it takes to look at all known locks and to walk
// over the keys: what is found until then is put down to the gap.
const gapFor = 3 * time.Second

// count notes what was found after the gap.
func (g *gap) count(k inspect.EventKind) {
	switch k {
	case inspect.HandedOver, inspect.Overwritten, inspect.OperatorHolds:
		g.handed++
	case inspect.WasAcquired:
		g.new++
	case inspect.WasReleased, inspect.WasExpired, inspect.WentAway, inspect.WasEvicted, inspect.WasFlushed, inspect.ForceReleased:
		g.ended++
	}
}

// words say what was missed, as far as that can be told afterwards.
func (g gap) words() string {
	var found []string
	for _, f := range []struct {
		n    int
		says string
	}{{g.handed, "changed hands"}, {g.ended, "gone"}, {g.new, "new"}} {
		if f.n > 0 {
			found = append(found, thousands(int64(f.n))+" "+f.says)
		}
	}
	switch {
	case len(found) > 0:
		return g.says + "; found since: " + strings.Join(found, ", ") + "; more may be missed"
	case strings.Contains(g.says, "meanwhile"):
		return g.says
	}
	return g.says + "; what happened meanwhile was not seen"
}

// announce says what an operator must know of the feed itself: that it is another
// now, and what a gap may have hidden.
func (m root) announce(events []inspect.Event) root {
	told := false
	for i := range events {
		e := &events[i]
		text := e.Note
		if servers(m.feed.view.Nodes) > 1 {
			text = e.Node + ": " + text
		}
		switch {
		case e.Key == "" && e.Kind == inspect.FeedGap:
			m.feed.gap, told = gap{says: text, at: e.At}, true
		case e.Key == "" && e.Note != "":
			m = m.say(fine, text)
		case e.Key != "" && m.now.Sub(m.feed.gap.at) < gapFor:
			before := m.feed.gap
			m.feed.gap.count(e.Kind)
			told = told || m.feed.gap != before
		}
	}
	if told {
		m = m.say(warn, m.feed.gap.words())
	}
	return m
}
