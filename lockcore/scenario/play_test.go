package scenario_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"fencepost/lockcore/sandbox"
	"fencepost/lockcore/scenario"
)

// play plays a world in the sandbox.
func play(t *testing.T, s *scenario.Scenario, w *scenario.World, opt scenario.Options) *scenario.Run {
	t.Helper()
	lab := sandbox.NewLab()
	defer lab.Close()
	opt.Where = scenario.Sandbox
	run, err := scenario.Play(t.Context(), s, w, lab, opt)
	if err != nil {
		t.Fatalf("%s/%s: %v", s.Name, w.Name, err)
	}
	return run
}

// once plays a world of a shipped story as it stands, once for all tests.
func once(t *testing.T, s *scenario.Scenario, w *scenario.World) *scenario.Run {
	t.Helper()
	key := s.Name + "/" + w.Name
	if run, ok := playedOnce[key]; ok {
		return run
	}
	ends := w.Ends
	playedOnce[key] = play(t, s, w, scenario.Options{Seed: 1, Ends: &ends})
	return playedOnce[key]
}

var playedOnce = make(map[string]*scenario.Run)

func stories(t *testing.T) []*scenario.Scenario {
	t.Helper()
	all, err := scenario.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryWorldEndsAsItsFileSays(t *testing.T) {
	all := stories(t)
	if len(all) != 41 {
		t.Errorf("%d stories are shipped, not 41", len(all))
	}
	for _, s := range all {
		for i := range s.Worlds {
			w := &s.Worlds[i]
			t.Run(s.Name+"/"+w.Name, func(t *testing.T) {
				if run := once(t, s, w); !run.AsFiled() {
					t.Errorf("ended %s, broken %v\nthe file says %s, broken %v", run.Verdict, run.Broken, w.Ends.Verdict, w.Ends.Broken)
				}
				if w.Fenced != nil {
					guarded, ends := s.With(w, scenario.FencingOn)
					run := play(t, s, &guarded, scenario.Options{Seed: 1, Ends: ends})
					if !run.AsFiled() {
						t.Errorf("with the guard on top: ended %s, broken %v\nthe file says %s, broken %v", run.Verdict, run.Broken, ends.Verdict, ends.Broken)
					}
				}
			})
		}
	}
}

func TestAStoryWhoseExpectationIsChangedFails(t *testing.T) {
	for _, s := range stories(t) {
		w := &s.Worlds[0]
		wrong := w.Ends
		wrong.Broken = append(slices.Clone(wrong.Broken), scenario.Violation{Rule: scenario.Herd, Step: 1})
		run := *once(t, s, w)
		if run.Ends = &wrong; run.AsFiled() {
			t.Errorf("%s/%s: one rule more was expected, and nobody noticed", s.Name, w.Name)
		}
		if len(w.Ends.Broken) > 0 {
			moved := w.Ends
			moved.Broken = slices.Clone(moved.Broken)
			moved.Broken[0].Step++
			if run.Ends = &moved; run.AsFiled() {
				t.Errorf("%s/%s: a rule was expected a step later, and nobody noticed", s.Name, w.Name)
			}
		}
	}
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	for _, s := range stories(t) {
		for i := range s.Worlds {
			w := &s.Worlds[i]
			ends := w.Ends
			if again := play(t, s, w, scenario.Options{Seed: 1, Ends: &ends}); !reflect.DeepEqual(once(t, s, w), again) {
				t.Errorf("%s/%s: two runs with one seed differ", s.Name, w.Name)
			}
		}
	}
}

func TestSeedMovesOnlyTheJitter(t *testing.T) {
	s, err := scenario.Find("polling-herd")
	if err != nil {
		t.Fatal(err)
	}
	w := s.World("backoff")
	one, two := play(t, s, w, scenario.Options{Seed: 1}), play(t, s, w, scenario.Options{Seed: 2})
	if reflect.DeepEqual(one.Steps, two.Steps) {
		t.Error("backoff with jitter is the same for two seeds")
	}
}

// The numbers of the waiters' attempts are those of the story.
func TestHerdCountsAttemptsPerHandOff(t *testing.T) {
	s, err := scenario.Find("polling-herd")
	if err != nil {
		t.Fatal(err)
	}
	for world, want := range map[string]int{"poll": 153, "notify": 1, "one-process": 1, "fair": 1} {
		run := once(t, s, s.World(world))
		got := 0
		for _, st := range run.Steps {
			got = max(got, st.View.Handed)
		}
		if got != want {
			t.Errorf("%s: %d attempts until the lock changed hands, not %d", world, got, want)
		}
	}
}

func TestWorldsDifferInTheSwitchesThatAreNamed(t *testing.T) {
	for _, s := range stories(t) {
		first := s.Worlds[0]
		for _, w := range s.Worlds[1:] {
			for name, choice := range w.Set {
				if choice.String() != first.Set[name].String() && !slices.Contains(s.Switch, name) {
					// Another schedule, not another cure: it says so by its own steps.
					if s.Name == "server-clock" && w.Name == "back" || s.Name == "safe-unlock-stale-write" && w.Name == "longer-lease" {
						continue
					}
					t.Errorf("%s/%s differs in %s, which the story does not name", s.Name, w.Name, name)
				}
			}
		}
	}
}

func TestSafeHereNamesStoriesThatExist(t *testing.T) {
	for _, s := range stories(t) {
		for _, w := range s.Worlds {
			for _, name := range w.BrokenBy {
				if _, err := scenario.Find(name); err != nil {
					t.Errorf("%s/%s is broken by %q, which is not there", s.Name, w.Name, name)
				}
			}
			if w.Ends.Verdict == scenario.Safe && s.Text.Provided[w.Name] == "" {
				t.Errorf("%s/%s is safe, and nobody says as long as what", s.Name, w.Name)
			}
		}
	}
}

// A pause stops the whole process and its renewals; a stall only the worker.
func TestPauseStopsRenewalsAndStallDoesNot(t *testing.T) {
	text := func(verb string) string {
		return strings.ReplaceAll(`
name = "pause-or-stall"
runs = ["sandbox"]
steps = """
1 0.0 A acquire
2 1.0 A VERB 15
3 14.0 B acquire
4 16.5 A release
"""
[set]
renew = "script every=3s"
[[world]]
name = "only"
verdict = "safe"
reach = "always"
[text]
title = "t"
story = "s"
`, "VERB", verb)
	}
	for verb, granted := range map[string]bool{"pause": true, "stall": false} {
		s, err := scenario.Parse("test", text(verb))
		if err != nil {
			t.Fatal(err)
		}
		run := play(t, s, &s.Worlds[0], scenario.Options{})
		got := false
		for _, st := range run.Steps {
			if st.Actor == "B" && st.Dids[0].Sees.Code == scenario.Granted {
				got = true
			}
		}
		if got != granted {
			t.Errorf("%s: B was let in: %v, want %v", verb, got, granted)
		}
	}
}
