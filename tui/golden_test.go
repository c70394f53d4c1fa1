package tui

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// golden compares a screen with testdata/golden, without escapes and spaces at
// line ends. What is random is masked.
func golden(t *testing.T, name, view string) {
	t.Helper()
	got := receipts.ReplaceAllString(plainText(view), "receipt:XXXXXXXXXXXXXXXXXXXXXXXXXX") + "\n"
	path := filepath.Join("..", "testdata", "golden", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./tui -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./tui -update writes it anew. Got:\n%s\nwant:\n%s", path, got, want)
	}
}

var receipts = regexp.MustCompile(`receipt:[A-Z2-7]{26}`)

// noon is the moment of all direct tests.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// direct is a console without a program: messages are put into Update by hand.
type direct struct {
	m  root
	fw *following
}

func newDirect(width, height int, change ...func(*Options)) *direct {
	o := Options{
		Inspector: inspect.New(), Theme: theme.New(theme.Plain, true), Keys: keymap.Default(), Crash: &Crash{},
		Server: Server{Name: "127.0.0.1:6379", Role: "master", Mode: "single", Version: "redis 7.0.15"},
	}
	for _, c := range change {
		c(&o)
	}
	d := &direct{m: newRoot(context.Background(), o, nil, outlet{func(string) error { return nil }, func() error { return nil }, &inFlight{}})}
	d.fw = newFollowing()
	d.m.now, d.m.started = noon, noon.Add(-3*time.Minute)
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	return d
}

func (d *direct) send(msgs ...tea.Msg) *direct {
	for _, msg := range msgs {
		next, _ := d.m.Update(msg)
		d.m = next.(root)
	}
	return d
}

func (d *direct) keys(names ...string) *direct {
	for _, n := range names {
		d.send(press(n))
	}
	return d
}

// found puts locks on the screen, as a first pass that ended just now does.
func (d *direct) found(locks ...inspect.Lock) *direct {
	cov := inspect.Coverage{Match: []string{"*"}, DBs: []int{0}, Depth: inspect.Deep, Scanned: 1234567, Keyspace: 1234567,
		Nodes: 1, NodesScanned: 1, Complete: true, PossibleHidden: 3}
	return d.sees(&inspect.View{Rows: watched(locks...), Nodes: nodes(), Coverage: cov})
}

// sees is news of what a Follower knows.
func (d *direct) sees(v *inspect.View, events ...inspect.Event) *direct {
	d.fw.take(v, d.m.now)
	return d.send(newsMsg{view: v, slots: slices.Clone(d.fw.slots), changed: true, events: events, at: d.m.now})
}

// nodes is one node that answers and is followed by tracking.
func nodes() []inspect.NodeStatus {
	return []inspect.NodeStatus{{
		Addr: "127.0.0.1:6379", Reach: inspect.Live, Heard: noon, Source: inspect.ByTracking, Following: "by tracking",
	}}
}

// watched are locks that are followed, each since a minute.
func watched(locks ...inspect.Lock) []*inspect.Watched {
	var out []*inspect.Watched
	for _, l := range locks {
		out = append(out, &inspect.Watched{Lock: l, FirstSeen: noon.Add(-time.Minute)})
	}
	return out
}

func (d *direct) view() string { return d.m.View() }

// someLocks are of every kind that a row can be.
func someLocks() []inspect.Lock {
	at := noon.Add(-200 * time.Millisecond)
	lock := func(key, fam string, k family.Kind, ttl int64, ids ...string) inspect.Lock {
		l := inspect.Lock{Node: "127.0.0.1:6379", Key: wire.Raw(key), Resource: wire.Raw(key), Family: fam, Label: fam, Kind: k,
			Confidence: family.Certain, Type: family.String, State: family.Held, TTL: ttl, Persistent: ttl < 0,
			SampledAt: at, Uncertainty: time.Millisecond}
		if ttl >= 0 {
			l.Deadline = at.Add(time.Duration(ttl) * time.Millisecond)
		}
		for _, id := range ids {
			l.Holders = append(l.Holders, family.Holder{ID: wire.Raw(id), Count: 1})
		}
		return l
	}
	redisson := lock("order:4711", "redisson", family.Mutex, 29950, "8743c9c0-0795-4907-87fd-6c719a6b4586:38")
	redisson.Holders[0].Count, redisson.Holders[0].Label = 2, "thread 38"
	redisson.Waiters = &family.Waiters{Count: 2, How: "pubsub"}
	redisson.Fence = "34"
	redisson.Companions = []wire.Raw{"redisson_lock_token:{order:4711}"}
	lost := lock("lock:servicebook.emit", "python-redis-lock", family.Mutex, -1, "GxwErhZvp2QmLvacHpVgjGjA")
	lost.Warnings = []family.Warning{{Code: "no-expiry", Text: "it has no expiry; if its holder dies, it stays until somebody releases it"}}
	shed := lock("job-lock:default:dailyReport", "shedlock", family.Lease, 543210, "ADDED:2026-11-30T11:59:00.000Z@web-1.example.org:9c")
	shed.Holders[0].Host, shed.Holders[0].Since = "web-1.example.org", noon.Add(-time.Minute)
	units := lock("report/lock:123", "unknown", family.Mutex, 19999999845000, "owner")
	units.Confidence, units.Candidates = family.Likely, []string{"home-grown"}
	units.Deadline = at.Add(290 * 365 * 24 * time.Hour)
	units.Warnings = []family.Warning{{Code: "endless", Text: "its TTL is 634 years: a mistake of units"}}
	stale := lock("RedisMutex:cleanup", "redis-mutex", family.Mutex, -1)
	stale.State, stale.Deadline = family.Lapsed, noon.Add(-12*time.Minute)
	readers := lock("catalog", "redisson", family.RWLock, 8400, "1ff31903-128b-42f2-8384-c34281ee02f2:7", "b893b79b-b42d-438f-9efa-300a2c244c1e:1")
	evil := lock("lock:\x1b]0;PWNED\x07\x1b[2J", "unknown", family.Mutex, 600000, "\x1b]52;c;cm0gLXJmIH4=\x07tok")
	soon := lock("invoice:2024-11", "redsync", family.Mutex, 840, "uuwXUfc+QzqZ5tab/h20Eg==")
	korean := lock("주문:결제:락", "redis-py", family.Semaphore, 45000, "eb578a64ec8e11f1bb3202fc00000001")
	return []inspect.Lock{redisson, lost, shed, units, stale, readers, evil, soon, korean}
}

func TestGoldenList(t *testing.T) {
	golden(t, "list-80x24", newDirect(80, 24).found(someLocks()...).view())
	golden(t, "list-120x40", newDirect(120, 40).found(someLocks()...).view())
	golden(t, "list-80x24-wide", newDirect(80, 24).found(someLocks()...).keys("w").view())
	golden(t, "list-60x12", newDirect(60, 12).found(someLocks()...).view())
}

func TestGoldenFilterAndSort(t *testing.T) {
	d := newDirect(80, 24).found(someLocks()...).keys("/", "o", "r", "d", "e", "r")
	golden(t, "filter-typing", d.view())
	golden(t, "filter-kept", d.keys("enter").view())
	golden(t, "filter-inverse", d.keys("esc", "/", "!", "l", "o", "c", "k", "enter").view())
	golden(t, "sort-menu", d.keys("esc", "o", "down", "down").view())
	golden(t, "sorted-by-time", d.keys("enter").view())
}

func TestGoldenDetailHelpAndSmall(t *testing.T) {
	d := newDirect(80, 24).found(someLocks()...).keys("/", "4", "7", "1", "1", "enter")
	golden(t, "detail-80x24", d.keys("enter").view())
	golden(t, "help-120x40", newDirect(120, 40).found(someLocks()...).keys("?").view())
	golden(t, "too-small", newDirect(50, 10).found(someLocks()...).view())
	golden(t, "empty", newDirect(80, 24).found().view())
}

// Where not everything could be looked at, it is not said that no lock is there.
func TestEmptyAndIncomplete(t *testing.T) {
	d := newDirect(80, 24).found()
	v := *d.m.feed.view
	v.Coverage.Complete, v.Coverage.Errors = false, []string{"27 keys could not be read"}
	d.sees(&v)
	if s := d.view(); strings.Contains(s, "No locks here") || !strings.Contains(s, "not everything could be looked at") {
		t.Errorf("%s", s)
	}
}

// A server that is lost shows at once; rows keep their last facts with their
// age, and nothing counts on as if it were known.
func TestGoldenServerLost(t *testing.T) {
	d := newDirect(80, 24).found(someLocks()...)
	v := *d.m.feed.view
	v.Nodes = nodes()
	v.Nodes[0].Reach = inspect.Late
	d.m.now = noon.Add(1200 * time.Millisecond)
	golden(t, "late-80x24", d.sees(&v).view())
	v.Nodes = nodes()
	n := &v.Nodes[0]
	n.Reach, n.Err, n.RetryAt = inspect.Lost, "connection refused: does Redis run there?", noon.Add(18*time.Second)
	d.m.now = noon.Add(15 * time.Second)
	golden(t, "lost-80x24", d.sees(&v).view())
	if strings.Contains(d.view(), "due, asking") {
		t.Error("a countdown went on without a server")
	}
}

// While the first rows come in page by page the cursor stays at the top, where
// the eye is, until the operator moves it.
func TestCursorWaitsAtTheTop(t *testing.T) {
	rows := watched(someLocks()...)
	page := func(w ...*inspect.Watched) *inspect.View {
		return &inspect.View{Rows: w, Nodes: nodes(), Scanning: true, Coverage: inspect.Coverage{Nodes: 1}}
	}
	d := newDirect(80, 24).sees(page(rows[0])).sees(page(rows...))
	if c := d.m.list.table.Cursor(); c != 0 {
		t.Errorf("the cursor is on row %d", c)
	}
	d = newDirect(80, 24).sees(page(rows[0], rows[7])).keys("down").sees(page(rows...))
	if r, _ := d.m.list.current(); r.lock.Key != rows[0].Key {
		t.Errorf("the operator was on %s, the cursor is on %s", rows[0].Key, r.lock.Key)
	}
}

// Whatever a family made of a server's data, nothing of it may command the
// terminal (B33): not a host, a label, a note, a warning or a holder's id.
func TestB33EveryFieldIsHarmless(t *testing.T) {
	const evil = "\x1b]0;PWNED\x07\u202e\x9b2J\n\r"
	l := someLocks()[0]
	l.Fence, l.Label, l.Family, l.Note, l.Candidates = evil, evil, evil, evil, []string{evil}
	l.Key, l.Resource, l.Node, l.Kind = evil, evil, evil, family.Kind(evil)
	l.Holders[0].Host, l.Holders[0].Label, l.Holders[0].Mode, l.Holders[0].ID = evil, evil, evil, evil
	l.Waiters = &family.Waiters{Count: 1, How: evil, IDs: []wire.Raw{evil}}
	l.Warnings = []family.Warning{{Code: evil, Text: evil}}
	d := newDirect(120, 40, func(o *Options) { o.Explain = func(string) string { return "explained" } }).found(l)
	views := d.view() + d.keys("w").view() + d.keys("enter").view()
	d.m.release = release{row: d.m.list.rows[0], stage: asking, seen: l, live: l, blocked: evil, lost: evil, news: evil,
		closer: closer{note: &inspect.HoldNote{By: evil, Reason: evil}, foreseen: []string{evil}}}
	d.m.exam = exam{id: d.m.release.row.id, look: inspect.Examination{Unknown: []string{evil}, Contention: []inspect.Sign{{Says: evil, How: evil}},
		Evidence: []inspect.Evidence{{Says: evil, How: "CLIENT LIST"}}}}
	views += d.m.open(atRelease).View()
	d.m.release.stage = picking
	views += d.m.open(atRelease).View()
	d.m.release.stage, d.m.release.after, d.m.release.warnings = done, evil, []string{evil}
	d.m.release.outcome = inspect.Outcome{Word: inspect.Changed, Now: []inspect.Lock{l}, Err: errors.New(evil)}
	views += d.m.open(atRelease).View() + d.m.say(bad, evil).View()
	if err := d.m.opts.Crash.Err(); err != nil || !strings.Contains(views, "PWNED") {
		t.Fatalf("the screens could not be drawn: %v", err)
	}
	for _, r := range views {
		if r != '\n' && !wire.Printable(r) {
			t.Fatalf("the screen holds %q:\n%q", r, views)
		}
	}
}
