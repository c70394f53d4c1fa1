package inspect

import (
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// Where a server that told of changes goes away, what is known of a lock is as old
// as what was told, not as the last look at it.
func TestFactsOfAServerThatIsGoneAreAsOldAsWhatItTold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	redisson(s, "lock:a", holderA, 60_000)
	w := follow(t, nodeOf(s), Query{}, FollowOptions{})
	w.settled(ByTracking)
	w.until("the lock is known for longer than it was looked at", func(v *View) bool {
		return len(v.Rows) == 1 && v.Known(v.Rows[0]).Sub(v.Rows[0].SampledAt) > 3*time.Second
	})
	s.Kill()
	lost := time.Now()
	for range 2 { // the feed may be given up before the node is, or after it
		v := w.until("the server is lost", func(v *View) bool { return v.Nodes[0].Reach == Lost })
		known := v.Known(v.Rows[0])
		if known.After(lost) || lost.Sub(known) > 2*time.Second {
			t.Errorf("%s: known up to %v before the end, looked at %v before it", v.Nodes[0].Source,
				lost.Sub(known), lost.Sub(v.Rows[0].SampledAt))
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// What is told after a gap says nothing of a look from before it.
func TestAGapIsNotBridgedByWhatIsToldAfterIt(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	after := NodeStatus{Source: ByTracking, Reach: Live, Heard: at(40),
		heardBefore: hearing{at(0), at(10)}, heard: hearing{from: at(30)}}
	lost, never := after, NodeStatus{Source: ByPolling, Reach: Live, Heard: at(40)}
	lost.Source, lost.heard.to = ByPolling, at(39)
	silent := after // until it is given up
	silent.heard, silent.heardBefore = hearing{at(30), at(30)}, hearing{}
	for _, tc := range []struct {
		name        string
		n           NodeStatus
		look, known int
	}{
		{"looked at before the gap", after, 5, 10},
		{"looked at in the gap", after, 20, 20},
		{"looked at after the gap", after, 32, 40},
		{"lost again", lost, 32, 39},
		{"lost again, looked at since", lost, 40, 40},
		{"never told", never, 5, 5},
		{"kept silent", silent, 32, 32},
		{"kept silent before", silent, 5, 5},
	} {
		v := View{Nodes: []NodeStatus{tc.n}}
		w := &Watched{Lock: Lock{SampledAt: at(tc.look)}}
		if got := v.Known(w); !got.Equal(at(tc.known)) {
			t.Errorf("%s: known up to %d, not %d", tc.name, got.Unix()-1000, tc.known)
		}
	}
}
