package tui

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/sandbox"
	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

// What is read once for all tests.
var (
	allStories = sync.OnceValues(scenario.All)
	english    = sync.OnceValues(func() (*scenario.Words, error) { return scenario.Speak("en") })
	korean     = sync.OnceValues(func() (*scenario.Words, error) { return scenario.Speak("ko") })
)

// alreadyPlayed keeps what was played: a world is the same each time.
var alreadyPlayed sync.Map

// labOptions make a lab that plays in the sandbox, in these languages.
func labOptions(t *testing.T, langs ...string) func(*Options) {
	t.Helper()
	stories, err := allStories()
	if err != nil {
		t.Fatal(err)
	}
	var words []*scenario.Words
	for _, l := range langs {
		spoken, err := map[string]func() (*scenario.Words, error){"en": english, "ko": korean}[l]()
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, spoken)
	}
	return func(o *Options) {
		o.Lab = LabOptions{Stories: stories, Words: words, Play: playInSandbox,
			Handout: func(*scenario.Words, *scenario.Scenario, []*scenario.Run) string { return "# handout" },
			Save:    func(name, _ string) (string, error) { return "/tmp/" + name, nil }}
		o.Server.Sandbox = true
	}
}

func playInSandbox(ctx context.Context, there scenario.Where, s *scenario.Scenario, w *scenario.World, ends *scenario.Ending) (LabRun, error) {
	key := s.Name + "/" + w.Name
	if run, ok := alreadyPlayed.Load(key); ok && ends != nil {
		return LabRun{Run: run.(*scenario.Run), At: noon}, nil
	}
	stage := sandbox.NewLab()
	defer stage.Close()
	run, err := scenario.Play(ctx, s, w, stage, scenario.Options{Seed: 1, Where: there, Ends: ends})
	if err == nil && ends != nil {
		alreadyPlayed.Store(key, run)
	}
	return LabRun{Run: run, At: noon}, err
}

// sendAll sends messages and what their commands answer, to the end.
func (d *direct) sendAll(msgs ...tea.Msg) *direct {
	for _, msg := range msgs {
		next, cmd := d.m.Update(msg)
		d.m = next.(root)
		for _, answer := range collect(cmd) {
			d.sendAll(answer)
		}
	}
	return d
}

// collect runs a command and those within it.
func collect(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		var out []tea.Msg
		for _, c := range msg {
			out = append(out, collect(c)...)
		}
		return out
	default:
		return []tea.Msg{msg}
	}
}

func (d *direct) lab(names ...string) *direct {
	for _, n := range names {
		d.sendAll(press(n))
	}
	return d
}

// onStory is a console with a story on its stage.
func onStory(t *testing.T, name string, width, height int, langs ...string) *direct {
	t.Helper()
	d := newDirect(width, height, labOptions(t, langs...)).lab("4")
	i := slices.IndexFunc(d.m.opts.Lab.Stories, func(s *scenario.Scenario) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no story %s", name)
	}
	for range i {
		d.lab("down")
	}
	d.lab("enter")
	if d.m.front() != atLab {
		t.Fatalf("the story did not open:\n%s", d.view())
	}
	return d
}

func TestGoldenLab(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		for _, size := range []struct{ w, h int }{{80, 24}, {120, 40}} {
			name := func(what string) string {
				return "lab-" + what + "-" + lang + map[int]string{80: "-80x24", 120: "-120x40"}[size.w]
			}
			golden(t, name("list"), newDirect(size.w, size.h, labOptions(t, lang)).lab("4", "down", "down").view())
			d := onStory(t, "gc-pause-late-write", size.w, size.h, lang)
			golden(t, name("begin"), d.view())
			golden(t, name("ask"), d.lab("]", "]", "]", "]", "]", "]", "3", "]").view())
			golden(t, name("reveal"), d.lab("1", "]").view())
			golden(t, name("commands"), d.lab("@").view())
			golden(t, name("compare"), d.lab("@", "c").view())
			golden(t, name("end"), d.lab("c", "G").view())
			golden(t, name("end-guard"), d.lab("w").view())
			golden(t, name("six"), d.lab("]", "]").view())
			golden(t, name("fork"), d.lab("[", "[", "[", "[", "[", "[", "[", "F", "down").view())
			golden(t, name("where"), onStory(t, "gc-pause-late-write", size.w, size.h, lang).lab("T").view())
			golden(t, name("by-hand"), newDirect(size.w, size.h, labOptions(t, lang)).lab("4", "f", "enter", "tab").view())
			golden(t, name("talk"), onStory(t, "gc-pause-late-write", size.w, size.h, lang).lab("]", "]", "]", "]", "]", "]", "P").view())
		}
	}
}

// Under an East Asian locale ambiguous characters may be two cells wide: the
// lab's lanes are ASCII, and none of its lines is too long by the terminal's count.
func TestLabScreensFitInEveryWorld(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		for _, size := range []struct{ w, h int }{{60, 24}, {80, 24}, {120, 40}} {
			d := newDirect(size.w, size.h, labOptions(t, lang)).lab("4")
			d.lab("f").fits(t, "by hand", 0).lab("q")
			for i, s := range d.m.opts.Lab.Stories {
				d.lab("enter")
				for range s.Worlds {
					for step := range len(d.m.lab.stage.front().steps()) + 2 {
						d.fits(t, s.Name, step)
						d.lab("c").fits(t, s.Name+" compared", step)
						d.lab("c", "]")
					}
					d.lab("P").fits(t, s.Name+" in a talk", 0)
					d.lab("q", "g", "w")
				}
				d.lab("q")
				if i < len(d.m.opts.Lab.Stories)-1 {
					d.lab("down")
				}
			}
		}
	}
}

// fits fails where a screen is not as large as the terminal, or a line of it is
// wider, or a character of it may be drawn two cells wide.
func (d *direct) fits(t *testing.T, what string, step int) *direct {
	t.Helper()
	lines := strings.Split(d.view(), "\n")
	if len(lines) != d.m.height {
		t.Errorf("%s, step %d: %d lines", what, step, len(lines))
	}
	for _, l := range lines {
		if theme.Width(l) > d.m.width {
			t.Fatalf("%s, step %d: %d cells: %s", what, step, theme.Width(l), l)
		}
		if strings.ContainsAny(l, "─│█●→…·") {
			t.Fatalf("%s, step %d: a character of doubtful width: %s", what, step, l)
		}
	}
	return d
}

func TestLabGoingBackIsGoingStraight(t *testing.T) {
	straight := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("]", "]", "]", "]", "]")
	crooked := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("G", "[", "[", "[", "g", "]", "]", "]", "]", "]", "]", "[")
	if straight.view() != crooked.view() {
		t.Errorf("going back and forth shows\n%s\ngoing straight\n%s", crooked.view(), straight.view())
	}
	sought := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("S", "5", "enter")
	if straight.view() != sought.view() {
		t.Errorf("seeking shows\n%s", sought.view())
	}
}

func TestLabQuestionHidesTheAnswer(t *testing.T) {
	d := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("]", "]", "]", "]", "]", "]", "]")
	if v := d.view(); strings.Contains(v, "70 taken") || !strings.Contains(v, "?") {
		t.Errorf("before the reveal the screen tells the answer:\n%s", v)
	}
	// The first answer counts.
	d.lab("2", "1")
	if right, of := d.m.lab.stage.score(); right != 0 || of != 1 {
		t.Errorf("score %d of %d after a wrong first answer", right, of)
	}
	if v := d.lab("]").view(); !strings.Contains(v, "70 taken") || !strings.Contains(v, "it is 1") {
		t.Errorf("after the reveal:\n%s", v)
	}
	// A step without an answer is allowed, and scores nothing.
	if right, of := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("G").m.lab.stage.score(); right != 0 || of != 0 {
		t.Errorf("score %d of %d without an answer", right, of)
	}
}

func TestLabPlaysByItselfAndStopsAtAQuestion(t *testing.T) {
	d := onStory(t, "gc-pause-late-write", 80, 24, "en").lab(".")
	for range 300 {
		d.m.now = d.m.now.Add(tickEvery)
		d.m = d.m.tickLab()
	}
	if s := d.m.lab.stage; s.number() != 6 || !s.next.IsZero() {
		t.Errorf("it stands at step %d, playing %v; the question is before step 7", s.number(), !s.next.IsZero())
	}
}

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

// Esc goes back one thing at a time, and what was left is taken up again.
func TestLabGoesBackToWhereOneWas(t *testing.T) {
	d := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("]", "]", "]", "]", "]", "]", "3", "c", "esc")
	s := d.m.lab.stage
	if d.m.front() != atLab || s.view != oneWorld || s.step != 6 {
		t.Fatalf("Esc in the comparison went elsewhere:\n%s", d.view())
	}
	if d.lab("@", "esc"); d.m.front() != atLab || d.m.lab.stage.view != oneWorld {
		t.Fatalf("Esc in the commands went elsewhere:\n%s", d.view())
	}
	if d.lab("esc"); d.m.front() != atLabList {
		t.Fatalf("Esc does not go to the list:\n%s", d.view())
	}
	if d.lab("down", "enter"); d.m.lab.stage.step != 0 {
		t.Error("another story does not begin at its beginning")
	}
	if d.lab("esc", "up", "enter"); d.m.lab.stage.step != 6 || len(d.m.lab.stage.answers) != 1 {
		t.Errorf("what was left is lost:\n%s", d.view())
	}
	d = newDirect(80, 24, labOptions(t, "en")).lab("4", "f", "enter", "esc", "f")
	if len(d.m.lab.stage.free.lines) != 1 {
		t.Errorf("what was played by hand is lost:\n%s", d.view())
	}
}

// The keys that matter now stand on the screen: those that answer, and the way back.
func TestLabTellsItsKeys(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		d := onStory(t, "gc-pause-late-write", width, 24, "en")
		if v := d.view(); !strings.Contains(v, "Esc back") || strings.Contains(v, "answer") {
			t.Errorf("%d wide, at the beginning:\n%s", width, v)
		}
		if v := d.lab("]", "]", "]", "]", "]", "]").view(); !strings.Contains(v, "1-3 answer") || !strings.Contains(v, "Esc back") {
			t.Errorf("%d wide, at a question:\n%s", width, v)
		}
		if v := d.lab("c").view(); !strings.Contains(v, "1-3 answer") || !strings.Contains(v, "who tells it") {
			t.Errorf("%d wide, compared, the question is not asked:\n%s", width, v)
		}
		if v := d.lab("c", "3").view(); strings.Contains(v, "1-3 answer") {
			t.Errorf("%d wide, answered, it is asked again:\n%s", width, v)
		}
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

// Behind the end come the six questions, and then which of them would have found it.
func TestLabAsksTheSixQuestions(t *testing.T) {
	d := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("G", "]")
	if v := d.view(); !strings.Contains(v, "Which of these would have found it?") || !strings.Contains(v, "   5  Are not-acquired") || strings.Contains(v, " x 6") {
		t.Errorf("the six questions:\n%s", v)
	}
	if v := d.lab("]").view(); !strings.Contains(v, " x 6  Or is the unlock fine") || !strings.Contains(v, " x 3  Was the lease") || strings.Contains(v, " x 1") {
		t.Errorf("which of them:\n%s", v)
	}
	if v := d.lab("]", "[", "[").view(); !strings.Contains(v, "VERDICT") {
		t.Errorf("the way back to the end:\n%s", v)
	}
	for _, s := range d.m.opts.Lab.Stories {
		if len(s.FoundBy) == 0 {
			t.Errorf("%s: nothing would have found it", s.Name)
		}
	}
}

func TestLabShowsWhyAStoryFailed(t *testing.T) {
	d := newDirect(80, 24, labOptions(t, "en"), func(o *Options) {
		o.Lab.Play = func(context.Context, scenario.Where, *scenario.Scenario, *scenario.World, *scenario.Ending) (LabRun, error) {
			return LabRun{}, errors.New("no answer\x1b[2J")
		}
	}).lab("4", "enter")
	if v := d.view(); !strings.Contains(v, "no answer") || strings.Contains(v, "\x1b[2J") {
		t.Errorf("the error does not show, or shows raw:\n%q", v)
	}
	if none := newDirect(80, 24).lab("4"); none.m.front() != atList {
		t.Error("a console without a lab opens one")
	}
}

func TestLabSpeaksAnotherLanguageAtOnce(t *testing.T) {
	d := onStory(t, "gc-pause-late-write", 80, 24, "en", "ko").lab("]")
	if !strings.Contains(d.lab("L").view(), "획득") || !strings.Contains(d.lab("L").view(), "acquire") {
		t.Error("L does not change the language")
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

// Every key of the lab's places is explained in every language.
func TestLabHelpSpeaksTheLanguage(t *testing.T) {
	words, err := korean()
	if err != nil {
		t.Fatal(err)
	}
	for _, scope := range []keymap.Scope{keymap.Lab, keymap.LabList, keymap.LabMenu, keymap.LabTalk, keymap.LabFree} {
		for _, b := range keymap.Default().For(scope) {
			if words.KeyHelp(string(b.ID), "") == "" {
				t.Errorf("%s: nobody says in Korean what %s does", scope, b.ID)
			}
			if b.Hint != "" && words.Hint(string(b.ID), "") == "" {
				t.Errorf("%s: %s has no Korean word beside its key", scope, b.ID)
			}
		}
	}
	d := onStory(t, "gc-pause-late-write", 80, 24, "ko").lab("?")
	if v := d.view(); !strings.Contains(v, "여기서 쓰는 키") || strings.Contains(v, "Keys here") {
		t.Errorf("the help in Korean:\n%s", v)
	}
	if v := newDirect(80, 24, labOptions(t, "ko")).lab("?").view(); !strings.Contains(v, "Keys here") {
		t.Errorf("outside of the lab the help is:\n%s", v)
	}
}

func TestLabHandoutIsWritten(t *testing.T) {
	if v := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("E").view(); !strings.Contains(v, "/tmp/gc-pause-late-write.md") {
		t.Errorf("no handout:\n%s", v)
	}
}

// Every key that a lab's place has a binding for does something there, or says why not.
func TestEveryLabKeyIsSafeEverywhere(t *testing.T) {
	for _, start := range [][]string{{"4"}, {"4", "f"}, {"4", "enter"}, {"4", "enter", "G"}, {"4", "enter", "P"}, {"4", "enter", "F"}} {
		for _, id := range keymap.Default().IDs() {
			b, _ := keymap.Default().Get(id)
			if id == keymap.Quit || id == keymap.Abort || id == keymap.Suspend {
				continue
			}
			for _, key := range b.Keys {
				d := newDirect(80, 24, labOptions(t, "en")).lab(start...).lab(key)
				if len(strings.Split(d.view(), "\n")) != 24 {
					t.Errorf("after %v and %s the screen has not 24 lines", start, key)
				}
			}
		}
	}
}
