package inspect

import (
	"fmt"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

const (
	tokenA = "5f3b1e62-9df1-4c5e-8a35-0d1e2f3a4b5c"
	tokenB = "0b1c2d3e-4f50-4a6b-9c7d-8e9fa0b1c2d3"
)

// sources are the three ways to learn of changes, and both at once.
var sources = []struct {
	name    string
	source  Source
	args    []string
	without []Source
	told    bool // the server says what happened
}{
	{"tracking", ByTracking, nil, nil, false},
	{"both", ByTracking, []string{"--notify-keyspace-events", "KEA"}, nil, true},
	{"notification", ByNotification, []string{"--notify-keyspace-events", "KEA"}, []Source{ByTracking}, true},
	{"poll", ByPolling, nil, withoutTelling, false},
}

// An hour's incidents in a minute: every kind of event comes from each source
// that can see it, and what a source cannot see is said to be inferred.
func TestScriptedHour(t *testing.T) {
	t.Parallel()
	for _, c := range sources {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}, c.args...)
			s := redistest.Start(t, args...)
			w := follow(t, nodeOf(s), Query{}, FollowOptions{Without: c.without})
			w.settled(c.source)
			for range redistest.Rounds(1, 5) {
				h := &hour{t: t, s: s, w: w, told: c.told, source: c.source}
				h.life()
				h.theft()
				h.ends()
				h.eviction()
				h.flush()
				h.killed()
				h.paused()
				h.stopped()
				h.restarted()
			}
		})
	}
}

type hour struct {
	t      *testing.T
	s      *redistest.Server
	w      *watching
	told   bool
	source Source
}

// take sets a lock as most libraries do.
func (h *hour) take(key, token string, ms int) { h.s.Do("SET", key, token, "PX", ms) }

// expect waits for an event and checks what all events have in common.
func (h *hour) expect(kind EventKind, key string, inferred bool) Event {
	h.t.Helper()
	e := h.w.event(kind, key)
	if e.Inferred != inferred {
		h.t.Errorf("%s of %s: inferred %v, want %v (%+v)", kind, key, e.Inferred, inferred, e)
	}
	if h.told && key != "" && !e.Inferred && kind != WasFlushed && kind != WentAway && e.Source != ByNotification {
		h.t.Errorf("%s of %s by %s", kind, key, e.Source)
	}
	return e
}

func (h *hour) life() {
	h.take("lock:life", tokenA, 30_000)
	h.expect(WasAcquired, "lock:life", false)
	n, gap := redistest.Rounds(50, 100), 60*time.Millisecond
	if h.source == ByPolling {
		n, gap = redistest.Rounds(5, 100), 500*time.Millisecond
	}
	for range n {
		time.Sleep(gap)
		h.s.Do("PEXPIRE", "lock:life", 30_000)
	}
	var beat Beat
	h.w.until("the renewals are counted", func(v *View) bool {
		if r := h.w.row("lock:life"); r != nil && r.Beat != nil {
			beat = *r.Beat
		}
		return beat.Renewals >= n/2 // on a busy machine several are seen as one
	})
	if beat.Renewals > n {
		h.t.Errorf("%d renewals, of which there were %d", beat.Renewals, n)
	}
	if r := h.w.row("lock:life"); !r.Began || r.HeldWords(time.Now()) == "" {
		h.t.Errorf("its beginning was seen: %+v", r)
	}
	h.w.events = nil
	h.s.Do("PERSIST", "lock:life")
	h.expect(LostExpiry, "lock:life", false)
	h.s.Do("DEL", "lock:life")
	h.expect(WasReleased, "lock:life", !h.told)
}

func (h *hour) theft() {
	h.take("lock:theft", tokenA, 30_000)
	h.expect(WasAcquired, "lock:theft", false)
	kind := HandedOver
	if h.told {
		kind = Overwritten
	}
	h.take("lock:theft", tokenB, 30_000)
	if e := h.expect(kind, "lock:theft", false); string(e.Previous.ID) != tokenA || string(e.Holder.ID) != tokenB {
		h.t.Errorf("%+v", e)
	}
	h.s.Do("GETSET", "lock:theft", tokenA) // wipes the expiry
	h.expect(kind, "lock:theft", false)
	h.expect(LostExpiry, "lock:theft", false)
	h.s.Do("DEL", "lock:theft")
	h.expect(WasReleased, "lock:theft", !h.told)
}

func (h *hour) ends() {
	h.take("lock:ends", tokenA, 2500)
	taken := time.Now()
	h.expect(WasAcquired, "lock:ends", false)
	if e := h.expect(WasExpired, "lock:ends", !h.told); time.Since(taken) > 4*time.Second {
		h.t.Errorf("an expiry after %v: %+v", time.Since(taken), e)
	}
}

// eviction fills the memory until the lock is evicted. Only notifications tell;
// for the others it is gone, and why is not known.
func (h *hour) eviction() {
	h.take("lock:evicted", tokenA, 600_000)
	h.expect(WasAcquired, "lock:evicted", false)
	h.s.Do("CONFIG", "SET", "maxmemory", "1")
	if h.told {
		h.s.Try("SET", "filler", "x") // evicts all there is
		h.expect(WasEvicted, "lock:evicted", false)
	} else {
		h.s.Try("SET", "filler", "x")
		h.expect(WentAway, "lock:evicted", false)
	}
	h.s.Do("CONFIG", "SET", "maxmemory", "100mb")
}

// flush empties the database, more often than a source is forgiven for keeping
// silent: that notifications tell of no flush is no fault of theirs.
func (h *hour) flush() {
	for i := range strikesOut + 1 {
		key := fmt.Sprint("lock:flush:", i)
		h.take(key, tokenA, 600_000)
		h.expect(WasAcquired, key, false)
		h.s.Do("FLUSHDB")
		h.expect(WasFlushed, key, h.source != ByTracking)
	}
}

// killed cuts all connections of clients; what happened meanwhile may have been
// missed, and that is said.
func (h *hour) killed() {
	h.take("lock:kill", tokenA, 600_000)
	h.expect(WasAcquired, "lock:kill", false)
	h.s.Do("CLIENT", "KILL", "TYPE", "normal")
	h.s.Do("CLIENT", "KILL", "TYPE", "pubsub")
	if h.source != ByPolling {
		h.expect(FeedGap, "", true)
	}
	h.w.settled(h.source)
	h.w.events = nil
	h.s.Do("DEL", "lock:kill")
	h.expect(WasReleased, "lock:kill", !h.told)
}

// paused: the server answers nobody for a while. That shows at once, and nothing
// is lost by it.
func (h *hour) paused() {
	h.take("lock:pause", tokenA, 600_000)
	h.expect(WasAcquired, "lock:pause", false)
	began := time.Now()
	h.s.Do("CLIENT", "PAUSE", 3000, "ALL")
	h.w.until("the server is late", func(v *View) bool { return v.Nodes[0].Reach == Late })
	if took := time.Since(began); took > 2500*time.Millisecond {
		h.t.Errorf("it took %v until the header turned", took)
	}
	if h.w.row("lock:pause") == nil {
		h.t.Error("the row is gone while nobody answers")
	}
	h.w.until("it answers again", func(v *View) bool { return v.Nodes[0].Reach == Live })
	h.w.settled(h.source) // where it took long on a busy machine, what tells of changes was given up
	h.s.Do("DEL", "lock:pause")
	h.expect(WasReleased, "lock:pause", !h.told)
}

// stopped: the process is frozen for longer than the feed is waited for. A lock
// whose time is over meanwhile stays on the list, because nobody knows.
func (h *hour) stopped() {
	h.take("lock:stop", tokenA, 2000)
	h.take("lock:stay", tokenA, 600_000)
	h.expect(WasAcquired, "lock:stay", false)
	h.s.Pause()
	h.w.until("the server is late", func(v *View) bool { return v.Nodes[0].Reach != Live })
	time.Sleep(2 * time.Second)
	if r := h.w.row("lock:stop"); r == nil {
		h.t.Error("a row disappeared by local arithmetic")
	}
	h.s.Resume()
	h.w.until("it answers again", func(v *View) bool { return v.Nodes[0].Reach == Live })
	h.expect(WasExpired, "lock:stop", !h.told)
	h.s.Do("DEL", "lock:stay")
	h.expect(WasReleased, "lock:stay", !h.told)
}

// restarted: the server forgets everything. Why the locks are gone is not known.
func (h *hour) restarted() {
	h.take("lock:restart", tokenA, 600_000)
	h.expect(WasAcquired, "lock:restart", false)
	h.s.Stop()
	h.w.until("the server is lost", func(v *View) bool { return v.Nodes[0].Reach == Lost })
	h.w.events = nil
	h.s.Restart()
	if e := h.expect(FeedGap, "", true); e.Note == "" {
		h.t.Errorf("%+v", e)
	}
	h.expect(WentAway, "lock:restart", false)
	h.w.settled(h.source)
	h.w.events = nil
	key := "lock:after"
	h.take(key, tokenB, 600_000)
	h.expect(WasAcquired, key, false)
	h.s.Do("DEL", key)
	h.expect(WasReleased, key, !h.told)
}
