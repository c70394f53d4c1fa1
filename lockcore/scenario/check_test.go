package scenario_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/sandbox"
	"fencepost/lockcore/scenario"
	"fencepost/lockcore/wire"
)

func shipped(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("data", name+".toml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each mistake is told at its line, in words that say what to do, and all of
// them at once.
func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	good := shipped(t, "gc-pause-late-write")
	for _, c := range []struct{ old, new, want string }{
		{"A pause 10.1", "A pause soon", "is no time in seconds"},
		{"A pause 10.1", "A doze 10", "nobody can"},
		{" 3  2.0 A", " 3  2.0 a", "no actor"},
		{" 3  2.0 A", "x3  2.0 A", "no step number"},
		{"10.0 - over", "10.0 A over", "done by -"},
		{"10.0 - over", "10.0 N split Z", "names Z"},
		{"10.0 - over", "0.5 - over", "before step"},
		{"10.0 - over", "10.0 A hand", "cannot stand behind hand"},
		{`guard = "none"`, `guard = "perhaps"`, "is none of"},
		{`guard = "none"`, `fence = "none"`, "there is no switch"},
		{"stale-write@8", "stale-write", "is no rule at a step"},
		{"stale-write@8", "stale-write@77", "it has no step 77"},
		{`verdict = "unsafe"`, `verdict = "safe"`, "does not go with"},
		{`reach = "always"`, `reach = "here"`, "broken_by"},
		{`reach = "always"`, ``, "how far"},
		{"right = 3", "right = 9", "right says which"},
		{`runs = ["sandbox", "redis", "own"]`, `runs = ["moon"]`, "none of sandbox"},
		{`signals = ["release-owner-mismatch"`, `signals = ["noise"`, "there is no signal"},
		{`group = "D"`, `gruop = "D"`, "nothing is called"},
		{`name = "gc-pause-late-write"`, `name = "GC Pause"`, "small letters"},
		{`title = "The stale owner wins."`, ``, "needs a title"},
		{`[[world]]`, `[[world]`, ":"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, err := scenario.Parse("story.toml", bad)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v\nmust say %q", c.new, c.old, err, c.want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "story.toml:") {
			t.Errorf("%q: no place in %q", c.new, err)
		}
	}
	twice := strings.NewReplacer("A pause 10.1", "A doze 10", "stale-write@8", "stale-write").Replace(good)
	if _, err := scenario.Parse("story.toml", twice); err == nil || strings.Count(err.Error(), "story.toml") < 2 {
		t.Errorf("two mistakes are told as %v", err)
	}
}

// A master is named where there are masters, and nowhere else.
func TestCheckMasters(t *testing.T) {
	quorum, plain := shipped(t, "redlock-pause"), shipped(t, "server-restart")
	for _, c := range []struct{ text, old, new, want string }{
		{quorum, "- stop R3", "- stop", "does not say which of R1"},
		{quorum, "- stop R3", "- stop R9", "cannot stand behind stop"},
		{quorum, "from R4 R5", "from R4 R7", "is no master of a quorum"},
		{quorum, "split A from R4 R5", "split - from R4", "cannot stand behind split"},
		{quorum, "found_by = [1, 3, 6]", "found_by = [7]", "none of the six questions"},
		{plain, "- stop", "- stop R3", "there is one server only"},
	} {
		bad := strings.Replace(c.text, c.old, c.new, 1)
		if bad == c.text {
			t.Fatalf("%q is not in the file", c.old)
		}
		if _, err := scenario.Parse("story.toml", bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v\nmust say %q", c.new, c.old, err, c.want)
		}
	}
}

// What stands in a file never makes the program panic or hang.
func FuzzParseAndPlay(f *testing.F) {
	for _, name := range []string{"gc-pause-late-write", "polling-herd", "server-restart", "thread-hand-off", "ghost-acquire"} {
		f.Add(shipped(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenario.Parse("fuzz.toml", text)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		for i := range s.Worlds {
			lab := sandbox.NewLab()
			_, err := scenario.Play(ctx, s, &s.Worlds[i], lab, scenario.Options{Where: scenario.Sandbox})
			lab.Close()
			_ = err // it may end in an error; it must end
		}
	})
}

// failing is a stage whose connection breaks after some commands.
type failing struct {
	*sandbox.Lab
	left int
}

var errBroken = errors.New("broken pipe")

func (f *failing) Do(ctx context.Context, node string, calls ...wire.Call) ([]any, error) {
	if f.left--; f.left < 0 {
		return nil, errBroken
	}
	return f.Lab.Do(ctx, node, calls...)
}

// A server that goes away in the middle is no part of the story: the run breaks
// off and says so, and does not go on as if the network were in the script.
func TestABrokenConnectionIsNotTakenForTheStory(t *testing.T) {
	s, w := find(t, "gc-pause-late-write", "guard")
	for left := range 12 {
		lab := sandbox.NewLab()
		_, err := scenario.Play(t.Context(), s, w, &failing{lab, left}, scenario.Options{})
		lab.Close()
		if !errors.Is(err, errBroken) {
			t.Errorf("after %d commands the connection broke, and the run ended with %v", left, err)
		}
	}
}

func TestPlayEndsWithItsContext(t *testing.T) {
	s, w := find(t, "watchdog-outlives-work", "own-task")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lab := sandbox.NewLab()
	defer lab.Close()
	if _, err := scenario.Play(ctx, s, w, lab, scenario.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and it ended with %v", err)
	}
}
