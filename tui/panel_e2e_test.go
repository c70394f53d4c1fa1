package tui_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// acting is a console on a real server whose audit the test can read.
type acting struct {
	*session
	server *redistest.Server
	audit  string
}

func act(t *testing.T, args ...string) acting {
	t.Helper()
	redistest.Need(t)
	built(t)
	server := redistest.Start(t)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	for i, holder := range []string{"8743c9c0-0795-4907-87fd-6c719a6b4586:38", "1ff31903-128b-42f2-8384-c34281ee02f2:7", "b893b79b-b42d-438f-9efa-300a2c244c1e:1"} {
		key := "order:" + strconv.Itoa(i+1)
		server.Do("HSET", key, holder, "1")
		server.Do("PEXPIRE", key, 600_000)
	}
	args = append(args, "-p", strconv.Itoa(server.Port), "--audit", file)
	s := open(t, terminal{cols: 110, rows: 36}, args...)
	s.sees("live", "order:1", "order:2", "order:3")
	return acting{s, server, file}
}

// review opens the panel for one lock, and waits until a key counts.
func (a acting) review(key string) {
	a.t.Helper()
	a.write("/" + key + "\r")
	a.sees(`filter "` + key + `"`)
	a.write("u")
	a.sees(">[ Cancel ]", key, "Nothing has been done yet")
	time.Sleep(beyondQuiet)
}

// beyondQuiet is longer than a question takes no key, also on a machine that is busy.
const beyondQuiet = 800 * time.Millisecond

// fill types lines and presses Enter after each.
func (a acting) fill(lines ...string) {
	a.t.Helper()
	time.Sleep(beyondQuiet) // a form takes no Enter in its first moment
	for _, l := range lines {
		a.write(l)
		time.Sleep(50 * time.Millisecond)
		a.write("\r")
		time.Sleep(100 * time.Millisecond)
	}
}

// lines are what the audit holds.
func (a acting) lines() []map[string]any {
	a.t.Helper()
	data, err := os.ReadFile(a.audit)
	if err != nil {
		a.t.Fatal(err)
	}
	if info, err := os.Stat(a.audit); err != nil || info.Mode().Perm() != 0o600 {
		a.t.Errorf("the audit can be read by others: %v, %v", info.Mode(), err)
	}
	var out []map[string]any
	for l := range strings.Lines(string(data)) {
		var line map[string]any
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			a.t.Fatalf("%v in %s", err, l)
		}
		out = append(out, line)
	}
	return out
}

// last checks the last act: an intent and its outcome.
func (a acting) last(verb, key, reason, outcome string) {
	a.t.Helper()
	lines := a.lines()
	if len(lines) < 2 {
		a.t.Fatalf("the audit has %d lines", len(lines))
	}
	intent, end := lines[len(lines)-2], lines[len(lines)-1]
	for name, want := range map[string]any{"line": "intent", "verb": verb, "by": "console", "key": key, "reason": reason, "redis_user": "default"} {
		if intent[name] != want {
			a.t.Errorf("the intent says %s %v, want %v", name, intent[name], want)
		}
	}
	if intent["id"] != end["id"] || end["line"] != "outcome" || end["outcome"] != outcome {
		a.t.Errorf("after intent %v comes %v, want %s", intent["id"], end, outcome)
	}
	if target, _ := intent["target"].(string); target != a.server.Addr {
		a.t.Errorf("the target is %q", target)
	}
}

// On production: armed by its name, the holder proved, the reason written down.
func TestE2EReleaseOnProduction(t *testing.T) {
	t.Parallel()
	a := act(t, "--env", "prod")
	a.sees("PROD, not armed")
	a.review("order:1")
	a.write("\t")
	a.sees(">[ Release ]")
	a.write("\r")
	a.sees("> Type prod to arm this target")
	a.fill("staging")
	a.sees("that is not the name of this target")
	a.fill("prod")
	a.sees("ARMED 09:5")
	a.fill("4586:7")
	a.sees("that is not the last six characters of the holder")
	a.write("\x15")
	a.fill("586:38", "INC-4711")
	a.sees("RELEASED", "nobody took it")
	if a.server.Do("EXISTS", "order:1", "order:2", "order:3") != int64(2) {
		t.Error("not exactly order:1 is gone")
	}
	a.last("release", "order:1", "INC-4711", "RELEASED")
	if env := a.lines()[0]["env"]; env != "prod" {
		t.Errorf("the audit says environment %v", env)
	}
	a.write("\rq")
	a.ends()
}

func TestE2ETTLHoldAndUnhold(t *testing.T) {
	t.Parallel()
	a := act(t)
	a.review("order:2")
	a.write("2")
	a.sees("> Let it end in")
	a.fill("0")
	a.sees("would delete the lock")
	a.write("\x15")
	a.fill("2m", "too long")
	a.sees("TTL SET")
	if ttl, _ := a.server.Do("PTTL", "order:2").(int64); ttl < 100_000 || ttl > 120_000 {
		t.Errorf("its TTL is %d ms", ttl)
	}
	a.last("ttl", "order:2", "too long", "TTL SET")
	a.write("\r")
	a.sees("TTL SET order:2")
	a.write("u")
	a.sees(">[ Cancel ]")
	time.Sleep(beyondQuiet)
	a.write("4")
	a.sees("> Hold it for")
	a.sees("too long") // the reason from before is offered, and what is typed takes its place
	a.fill("5m", "again")
	a.sees("HELD")
	a.last("hold", "order:2", "again", "HELD")
	if a.server.Do("HEXISTS", "order:2", "1ff31903-128b-42f2-8384-c34281ee02f2:7") != int64(0) || a.server.Do("EXISTS", "order:2", "order:2:fencepost:hold") != int64(2) {
		t.Error("the operator does not hold it")
	}
	a.write("\r")
	a.sees("HELD order:2")
	a.write("u")
	a.sees(">[ Cancel ]", "on hold", "UTC: again", "Lift the hold")
	time.Sleep(beyondQuiet)
	a.write("4")
	a.sees("Lift the hold on this lock?")
	a.fill("")
	a.sees("RELEASED")
	a.last("unhold", "order:2", "again", "RELEASED")
	if a.server.Do("EXISTS", "order:2", "order:2:fencepost:hold") != int64(0) {
		t.Error("the hold was not lifted")
	}
	a.write("\rq")
	a.ends()
}

func TestE2EBulkRelease(t *testing.T) {
	t.Parallel()
	a := act(t)
	a.write("g ")
	a.sees("1 marked")
	a.write(" ")
	a.sees("2 marked")
	a.write("u")
	a.sees("Release these 2 locks by force?", "> Type how many locks these are")
	a.fill("3")
	a.sees("that is not how many these are")
	a.write("\x15")
	a.fill("2", "INC-9")
	a.sees("2 RELEASED")
	if n := a.server.Do("EXISTS", "order:1", "order:2", "order:3"); n != int64(1) {
		t.Errorf("%v locks are left, want one", n)
	}
	if lines := a.lines(); len(lines) != 4 {
		t.Errorf("the audit has %d lines, want an intent and an outcome for each of two", len(lines))
	}
	a.write("\r")
	a.sees("2 RELEASED")
	a.write("q")
	a.ends()
}

// Who waits is told, with the terminal's own bell.
func TestE2EWaitRingsTheBell(t *testing.T) {
	t.Parallel()
	a := act(t)
	a.review("order:3")
	a.write("1")
	a.sees("you will be told, with a bell", "you will be told of 1 lock")
	if strings.Contains(a.raw.String(), "\a") {
		t.Fatal("it rang at once")
	}
	a.server.Do("DEL", "order:3")
	a.sees("order:3 is free")
	a.until("the bell", func(string) bool { return strings.Contains(a.raw.String(), "\a") })
	a.write("q")
	a.ends()
}

// Who quits while an act is under way does not break it off: what came of it is
// written down before the program ends.
func TestE2EQuitWhileItIsSent(t *testing.T) {
	t.Parallel()
	a := act(t)
	a.review("order:1")
	a.write("\t")
	a.sees(">[ Release ]")
	a.server.Pause()
	a.write("\r")
	a.sees("sending")
	a.write("\x03")
	time.Sleep(300 * time.Millisecond)
	a.server.Resume()
	if code := a.ends(); code != 130 {
		t.Errorf("ctrl+c ended with %d", code)
	}
	a.last("release", "order:1", "", "RELEASED")
	if a.server.Do("EXISTS", "order:1") != int64(0) {
		t.Error("the lock is still there")
	}
}
