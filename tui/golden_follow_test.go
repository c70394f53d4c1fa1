package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
)

// sizes are the screens that what following shows is drawn on.
var sizes = []struct {
	name string
	w, h int
}{{"80x24", 80, 24}, {"120x40", 120, 40}, {"60x12", 60, 12}}

// busy is a lock with a heartbeat, a history and others who want it, and the
// events of some more.
func busy(d *direct) *direct {
	locks := someLocks()
	rows := watched(locks...)
	rows[0].FirstSeen, rows[0].Began = noon.Add(-3*time.Hour-12*time.Minute), true
	rows[0].Beat = &inspect.Beat{Renewals: 1150, Last: noon.Add(-3100 * time.Millisecond), Every: 10 * time.Second, Lease: 30 * time.Second}
	at := func(back time.Duration, k inspect.EventKind, key string, e inspect.Event) inspect.Event {
		e.At, e.Kind, e.Node, e.Source = noon.Add(-back), k, "127.0.0.1:6379", inspect.ByTracking
		if e.Key = "order:4711"; key != "" {
			e.Key = rows[slices.IndexFunc(rows, func(w *inspect.Watched) bool { return string(w.Key) == key })].Key
		}
		return e
	}
	a, b := inspect.Who{ID: redissonA, Known: true}, inspect.Who{ID: redissonB, Known: true}
	history := []inspect.Event{
		at(4*time.Hour, inspect.WasAcquired, "", inspect.Event{Holder: b, TTL: 30_000, PrevTTL: family.Gone, Fence: "33"}),
		at(3*time.Hour+12*time.Minute, inspect.HandedOver, "", inspect.Event{Previous: b, Holder: a, TTL: 30_000, PrevTTL: 12_000, Fence: "34"}),
		at(13100*time.Millisecond, inspect.WasRenewed, "", inspect.Event{Holder: a, TTL: 30_000, PrevTTL: 19_900}),
		at(3100*time.Millisecond, inspect.WasRenewed, "", inspect.Event{Holder: a, TTL: 30_000, PrevTTL: 19_900}),
	}
	others := []inspect.Event{
		at(90*time.Second, inspect.LostExpiry, "lock:servicebook.emit",
			inspect.Event{Holder: inspect.Who{ID: "GxwErhZvp2QmLvacHpVgjGjA", Known: true}, TTL: family.NoTTL, PrevTTL: 212_000}),
		at(20*time.Second, inspect.WentAway, "invoice:2024-11", inspect.Event{
			Previous: inspect.Who{ID: "uuwXUfc+QzqZ5tab/h20Eg==", Known: true}, TTL: family.Gone, PrevTTL: 4_000, Inferred: true}),
	}
	gap := inspect.Event{At: noon.Add(-30 * time.Second), Kind: inspect.FeedGap, Source: inspect.ByPolling, Inferred: true,
		Note: "the connection was lost for 12 s"}
	ns := nodes()
	ns[0].Offset, ns[0].OffsetRTT, ns[0].OffsetKnown = 2300*time.Millisecond, 2*time.Millisecond, true
	cov := inspect.Coverage{Match: []string{"*"}, DBs: []int{0}, OtherDBs: []int{1, 5}, Depth: inspect.ByName, Scanned: 1234567, Keyspace: 1234567,
		Nodes: 1, NodesScanned: 1, Complete: true}
	events := slices.Concat(history[:2], others[:1], []inspect.Event{gap}, others[1:], history[2:])
	d.sees(&inspect.View{Rows: rows, Nodes: ns, Coverage: cov}, events...)
	d.m.notice = notice{}
	id := rowID(&locks[0])
	d.send(historyMsg{id, history}) // dropped: no detail is open
	d.m.exam = exam{id: id, at: noon.Add(-4 * time.Second), askedAt: noon.Add(-4 * time.Second), look: inspect.Examination{
		Evidence: []inspect.Evidence{{Says: "a connection from 10.0.0.7:51210 named billing-38 is open, idle for 2 s", How: "CLIENT LIST",
			For: inspect.Alive, Inferred: true}},
		Contention: []inspect.Sign{{Says: "2 connections of this server wait in a blocking command; for which key it does not say",
			How: "CLIENT LIST", Count: 2, Inferred: true}},
		Unknown: []string{"for how long nobody has touched it: the server does not say"},
	}}
	d.m.exam.look.Evidence = slices.Clone(d.m.exam.look.Evidence)
	d.keys("/", "4", "7", "1", "1", "enter", "enter")
	d.m.exam.at = noon.Add(-2 * time.Second)
	return d.send(historyMsg{id, history})
}

func TestGoldenDetailOfABusyLock(t *testing.T) {
	for _, size := range sizes {
		d := busy(newDirect(size.w, size.h))
		golden(t, "detail-busy-"+size.name, d.view())
	}
	d := busy(newDirect(80, 24)).keys("pgdown")
	golden(t, "detail-busy-80x24-below", d.view())
}

func TestGoldenEvents(t *testing.T) {
	for _, size := range sizes {
		d := busy(newDirect(size.w, size.h)).keys("esc", "esc", "e")
		golden(t, "events-"+size.name, d.view())
	}
	d := busy(newDirect(80, 24)).keys("esc", "e")
	golden(t, "events-filtered-80x24", d.view())
}

// Scrolling the events stops at the oldest and comes back to the newest.
func TestEventsScroll(t *testing.T) {
	d := busy(newDirect(60, 12)).keys("esc", "esc", "e")
	newest := d.view()
	oldest := d.keys("g").view()
	if oldest == newest || !strings.Contains(oldest, "08:00:00.000 acquired") {
		t.Errorf("g shows\n%s", oldest)
	}
	if d.keys("up", "pgup"); d.view() != oldest {
		t.Error("it scrolls beyond the oldest")
	}
	if d.keys("G", "down"); d.view() != newest {
		t.Error("G does not come back to the newest")
	}
}

// The header says how the list is followed, how it stands with the server, and
// how far a pass is, in words; a narrow screen cuts what matters least.
func TestGoldenHeaders(t *testing.T) {
	states := []struct {
		name   string
		change func(v *inspect.View, s *Server)
	}{
		{"a first pass", func(v *inspect.View, _ *Server) {
			v.Scanning, v.Coverage.Complete, v.Coverage.Scanned, v.Coverage.Keyspace = true, false, 240_312, 1_003_412
		}},
		{"a pass that is paused", func(v *inspect.View, _ *Server) {
			v.Scanning, v.Paused, v.Coverage.Complete, v.Coverage.Scanned, v.Coverage.Keyspace = true, true, false, 240_312, 1_003_412
		}},
		{"by name, and other databases have keys", func(v *inspect.View, _ *Server) {
			v.Coverage.Depth, v.Coverage.OtherDBs = inspect.ByName, []int{1, 5}
		}},
		{"deep on demand", func(v *inspect.View, _ *Server) {
			v.Coverage.Depth, v.DeepAt = inspect.ByName, noon.Add(-40*time.Second)
		}},
		{"polling, on prod, read-only", func(v *inspect.View, s *Server) {
			s.Guarded, s.Env, s.ReadOnly = true, "prod", "started read-only"
			v.Nodes[0].Source, v.Nodes[0].Following = inspect.ByPolling, "by polling"
		}},
		{"keys that may not be read", func(v *inspect.View, _ *Server) {
			v.Coverage.Complete, v.Coverage.Refused = false, 3
			v.Coverage.Errors = []string{"3 keys could not be read"}
		}},
		{"a replica without its master", func(v *inspect.View, s *Server) {
			s.Role, v.Nodes[0].Replica, v.Nodes[0].MasterDown = "replica", true, true
			v.Nodes[0].Following = "by tracking and notifications"
		}},
		{"never reached", func(v *inspect.View, _ *Server) {
			n := &v.Nodes[0]
			n.Reach, n.Heard, n.Err, n.RetryAt = inspect.Lost, time.Time{}, "no answer in time", noon.Add(2300*time.Millisecond)
			v.Rows, v.Coverage = nil, inspect.Coverage{Nodes: 1}
		}},
		{"one key", func(v *inspect.View, _ *Server) {
			v.Rows, v.Coverage.Scanned, v.Coverage.PossibleHidden = v.Rows[:1], 1, 0
		}},
	}
	for _, size := range sizes {
		var out []string
		for _, state := range states {
			d := newDirect(size.w, size.h)
			v := &inspect.View{Rows: watched(someLocks()...), Nodes: nodes(), Coverage: inspect.Coverage{Match: []string{"*"}, DBs: []int{0},
				Depth: inspect.Deep, Scanned: 1234567, Keyspace: 1234567, Nodes: 1, NodesScanned: 1, Complete: true, PossibleHidden: 3}}
			state.change(v, &d.m.server)
			lines := strings.Split(d.sees(v).view(), "\n")
			out = append(out, "# "+state.name, lines[0], lines[1])
		}
		golden(t, "headers-"+size.name, strings.Join(out, "\n"))
	}
}

func TestGoldenHelp80(t *testing.T) {
	d := newDirect(80, 24).found(someLocks()...).keys("?")
	golden(t, "help-80x24", d.view())
	golden(t, "help-80x24-end", d.keys("G").view())
}
