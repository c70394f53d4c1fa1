package cli

import (
	"encoding/json"
	testflag "flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/scenario"
)

var update = testflag.Bool("update", false, "write the golden texts anew")

// goldenText compares what a verb printed with testdata/golden.
func goldenText(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "golden", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./tui/cli -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./tui/cli -update writes it anew. Got:\n%s", path, got)
	}
}

func TestSimulateTellsTheMainStory(t *testing.T) {
	for _, lang := range scenario.Languages() {
		r := run(t, nil, "simulate", "gc-pause-late-write", "--lang", lang)
		if r.code != exitOK {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
		goldenText(t, "simulate-gc-pause-"+lang, r.out)
	}
	byLocale := run(t, map[string]string{"LANG": "ko_KR.UTF-8"}, "simulate", "gc-pause-late-write")
	if byFlag := run(t, nil, "simulate", "gc-pause-late-write", "--lang", "ko"); byFlag.out != byLocale.out {
		t.Error("a Korean locale does not speak Korean")
	}
	run(t, nil, "simulate", "gc-pause-late-write", "--lang", "xx").has(t, "--lang xx", exitUsage, "en", "ko")
}

// lines decodes JSON Lines.
func lines(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(text) {
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		out = append(out, doc)
	}
	return out
}

func TestSimulateJSON(t *testing.T) {
	r := run(t, nil, "simulate", "gc-pause-late-write", "--json")
	r.has(t, "simulate --json", exitOK)
	docs := lines(t, r.out)
	if len(docs) != 3 {
		t.Fatalf("%d lines, not a line for each world and one to compare", len(docs))
	}
	first := docs[0]
	for key, want := range map[string]any{"schema": "fencepost/scenario/1", "name": "gc-pause-late-write", "seed": 1.0,
		"where": "sandbox", "world": "no-guard", "fencing": false, "verdict": "unsafe", "reach": nil} {
		if got, ok := first[key]; !ok || got != want {
			t.Errorf("%s is %v, not %v", key, got, want)
		}
	}
	step := first["steps"].([]any)[7].(map[string]any)
	for key, want := range map[string]any{"n": 8.0, "at_ms": 12200.0, "actor": "A", "does": "write", "sees": "taken",
		"thinks": "held 33", "is": "B 34, 8300 ms", "emulated": false} {
		if step[key] != want {
			t.Errorf("step 8: %s is %v, not %v", key, step[key], want)
		}
	}
	if got := step["redis"].([]any)[0]; got != `SET account:{7} "70"` {
		t.Errorf("step 8 sends %v", got)
	}
	last := docs[2]
	if last["schema"] != "fencepost/scenario-compare/1" || last["part_at"] != 8.0 {
		t.Errorf("the last line is %v", last)
	}
	one := lines(t, run(t, nil, "simulate", "gc-pause-late-write", "--json", "--world", "guard").out)
	if len(one) != 1 || one[0]["world"] != "guard" {
		t.Errorf("one world gives %d lines", len(one))
	}
}

func TestSimulateLists(t *testing.T) {
	r := run(t, nil, "simulate", "--json")
	r.has(t, "simulate --json", exitOK)
	var doc struct {
		Scenarios []struct {
			Name, Title string
			Worlds      []string
			RunsOn      []string `json:"runs_on"`
		}
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Scenarios) != 41 || doc.Scenarios[0].Name != "gc-pause-late-write" || !slices.Contains(doc.Scenarios[0].RunsOn, "redis") {
		t.Errorf("the list begins %+v", doc.Scenarios[:1])
	}
	run(t, nil, "simulate").has(t, "simulate", exitOK, "evicted-number", "The counter starts again.")
	run(t, map[string]string{"LANG": "ko_KR.UTF-8"}, "simulate").has(t, "simulate, Korean", exitOK, "카운터가")
}

func TestSimulateFencing(t *testing.T) {
	r := run(t, nil, "simulate", "setnx-expire-crash", "--world", "setnx-expire", "--fencing", "both", "--json")
	r.has(t, "--fencing both", exitOK)
	docs := lines(t, r.out)
	if len(docs) != 3 || docs[0]["fencing"] != false || docs[1]["fencing"] != true || docs[1]["verdict"] != "unsafe" {
		t.Errorf("fencing does not cure a crash between two commands: %v", r.out)
	}
	// With the guard turned off, a guarded world is one that the file has already.
	docs = lines(t, run(t, nil, "simulate", "gc-pause-late-write", "--fencing", "off", "--json").out)
	if docs[0]["verdict"] != "unsafe" || docs[0]["as_filed"] != true {
		t.Errorf("without the guard: %v", docs[0]["verdict"])
	}
	for _, args := range [][]string{{"gc-pause-late-write", "--fencing", "perhaps"}, {"gc-pause-late-write", "--world", "moon"},
		{"nobody"}, {"gc-pause-late-write", "--speed", "0"}, {"gc-pause-late-write", "--seed", "x"}} {
		run(t, nil, append([]string{"simulate"}, args...)...).has(t, strings.Join(args, " "), exitUsage)
	}
}

// A name that is nearly right is answered with the right one.
func TestSimulateSaysWhichNameIsMeant(t *testing.T) {
	for name, want := range map[string]string{
		"gc-pause":         "is gc-pause-late-write meant?",
		"GC-Pause":         "is gc-pause-late-write meant?",
		"gc-puase":         "is gc-pause-late-write meant?",
		"unchecked-dle":    "is unchecked-del meant?",
		"late-write":       "is gc-pause-late-write meant?",
		"guard":            "is guard-le or ",
		"stale-write":      "is safe-unlock-stale-write meant?",
		"redlock":          "is redlock-pause meant?",
		"server_restart":   "is server-restart meant?",
		"zzz":              "there is no such scenario; fencepost simulate lists them",
		"\x1b[2J-gc-pause": "is gc-pause-late-write meant?",
	} {
		r := run(t, nil, "simulate", name)
		r.has(t, name, exitUsage, want)
		if strings.Contains(r.err, "\x1b") {
			t.Errorf("%q reaches the terminal", name)
		}
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "scenarios"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scenarios", "two-tills.toml"), []byte(ownStory), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, nil, "simulate", "two-till", "--config", filepath.Join(dir, "config.toml")).has(t, "one's own", exitUsage, "is two-tills meant?")
	for flag, want := range map[string]string{"--wrold": "is --world meant?", "--transcrip": "is --transcript meant?",
		"--list": "without a NAME lists the scenarios", "--bogus": "there is no such flag\n"} {
		run(t, nil, "simulate", "gc-pause-late-write", flag, "x").has(t, flag, exitUsage, want)
	}
}

// ownStory is a story of one's own, as a trainer would write it.
const ownStory = `name = "two-tills"
runs = ["sandbox"]
switch = ["guard"]
steps = """
1  0.0 A acquire, read
2  0.5 A pause 11
3 10.5 B acquire, read
4 11.0 B take 50
5 11.6 A take 30
"""
[[world]]
name = "open"
label = "no fence"
broken = ["mutual-exclusion@3", "stale-write@5", "lost-update@5"]
verdict = "unsafe"
[text]
title = "Two tills."
story = "Two tills share a drawer."
`

func writeStory(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSimulateChecksOnesOwnStory(t *testing.T) {
	run(t, nil, "simulate", "--check", writeStory(t, ownStory)).has(t, "a sound story", exitOK, "two-tills, world open: unsafe, as the file says")
	changed := strings.Replace(ownStory, "stale-write@5", "stale-write@4", 1)
	run(t, nil, "simulate", "--check", writeStory(t, changed)).has(t, "another ending", exitError, "stale-write@5", "the file says")
	run(t, nil, "simulate", writeStory(t, changed)).has(t, "another ending, played", exitError, "stale write")
	run(t, nil, "simulate", writeStory(t, ownStory)).has(t, "one's own, played", exitOK, "Two tills.")

	broken := strings.NewReplacer("A pause 11", "A snooze 11", `verdict = "unsafe"`, `verdict = "perhaps"`, `switch = ["guard"]`, `swich = ["guard"]`).Replace(ownStory)
	r := run(t, nil, "simulate", "--check", writeStory(t, broken))
	r.has(t, "a broken story", exitError, `own.toml:3: nothing is called "swich"`, `own.toml:6: nobody can "snooze"`, `verdict is "perhaps"`)
	run(t, nil, "simulate", "--check", filepath.Join(t.TempDir(), "none.toml")).has(t, "no file", exitError, "no such file")
	run(t, nil, "simulate", "--check", writeStory(t, "name = ")).has(t, "no TOML", exitError, "own.toml:1")
}

func TestSimulateFindsStoriesBesideTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "scenarios"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scenarios", "two-tills.toml"), []byte(ownStory), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.toml")
	run(t, nil, "simulate", "--config", config).has(t, "the list", exitOK, "two-tills")
	run(t, nil, "simulate", "two-tills", "--config", config).has(t, "played", exitOK, "VERDICT  UNSAFE")
}

// A story of one's own may hold anything; a terminal must not.
func TestSimulateCleansWhatAStorySays(t *testing.T) {
	r := run(t, nil, "simulate", writeStory(t, strings.Replace(ownStory, "Two tills.", `Two \u001b]0;x\u0007tills.`, 1)))
	if strings.ContainsAny(r.out, "\x1b\x07") {
		t.Errorf("escapes reach the terminal: %q", r.out)
	}
}

func TestSimulateWritesAHandout(t *testing.T) {
	for _, lang := range scenario.Languages() {
		file := filepath.Join(t.TempDir(), "handout.md")
		run(t, nil, "simulate", "gc-pause-late-write", "--transcript", file, "--lang", lang).has(t, "--transcript", exitOK)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		goldenText(t, "handout-gc-pause-"+lang, string(text))
	}
}

func TestSimulateOnAChosenRedis(t *testing.T) {
	s := redistest.Start(t)
	_, port, _ := strings.Cut(s.Addr, ":")
	before := s.Dump()
	run(t, nil, "simulate", "gc-pause-late-write", "-p", port).has(t, "without --yes", exitUsage, "--yes", "fencepost:lab:")
	run(t, nil, "simulate", "gc-pause-late-write", "-p", port, "--read-only", "--yes").has(t, "read-only", exitRefused, "REFUSED")
	run(t, nil, "simulate", "evicted-lock", "-p", port, "--yes").has(t, "what fills the memory", exitError, "never on a chosen Redis")
	r := run(t, nil, "simulate", "gc-pause-late-write", "-p", port, "--yes", "--json")
	r.has(t, "with --yes", exitOK)
	if docs := lines(t, r.out); docs[0]["where"] != "redis" || docs[2]["part_at"] != 8.0 {
		t.Errorf("on a chosen Redis: %v", r.out)
	}
	if after := s.Dump(); len(after) != len(before) {
		t.Errorf("keys are left: %v", after)
	}
}

// What is sent and seen on a real server is what the sandbox shows.
func TestTheSandboxShowsWhatARealServerDoes(t *testing.T) {
	s := redistest.Start(t)
	_, port, _ := strings.Cut(s.Addr, ":")
	for _, name := range []string{"gc-pause-late-write", "check-then-pause", "unchecked-del", "setnx-expire-crash", "renew-unowned"} {
		real := run(t, nil, "simulate", name, "-p", port, "--yes", "--json")
		virtual := run(t, nil, "simulate", name, "--json")
		if got := strings.ReplaceAll(real.out, `"where":"redis"`, `"where":"sandbox"`); got != virtual.out {
			t.Errorf("%s on a real server:\n%s\nin the sandbox:\n%s", name, got, virtual.out)
		}
	}
}

func TestSimulateIsTheSameTwice(t *testing.T) {
	for _, seed := range []string{"1", "7"} {
		one := run(t, nil, "simulate", "polling-herd", "--seed", seed)
		two := run(t, nil, "simulate", "polling-herd", "--seed", seed)
		if one.out != two.out || one.code != exitOK {
			t.Errorf("seed %s gives two transcripts", seed)
		}
	}
}
