package tui

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/scenario"
)

// The worlds part where the story says, and a fork is a world of its own.
func TestLabForkIsAWorldOfItsOwn(t *testing.T) {
	d := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("]", "]", "]", "F", "enter")
	s := d.m.lab.stage
	if len(s.worlds) != 3 || s.at != 2 || s.front().run.Ends != nil {
		t.Fatalf("%d worlds, at %d", len(s.worlds), s.at)
	}
	if !strings.Contains(d.view(), "CRASHES") {
		t.Errorf("the fork is not named:\n%s", d.view())
	}
	if d.lab("w").m.lab.stage.at != 0 {
		t.Error("w does not go back to the story's own worlds")
	}
}

func TestLabByHandIsSavedAndUndone(t *testing.T) {
	d := newDirect(80, 24, labOptions(t, "en")).lab("4", "f")
	d.lab("enter", "down", "down", "down", "down", "enter") // A acquires, and is paused
	for range 4 {
		d.lab("down")
	}
	d.lab("enter", "tab", "up", "up", "up", "up", "up", "up", "up", "up", "enter") // the lease ends, B acquires
	run := d.m.lab.stage.front().run
	if !slices.ContainsFunc(run.Broken, func(v scenario.Violation) bool { return v.Rule == scenario.MutualExclusion }) {
		t.Errorf("A and B should be inside together: %v\n%s", run.Broken, d.view())
	}
	d.fits(t, "by hand", 4)
	if d.lab("s"); !strings.Contains(d.view(), ".toml") {
		t.Errorf("it was not saved:\n%s", d.view())
	}
	stories := d.m.opts.Lab.Stories
	if last := stories[len(stories)-1]; !strings.HasPrefix(last.Name, "by-hand-") || last.Worlds[0].Ends.Verdict != run.Verdict {
		t.Errorf("it is not in the list: %s", last.Name)
	}
	if d.lab("z"); len(d.m.lab.stage.front().run.Broken) != 0 {
		t.Error("undone, and still broken")
	}
}

// playedAt is a lab that notes where it was asked to play, and needs no server.
func playedAt(there *[]scenario.Where) func(*Options) {
	return func(o *Options) {
		o.Server.Sandbox = false
		o.Lab.Play = func(ctx context.Context, where scenario.Where, s *scenario.Scenario, w *scenario.World, ends *scenario.Ending) (LabRun, error) {
			*there = append(*there, where)
			r, err := playInSandbox(ctx, where, s, w, ends)
			if where != scenario.Sandbox {
				r.Prefix, r.Lease = "fencepost:lab:0123456789ab:", 500*time.Millisecond
			}
			return r, err
		}
	}
}

func TestLabAsksBeforeItWritesToAServer(t *testing.T) {
	var there []scenario.Where
	d := newDirect(80, 24, labOptions(t, "en"), playedAt(&there)).lab("4", "enter", "T")
	asked := func() bool { return slices.Contains(there, scenario.ChosenRedis) }
	if asked() || !strings.Contains(d.view(), "fencepost:lab:") {
		t.Fatalf("it did not ask:\n%s", d.view())
	}
	if d.lab("enter"); asked() {
		t.Fatal("the choice that has the focus writes to the server")
	}
	d.lab("T", "down", "down", "enter", "]")
	if !asked() || !strings.Contains(d.view(), "your Redis | recorded 12:00:00, real leases of 0.5 s") {
		t.Errorf("it does not say that it is a recording:\n%s", d.view())
	}
	if v := d.lab("@").view(); !strings.Contains(v, "fencepost:lab:0123456789ab:") {
		t.Errorf("the commands do not say below which prefix:\n%s", v)
	}
	for what, server := range map[string]Server{"guarded": {Name: "prod", Guarded: true}, "read-only": {Name: "r", ReadOnly: "this is a replica"}} {
		there = nil
		d := newDirect(80, 24, labOptions(t, "en"), playedAt(&there), func(o *Options) { o.Server = server }).lab("4", "enter", "T", "down", "down")
		if v := d.view(); !strings.Contains(v, "> not "+server.Name) {
			t.Errorf("%s: the menu does not say that it may not:\n%s", what, v)
		}
		if d.lab("enter"); asked() {
			t.Errorf("%s: it was written to all the same", what)
		}
	}
}

// Forks run anew on a server too; nobody else's server is killed.
func TestLabForksOnServers(t *testing.T) {
	var there []scenario.Where
	d := newDirect(80, 24, labOptions(t, "en"), playedAt(&there)).lab("4", "enter", "T", "down", "enter", "]")
	if d.m.lab.stage.where != scenario.OwnServers || !strings.Contains(d.view(), "servers of the lab") {
		t.Fatalf("it is not played on servers of the lab:\n%s", d.view())
	}
	d.lab("F")
	for range d.m.lab.stage.menu.choices {
		d.lab("down")
	}
	if v := d.view(); !strings.Contains(v, "> the lock's server is killed (kill -9)") {
		t.Errorf("the lab's own server cannot be killed:\n%s", v)
	}
	there = nil
	if d.lab("enter"); !strings.Contains(d.view(), "SERVER KILLED (KILL -9)") || strings.Contains(d.view(), "playing") {
		t.Errorf("the fork is not named, or said to be playing still:\n%s", d.view())
	}
	if len(d.m.lab.stage.worlds) != 3 || !slices.Equal(there, []scenario.Where{scenario.OwnServers}) {
		t.Errorf("the fork was played %v; %d worlds", there, len(d.m.lab.stage.worlds))
	}
	d.lab("T", "down", "down", "enter", "F")
	if d.m.lab.stage.where != scenario.ChosenRedis {
		t.Fatalf("it is not played on the chosen server:\n%s", d.view())
	}
	for _, c := range d.m.lab.stage.menu.choices {
		if strings.Contains(c.text, "kill") {
			t.Errorf("a chosen server could be killed: %s", c.text)
		}
	}
	there = nil
	if d.lab("enter"); !slices.Equal(there, []scenario.Where{scenario.ChosenRedis}) {
		t.Errorf("the fork was played %v", there)
	}
}

// A safe here names what breaks it, one key away.
func TestLabPlaysWhatBreaksASafeHere(t *testing.T) {
	d := onStory(t, "work-outlives-ttl", 80, 24, "en").lab("w", "G")
	if v := d.view(); !strings.Contains(v, "SAFE HERE") || !strings.Contains(v, "x what breaks it") {
		t.Fatalf("the end of a world that is safe here only:\n%s", v)
	}
	if v := d.lab("x").view(); !strings.Contains(v, "> gc-pause-late-write: The stale owner wins.") || !strings.Contains(v, "network-split") {
		t.Fatalf("what breaks it:\n%s", v)
	}
	if d.lab("down", "enter"); d.m.lab.stage.story.Name != "network-split" || d.m.lab.stage.step != 0 {
		t.Errorf("another story was opened:\n%s", d.view())
	}
	d.lab("esc")
	if here := d.m.opts.Lab.Stories[d.m.lab.list.cursor].Name; d.m.front() != atLabList || here != "network-split" {
		t.Errorf("Esc goes to %s in the list", here)
	}
	d = onStory(t, "ghost-acquire", 80, 24, "en").lab("w", "G", "x", "enter")
	if s := d.m.lab.stage; s.front().world.Name != "too-late" || s.step != 0 {
		t.Errorf("a story that breaks itself does so in %s", s.front().world.Name)
	}
	if v := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("G", "x").view(); !strings.Contains(v, "nothing is named") {
		t.Errorf("an unsafe world has nothing to be broken by:\n%s", v)
	}
}

// What the sandbox only plays the part of is said to be emulated, on the step.
func TestLabSaysWhatIsEmulated(t *testing.T) {
	d := onStory(t, "failover-lost-lock", 80, 24, "en").lab("]", "]", "]", "]")
	if v := d.view(); !strings.Contains(v, "replica promoted (emulated)") || !strings.Contains(v, "this step is emulated") {
		t.Errorf("a promotion in the sandbox:\n%s", v)
	}
	if v := d.lab("]").view(); strings.Contains(v, "this step is emulated") {
		t.Errorf("an acquire is no emulation:\n%s", v)
	}
}

// By hand on a server: asked first, and each act plays all of it anew there.
func TestLabByHandElsewhere(t *testing.T) {
	var there []scenario.Where
	d := newDirect(80, 24, labOptions(t, "en"), playedAt(&there)).lab("4", "f", "enter", "T", "down", "down")
	if v := d.view(); !strings.Contains(v, "> 127.0.0.1:6379: below fencepost:lab:<random>: only") || slices.Contains(there, scenario.ChosenRedis) {
		t.Fatalf("it does not ask:\n%s", v)
	}
	there = nil
	d.lab("enter", "down", "enter")
	if !slices.Equal(there, []scenario.Where{scenario.ChosenRedis, scenario.ChosenRedis}) || len(d.m.lab.stage.free.lines) != 2 {
		t.Errorf("played %v, %d lines", there, len(d.m.lab.stage.free.lines))
	}
	if v := d.view(); !strings.Contains(v, "your Redis | recorded") {
		t.Errorf("it does not say where it was played:\n%s", v)
	}
}

// On a slow server keys come before the answer: none is lost.
func TestLabByHandDoesNotWaitForTheServer(t *testing.T) {
	var there []scenario.Where
	d := newDirect(80, 24, labOptions(t, "en"), playedAt(&there)).lab("4", "f", "T", "down", "down", "enter")
	var late []tea.Msg
	for _, key := range []string{"enter", "tab", "down", "down", "down", "down", "enter"} { // A acquires, B is paused
		next, cmd := d.m.Update(press(key))
		d.m = next.(root)
		late = append(late, collect(cmd)...)
	}
	d.lab("down", "down", "down", "down")
	before := len(d.m.lab.stage.free.lines)
	if d.lab("enter"); len(d.m.lab.stage.free.lines) != before {
		t.Error("the end of a lease was played before it was known when that is")
	}
	d.sendAll(late...)
	s := d.m.lab.stage
	if len(s.free.lines) != 2 || s.free.lines[0].Actor != "A" || s.free.lines[1].Actor != "B" || len(s.front().steps()) != 2 || s.free.cursor != 8 {
		t.Errorf("%v; %d steps were played, the cursor is at %d", s.free.lines, len(s.front().steps()), s.free.cursor)
	}
}

// Playing a story elsewhere keeps the step, the world and the answers.
func TestLabKeepsItsPlaceElsewhere(t *testing.T) {
	var there []scenario.Where
	d := newDirect(80, 24, labOptions(t, "en"), playedAt(&there)).lab("4", "enter", "w", "]", "]", "]", "]", "]", "]", "3", "T", "down", "enter")
	if s := d.m.lab.stage; s.where != scenario.OwnServers || s.step != 6 || s.at != 1 || s.answers[0] != 3 {
		t.Errorf("played %s, at step %d of world %d, answers %v", s.where, s.step, s.at, s.answers)
	}
}

// Whatever is played by hand, the file that is saved passes the check and ends
// as it says.
func TestLabByHandIsAlwaysAStory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 25 {
		var saved string
		d := newDirect(80, 24, labOptions(t, "en"), func(o *Options) {
			o.Lab.Save = func(_, text string) (string, error) { saved = text; return "/saved", nil }
		}).lab("4", "f")
		if round%2 == 1 {
			d.lab("w")
		}
		for range 1 + rng.IntN(9) {
			for range rng.IntN(3) {
				d.lab("tab")
			}
			for range rng.IntN(9) {
				d.lab([]string{"up", "down", "down"}[rng.IntN(3)])
			}
			d.lab("enter")
		}
		d.fits(t, "by hand", round).lab("s")
		s, err := scenario.Parse("saved.toml", saved)
		if err != nil {
			t.Fatalf("round %d: %v in\n%s\n%s", round, err, saved, d.view())
		}
		ends := s.Worlds[0].Ends
		run, err := playInSandbox(t.Context(), scenario.Sandbox, s, &s.Worlds[0], &ends)
		if err != nil || !run.AsFiled() {
			t.Errorf("round %d: %v; it ended %s, broken %v, and was saved as\n%s", round, err, run.Verdict, run.Broken, saved)
		}
		alreadyPlayed.Delete(s.Name + "/" + s.Worlds[0].Name) // the next has the same name
	}
}
