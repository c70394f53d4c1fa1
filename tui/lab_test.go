package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

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
	t.Parallel()
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

// What Redis and the resource answer is never cut, in no story and no language:
// in lanes of a narrow screen, and of half a wide one.
func TestLabAnswersAreNeverCut(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		for _, width := range []int{80, 120, 58} {
			d := newDirect(120, 40, labOptions(t, lang)).lab("4")
			l := lanesFor(width)
			for _, s := range d.m.opts.Lab.Stories {
				for i := range s.Worlds {
					ends := s.Worlds[i].Ends
					played, err := playInSandbox(t.Context(), scenario.Sandbox, s, &s.Worlds[i], &ends)
					if err != nil {
						t.Fatal(err)
					}
					d.m.lab.stage = &labStage{story: s, worlds: []labWorld{{s.Worlds[i], played}}}
					left, others := sides(played.Run)
					for _, st := range played.Steps {
						row := laneRow{step: st, left: left, alone: len(others) == 1, first: true}
						_, redis, store := d.m.laneTexts(l, played.Run, row)
						line := theme.Strip(d.m.laneRow(l, played.Run, row))
						if !strings.Contains(line, redis) || !strings.Contains(line, store) || theme.Width(line) > width {
							t.Errorf("%s, %d cells, %s/%s step %d: %q and %q are not in full in\n%s", lang, width, s.Name, s.Worlds[i].Name, st.N, redis, store, line)
						}
					}
				}
			}
		}
	}
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

// Where the terminal is too small for the stage, no key does what nobody sees.
func TestLabTakesNoKeyThatNobodySeesTheEndOf(t *testing.T) {
	d := onStory(t, "gc-pause-late-write", 70, 20, "en").lab("]", "]", "P", "F", "enter", "w")
	if s := d.m.lab.stage; s.number() != 0 || s.menu.open || d.m.front() != atLab || !strings.Contains(d.view(), "goes back") {
		t.Errorf("step %d, a menu: %v\n%s", s.number(), s.menu.open, d.view())
	}
	if d.lab("q"); d.m.front() == atLab {
		t.Error("q does not go back")
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
