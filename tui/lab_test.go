package tui

import (
	"context"
	"errors"
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
			golden(t, name("fork"), d.lab("[", "[", "[", "[", "[", "F", "down").view())
			golden(t, name("talk"), onStory(t, "gc-pause-late-write", size.w, size.h, lang).lab("]", "]", "]", "]", "]", "]", "P").view())
		}
	}
}

// Under an East Asian locale ambiguous characters may be two cells wide: the
// lab's lanes are ASCII, and none of its lines is too long by the terminal's count.
func TestLabScreensFitInEveryWorld(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		for _, size := range []struct{ w, h int }{{80, 24}, {120, 40}} {
			d := newDirect(size.w, size.h, labOptions(t, lang)).lab("4")
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
	d := onStory(t, "gc-pause-late-write", 80, 24, "en").lab("]", "]", "]", "F", "down", "enter")
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
	if d.lab("z"); len(d.m.lab.stage.front().run.Broken) != 0 {
		t.Error("undone, and still broken")
	}
}

func TestLabAsksBeforeItWritesToAServer(t *testing.T) {
	asked := false
	d := newDirect(80, 24, labOptions(t, "en"), func(o *Options) {
		o.Server.Sandbox = false
		o.Lab.Play = func(ctx context.Context, there scenario.Where, s *scenario.Scenario, w *scenario.World, ends *scenario.Ending) (LabRun, error) {
			asked = asked || there == scenario.ChosenRedis
			r, err := playInSandbox(ctx, there, s, w, ends)
			r.Prefix, r.Lease = "fencepost:lab:abc:", 500*time.Millisecond
			return r, err
		}
	}).lab("4", "enter", "T")
	if asked || !strings.Contains(d.view(), "fencepost:lab:") {
		t.Fatalf("it did not ask:\n%s", d.view())
	}
	if d.lab("enter"); asked {
		t.Fatal("the choice that has the focus writes to the server")
	}
	d.lab("T", "down", "enter", "]")
	if !asked || !strings.Contains(d.view(), "recorded 12:00:00, real leases of 0.5 s") {
		t.Errorf("it does not say that it is a recording:\n%s", d.view())
	}
	guarded := newDirect(80, 24, labOptions(t, "en"), func(o *Options) { o.Server = Server{Name: "prod", Guarded: true} }).lab("4", "enter", "T")
	if guarded.m.lab.stage.menu.open {
		t.Error("a guarded server that is not armed was offered")
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
