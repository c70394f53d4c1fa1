package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/audit"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
)

const token = "uuwXUfc+QzqZ5tab/h20Eg=="

// plan is a release of one lock on a real server.
func plan(t *testing.T, s *redistest.Server, key string, set ...any) (*inspect.Inspector, inspect.Plan) {
	t.Helper()
	in := inspect.New(inspect.Node{Addr: s.Addr, Client: s.Client()})
	s.Do(set...)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	locks, err := in.Look(ctx, 0, key)
	if err != nil || len(locks) != 1 {
		t.Fatalf("%d locks, %v", len(locks), err)
	}
	p, err := in.PlanRelease(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	return in, p
}

func who() audit.Context {
	return audit.Context{Verb: "release", Target: "127.0.0.1:6379", Env: "stage", RedisUser: "ops", Reason: "stuck since nine", Evidence: "no renewal for 5 min"}
}

// One line of intent before, one of outcome after, for the owner's eyes only.
func TestIntentAndOutcome(t *testing.T) {
	s := redistest.Start(t)
	in, p := plan(t, s, "orders:lock", "set", "orders:lock", token, "px", "60000")
	path := filepath.Join(t.TempDir(), "state", "fencepost", "audit.jsonl")
	o, warnings := audit.File(path).Act(t.Context(), in, p, who())
	if o.Word != inspect.Released || len(warnings) > 0 {
		t.Fatalf("%s %s, %q", o.Word, o.Detail(&p), warnings)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("directory %v, %v", dir.Mode(), err)
	}
	data, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), data)
	}
	var before, after map[string]any
	if json.Unmarshal([]byte(lines[0]), &before) != nil || json.Unmarshal([]byte(lines[1]), &after) != nil {
		t.Fatalf("no JSON: %s", data)
	}
	for key, want := range map[string]any{
		"schema": "fencepost/audit/1", "line": "intent", "verb": "release", "by": "verb", "key": "orders:lock", "family": "redsync", "state": "held",
		"target": "127.0.0.1:6379", "env": "stage", "redis_user": "ops", "reason": "stuck since nine", "evidence": "no renewal for 5 min", "db": 0.0,
	} {
		if before[key] != want {
			t.Errorf("%s: %v, want %v", key, before[key], want)
		}
	}
	for _, key := range []string{"at", "id", "os_user", "host", "pid", "ttl_ms", "commands"} {
		if before[key] == nil || before[key] == "" {
			t.Errorf("%s is missing: %s", key, lines[0])
		}
	}
	if holder := before["holders"].([]any)[0].(map[string]any)["id"]; holder != token || !strings.Contains(lines[0], "EVAL <release_string") {
		t.Errorf("holder %v in %s", holder, lines[0])
	}
	if after["line"] != "outcome" || after["id"] != before["id"] || after["outcome"] != "RELEASED" {
		t.Errorf("outcome: %s", lines[1])
	}
}

// Holder ids stand in full; what else a lock's value holds does not.
func TestValuesAreMasked(t *testing.T) {
	s := redistest.Start(t)
	in, p := plan(t, s, "lock:x", "set", "lock:x", "4V2QXjKF1NRjn0ReDvM1_Ahost=web-1 apikey=s3cret", "px", "60000")
	var out bytes.Buffer
	audit.Stream(&out).Act(t.Context(), in, p, who())
	if !strings.Contains(out.String(), "4V2QXjKF1NRjn0ReDvM1_A") || strings.Contains(out.String(), "s3cret") || !strings.Contains(out.String(), "sha256") {
		t.Errorf("got %s", out.String())
	}
	if strings.Contains(out.String(), "redis.call") {
		t.Error("the text of the script is in it")
	}
}

// On production nothing is changed unwritten; elsewhere it is, with a warning.
func TestAuditThatCannotBeWritten(t *testing.T) {
	s := redistest.Start(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", filepath.Join(file, "audit.jsonl"), t.TempDir(), "/dev/full"} {
		in, p := plan(t, s, "lock:x", "set", "lock:x", token, "px", "60000")
		log, c := audit.File(path), who()
		c.Guarded = true
		if err := log.Check(); err == nil {
			t.Errorf("%q: Check finds nothing", path)
		}
		o, _ := log.Act(t.Context(), in, p, c)
		if o.Word != inspect.Refused || !errors.Is(o.Err, audit.ErrUnwritten) || s.Do("get", "lock:x") != token {
			t.Errorf("%q on production: %s %s", path, o.Word, o.Detail(&p))
		}
		c.Guarded = false
		o, warnings := log.Act(t.Context(), in, p, c)
		if o.Word != inspect.Released || len(warnings) != 1 || !strings.Contains(warnings[0], "audit") {
			t.Errorf("%q: %s, warnings %q", path, o.Word, warnings)
		}
	}
}

// A file that others could read is closed to them before anything is written.
func TestModeIsTightened(t *testing.T) {
	s := redistest.Start(t)
	in, p := plan(t, s, "lock:x", "set", "lock:x", token)
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	audit.File(path).Act(t.Context(), in, p, who())
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("mode %v, %d bytes", info.Mode(), info.Size())
	}
}

// Many programs write at once, and one dies in the middle of a line: every other
// line stays whole.
func TestWritersAtOnceAndATornLine(t *testing.T) {
	if path := os.Getenv("AUDIT_TEST_WRITER"); path != "" {
		write(t, path, 50)
		return
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	write(t, path, 1)
	tear(t, path, `{"schema":"fencepost/audit/1","line":"intent","id":"torn","verb":"rel`)
	var writers []*exec.Cmd
	for range 4 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestWritersAtOnceAndATornLine$")
		cmd.Env = append(os.Environ(), "AUDIT_TEST_WRITER="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, cmd)
	}
	for _, cmd := range writers {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	acts, err := audit.Read(path, 0)
	if err != nil || acts.Torn != 1 || len(acts.List) != 201 {
		t.Errorf("%d acts, %d torn, %v", len(acts.List), acts.Torn, err)
	}
	for _, a := range acts.List {
		if a.Intent == nil || a.Result == nil {
			t.Fatalf("half an act: %+v", a)
		}
	}
}

// write adds acts that fail at once, as there is no server: it is the file that counts.
func write(t *testing.T, path string, n int) {
	in := inspect.New()
	for i := range n {
		p := inspect.Plan{Lock: inspect.Lock{Key: "k"}, Steps: []inspect.Step{{Node: "nowhere"}}}
		c := who()
		c.Reason = fmt.Sprintf("%d of %d: %s", i, os.Getpid(), strings.Repeat("x", 2000))
		if o, warnings := audit.File(path).Act(t.Context(), in, p, c); o.Word != inspect.Failed || len(warnings) > 0 {
			t.Errorf("%s, %q", o.Word, warnings)
		}
	}
}

func tear(t *testing.T, path, text string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// However long a file has grown, what is read of it is bounded, and it is the end.
func TestReadingIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	write(t, path, 3)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	junk := bytes.Repeat([]byte("x"), 3<<20) // longer than any line
	for range 7 {
		_, err = f.Write(append(junk, '\n'))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, path, 2)
	acts, err := audit.Read(path, 0)
	if err != nil || len(acts.List) != 2 || !acts.More || acts.Torn == 0 {
		t.Errorf("%d acts, more %v, torn %d, %v", len(acts.List), acts.More, acts.Torn, err)
	}
	if acts, err = audit.Read(path, 1); err != nil || len(acts.List) != 1 || !acts.More || !strings.HasPrefix(acts.List[0].Intent.Reason, "1 of ") {
		t.Errorf("the last one: %+v, %v", acts, err)
	}
	if acts, err = audit.Read(filepath.Join(t.TempDir(), "none"), 1); err != nil || len(acts.List) != 0 {
		t.Errorf("no file: %+v, %v", acts, err)
	}
}

// A program that dies between intent and outcome leaves an intent that says so.
func TestIntentWithoutOutcome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	write(t, path, 1)
	data, _ := os.ReadFile(path)
	first, _, _ := strings.Cut(string(data), "\n")
	if err := os.WriteFile(path, []byte(first+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	acts, err := audit.Read(path, 0)
	if err != nil || len(acts.List) != 1 || acts.List[0].Intent == nil || acts.List[0].Result != nil {
		t.Errorf("%+v, %v", acts, err)
	}
}
