package scenario_test

import (
	"errors"
	"slices"
	"testing"

	"fencepost/lockcore/scenario"
)

func find(t *testing.T, name, world string) (*scenario.Scenario, *scenario.World) {
	t.Helper()
	s, err := scenario.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.World(world)
}

func verdicts(t *testing.T, s *scenario.Scenario, w scenario.World) (scenario.Verdict, []scenario.Rule) {
	t.Helper()
	run := play(t, s, &w, scenario.Options{Seed: 1})
	var rules []scenario.Rule
	for _, v := range run.Broken {
		rules = append(rules, v.Rule)
	}
	return run.Verdict, rules
}

// Renewal keeps B out, until the whole process is stopped.
func TestForkPauseBreaksWhatRenewalKept(t *testing.T) {
	s, w := find(t, "work-outlives-ttl", "renewal")
	if v, _ := verdicts(t, s, *w); v != scenario.Safe {
		t.Fatalf("the story itself ended %s", v)
	}
	fork, err := s.Fork(w, 2, scenario.PauseIt, "A")
	if err != nil {
		t.Fatal(err)
	}
	if _, rules := verdicts(t, s, fork); !slices.Contains(rules, scenario.MutualExclusion) {
		t.Errorf("a paused process kept B out; broken: %v", rules)
	}
}

// A crash of A leaves nothing that could write late.
func TestForkCrashEndsAnActor(t *testing.T) {
	s, w := find(t, "gc-pause-late-write", "no-guard")
	fork, err := s.Fork(w, 3, scenario.CrashIt, "A")
	if err != nil {
		t.Fatal(err)
	}
	if v, rules := verdicts(t, s, fork); v != scenario.Safe {
		t.Errorf("after the crash it ended %s: %v", v, rules)
	}
}

func TestForkCutsAReply(t *testing.T) {
	s, w := find(t, "gc-pause-late-write", "no-guard")
	fork, err := s.Fork(w, 4, scenario.CutReply, "B")
	if err != nil {
		t.Fatal(err)
	}
	run := play(t, s, &fork, scenario.Options{Seed: 1})
	i := slices.IndexFunc(run.Steps, func(st scenario.Step) bool { return st.N == 5 })
	if got := run.Steps[i].Dids; len(got) < 3 || got[1].Sees.Code != scenario.Granted || got[1].Sees.Number != "34" {
		t.Errorf("B asked again and saw %+v", got)
	}
	if _, err := s.Fork(w, 10, scenario.CutReply, "A"); !errors.Is(err, scenario.ErrNothingToCut) {
		t.Errorf("there was a reply to cut after the end: %v", err)
	}
}

func TestForkLetsALeaseRunOut(t *testing.T) {
	s, w := find(t, "wait-is-not-lease", "wait-2s")
	fork, err := s.Fork(w, 2, scenario.RunOut, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, rules := verdicts(t, s, fork); !slices.Contains(rules, scenario.MutualExclusion) {
		t.Errorf("A's lease ran out and B stayed out; broken: %v", rules)
	}
}

// What comes before the fork is as it was.
func TestForkKeepsThePast(t *testing.T) {
	s, w := find(t, "gc-pause-late-write", "guard")
	straight := play(t, s, w, scenario.Options{Seed: 1})
	for _, twist := range []scenario.Twist{scenario.PauseIt, scenario.CrashIt, scenario.RunOut} {
		fork, err := s.Fork(w, 5, twist, "B")
		if err != nil {
			t.Fatal(err)
		}
		forked := play(t, s, &fork, scenario.Options{Seed: 1})
		for i, st := range straight.Steps {
			if st.N > 5 {
				break
			}
			if got := forked.Steps[i]; got.Is != st.Is || got.Thinks != st.Thinks || got.At != st.At {
				t.Errorf("%s: step %d is %+v, was %+v", twist, st.N, got.Is, st.Is)
			}
		}
	}
}

// What somebody played by hand can be saved, checked and played again.
func TestFormatIsReadAgain(t *testing.T) {
	s := scenario.FreeLab(false)
	w := &s.Worlds[0]
	for _, text := range []string{"1 0 A acquire, read", "2 1 A pause 12", "3 11 B acquire, read", "4 11.5 B write 50", "5 13.5 A write 70"} {
		line, err := scenario.ParseLine(text)
		if err != nil {
			t.Fatal(err)
		}
		w.Lines = append(w.Lines, line)
	}
	run := play(t, s, w, scenario.Options{Seed: 1})
	again, err := scenario.Parse("saved", scenario.Format(s, w, run, "saved", "Saved by hand."))
	if err != nil {
		t.Fatal(err)
	}
	ends := again.Worlds[0].Ends
	if replay := play(t, again, &again.Worlds[0], scenario.Options{Seed: 1, Ends: &ends}); !replay.AsFiled() || replay.Verdict != scenario.Unsafe {
		t.Errorf("what was saved ended %s: %v", replay.Verdict, replay.Broken)
	}
}

// A server that is killed and comes back empty is no end of any story, at
// whatever step: the world goes on to its end, and its numbers begin anew.
func TestForkKillsTheServer(t *testing.T) {
	for _, s := range stories(t) {
		for i := range s.Worlds {
			w := &s.Worlds[i]
			for _, after := range append([]int{0}, w.Steps()...) {
				fork, err := s.Fork(w, after, scenario.KillIt, "")
				if errors.Is(err, scenario.ErrNothingToKill) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				play(t, s, &fork, scenario.Options{Seed: 1})
			}
		}
	}
	s, w := find(t, "work-outlives-ttl", "renewal")
	fork, err := s.Fork(w, 2, scenario.KillIt, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, rules := verdicts(t, s, fork); !slices.Contains(rules, scenario.FenceOrder) {
		t.Errorf("the server forgot its counter, and the numbers go on; broken: %v", rules)
	}
	mutex, w := find(t, "process-mutex", "mutex")
	if _, err := mutex.Fork(w, 1, scenario.KillIt, ""); !errors.Is(err, scenario.ErrNothingToKill) {
		t.Errorf("a mutex has no server: %v", err)
	}
}

// The second schedule of a quorum: a master that forgets makes two majorities,
// and one that is kept out for a lease does not.
func TestQuorumWithAMasterThatForgets(t *testing.T) {
	for world, want := range map[string]string{"restart": "granted by 3 of 5", "kept-out": "denied by 2 of 5"} {
		s, w := find(t, "redlock-pause", world)
		run := once(t, s, w)
		i := slices.IndexFunc(run.Steps, func(st scenario.Step) bool { return st.N == 5 })
		if got := run.Steps[i].Dids[0].Sees.String(); got != want {
			t.Errorf("%s: B is told %q, not %q", world, got, want)
		}
		before := run.Steps[i-1].View // one of A's three has forgotten: it has no majority, and does not know
		if before.Lock.Held || before.Actors[0].Thinks != scenario.ThinksHeld {
			t.Errorf("%s: Redis says %v, and A thinks %s", world, before.Lock, before.Actors[0].Thinks)
		}
	}
	s, _ := find(t, "redlock-pause", "restart")
	if at := scenario.PartAt(once(t, s, s.World("restart")), once(t, s, s.World("kept-out")), once(t, s, s.World("no-number"))); at != 5 {
		t.Errorf("they part at step %d, not 5", at)
	}
}
