package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/audit"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/target"
	"fencepost/lockcore/wire"
)

func TestTTLVerb(t *testing.T) {
	a := newActing(t)
	for _, c := range []struct {
		name, given string
		args        []string
		code        int
		word        string
	}{
		{"give one", "set lock:a " + tokenA, []string{"lock:a", "10m", "--if-holder", tokenA}, exitOK, "TTL SET lock:a: "},
		{"shorten", "set lock:a " + tokenA + " px 6000000", []string{"lock:a", "10m", "--if-holder", tokenA}, exitOK, "TTL SET lock:a: "},
		{"changed", "set lock:a " + tokenB, []string{"lock:a", "10m", "--if-holder", tokenA}, exitChanged, "CHANGED lock:a: "},
		{"gone", "del lock:a", []string{"lock:a", "10m", "--if-holder", tokenA}, exitGone, "GONE lock:a: "},
		{"zero", "set lock:a " + tokenA, []string{"lock:a", "0s", "--if-holder", tokenA}, exitUsage, ""},
		{"negative", "set lock:a " + tokenA, []string{"--if-holder", tokenA, "--", "lock:a", "-5s"}, exitUsage, ""},
		{"absurd", "set lock:a " + tokenA, []string{"lock:a", "100000h", "--if-holder", tokenA}, exitUsage, ""},
		{"no unit", "set lock:a " + tokenA, []string{"lock:a", "600", "--if-holder", tokenA}, exitUsage, ""},
		{"a field", "hset huey.results.app app.lock.x 1", []string{"huey.results.app", "10m", "--field", "app.lock.x", "--if-holder", ""}, exitRefused, "REFUSED huey.results.app#app.lock.x: "},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			a.give("flushall", c.given)
			args := append([]string{"ttl", "-p", fmt.Sprint(a.s.Port)}, sure...)
			r := run(t, a.env, append(args, c.args...)...)
			r.expect(t, c.name, c.code, c.word)
			if left := a.s.Do("pttl", "lock:a").(int64); (left > 590000 && left <= 600000) != (c.code == exitOK) {
				t.Errorf("it expires in %d ms", left)
			}
		})
	}
}

func TestHoldVerb(t *testing.T) {
	a := newActing(t)
	a.give("set lock:a " + tokenA + " px 60000")
	a.run(append([]string{"hold", "lock:a", "5m", "--if-holder", tokenB}, sure...)...).expect(t, "another", exitChanged, "CHANGED ")
	a.run(append([]string{"unhold", "lock:a"}, sure...)...).expect(t, "not on hold", exitRefused, "REFUSED ")
	a.run(append([]string{"hold", "lock:a", "5m", "--if-holder", tokenA}, sure...)...).expect(t, "hold", exitOK, "HELD lock:a: ")
	if now := a.s.Do("get", "lock:a"); now == tokenA || len(now.(string)) != len(tokenA) {
		t.Errorf("held by %v", now)
	}
	r := a.run("inspect", "lock:a")
	r.has(t, "inspect", exitOK, "on hold", "stuck", "redsync")
	a.run(append([]string{"release", "lock:a", "--if-holder", tokenA}, sure...)...).expect(t, "the evicted one", exitChanged, "CHANGED ")
	r = a.run(append([]string{"unhold", "lock:a"}, sure...)...)
	r.expect(t, "unhold", exitOK, "RELEASED lock:a: ")
	if !strings.Contains(r.err, "On hold by") || a.s.Do("exists", "lock:a", "lock:a:fencepost:hold") != int64(0) {
		t.Errorf("left %q\n%s", a.s.Dump(), r.err)
	}
	a.give("hset huey.results.app app.lock.x 1")
	r = a.run(append([]string{"hold", "huey.results.app", "5m", "--field", "app.lock.x", "--if-holder", ""}, sure...)...)
	r.expect(t, "no hold", exitRefused, "REFUSED ")
}

func TestAuditVerb(t *testing.T) {
	a := newActing(t)
	run(t, a.env, "audit").has(t, "empty", exitOK, "nothing was changed yet")
	run(t, a.env, "audit", "--audit", filepath.Join(t.TempDir(), "mistyped")).has(t, "no such file", exitError, "there is no audit at")
	a.give("set lock:a " + tokenA + " px 60000")
	a.run(append([]string{"release", "lock:a", "--if-holder", tokenA}, sure...)...)
	a.give("set lock:b " + tokenB + " px 60000")
	a.run("release", "lock:b", "--if-holder", tokenB, "--yes", "--reason", "two \x1b[31mred")
	r := run(t, a.env, "audit")
	r.has(t, "two", exitOK, "release lock:a  RELEASED", "release lock:b  RELEASED", tokenA, "stuck", "redsync")
	if strings.Contains(r.out, "\x1b") {
		t.Error("an escape came through")
	}
	r = run(t, a.env, "audit", "--max", "1")
	if r.has(t, "one", exitOK, "lock:b"); strings.Contains(r.out, "lock:a") {
		t.Error("it shows more than one")
	}
	path := filepath.Join(a.state, "fencepost", "audit.jsonl")
	r = run(t, a.env, "audit", "--json")
	data, err := os.ReadFile(path)
	if err != nil || r.out != string(data) {
		t.Errorf("--json is not the file: %v\n%s", err, r.out)
	}
	for line := range strings.Lines(r.out) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
	if err := os.WriteFile(path, append(data[:len(data)/2], '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, a.env, "audit").has(t, "torn", exitOK, "cannot be read")
	run(t, a.env, "audit", "--audit", "-").has(t, "a stream", exitUsage, "standard error")
	run(t, map[string]string{}, "audit").has(t, "no home", exitError, "XDG_STATE_HOME")
	if acts, err := audit.Read(path, 0); err != nil || acts.Torn != 1 {
		t.Errorf("%+v, %v", acts, err)
	}
}

func TestInspectVerb(t *testing.T) {
	a := newActing(t)
	a.give("hset order-lock "+threadA+" 2", "set redisson_lock_token:{order-lock} 34", "rpush plain 1")
	r := a.run("inspect", "order-lock")
	if strings.Contains(r.out, "for 0 ms") { // the server counts whole seconds
		t.Errorf("too exact:\n%s", r.out)
	}
	r.has(t, "text", exitOK, "RFencedLock", threadA+" ×2", "fence        34", "no expiry", "release, 1")
	a.run("inspect", "order-lock", "--explain").has(t, "explain", exitOK, "yes redisson", "no  redsync")
	a.run("inspect", "plain", "--explain").has(t, "no lock", exitOK, "no lock of any library", "no  redisson", "list of 1")
	a.run("inspect", "nothing").has(t, "nothing", exitGone, "no such key")
	a.run("inspect", `lock:a\nb`).has(t, "escaped", exitGone, "no such key (list shows keys escaped: --key-b64")
	a.run("inspect").has(t, "no key", exitUsage, "inspect KEY")
	var doc struct {
		Schema string
		Locks  []struct {
			Key, Family, Fence string
			Holders            []struct {
				ID    string
				Count int
			}
			Release []struct{ Says, Command string }
		}
		Explain []struct{ Family, Confidence string }
	}
	r = a.run("inspect", "order-lock", "--json", "--explain")
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "fencepost/inspect/1" || len(doc.Locks) != 1 || doc.Locks[0].Family != "redisson" || doc.Locks[0].Fence != "34" ||
		doc.Locks[0].Holders[0].Count != 2 || len(doc.Locks[0].Release) != 1 || len(doc.Explain) < 50 || doc.Explain[0].Confidence != "certain" {
		t.Errorf("%+v", doc)
	}
	if a.s.Do("exists", "order-lock") != int64(1) {
		t.Error("inspect released it")
	}
}

// terminal runs the command line on a terminal and types answers when asked.
func terminal(t *testing.T, env map[string]string, answers map[string]string, args ...string) (code int, shown string) {
	t.Helper()
	ours, theirs := aTerminal(t)
	done := make(chan int, 1)
	go func() { done <- Run(args, func(k string) string { return env[k] }, theirs, theirs, theirs) }()
	screen := make(chan string, 64)
	go func() {
		defer close(screen)
		for buf := make([]byte, 4096); ; {
			n, err := ours.Read(buf)
			screen <- string(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	fail := time.After(20 * time.Second)
	for {
		select {
		case code = <-done:
			// The terminal stays open: whoever read from it still does.
			for late := time.After(300 * time.Millisecond); ; {
				select {
				case text := <-screen:
					shown += text
				case <-late:
					return code, shown
				}
			}
		case text := <-screen:
			shown += text
		case <-fail:
			t.Fatalf("it does not end:\n%s", shown)
		}
		for ask, answer := range answers {
			if strings.HasSuffix(strings.TrimRight(shown, " "), ask) {
				if _, err := ours.WriteString(answer + "\n"); err != nil {
					t.Fatal(err)
				}
				delete(answers, ask)
			}
		}
	}
}

// On a terminal the end of the holder's id has to be typed, which proves that it
// was read, and a reason; anything else leaves the lock.
func TestConfirmOnATerminal(t *testing.T) {
	a := newActing(t)
	const ask = "anything else to leave it:"
	for _, c := range []struct {
		name, answer string
		code         int
		released     bool
	}{
		{"the end of the holder", tokenA[len(tokenA)-6:], exitOK, true},
		{"yes", "yes", exitError, false},
		{"nothing", "", exitError, false},
		{"another holder's end", tokenB[len(tokenB)-6:], exitError, false},
	} {
		a.give("set lock:a " + tokenA + " px 60000")
		answers := map[string]string{ask: c.answer, "Reason (for the audit):": "stuck"}
		code, shown := terminal(t, a.env, answers, "release", "lock:a", "-p", fmt.Sprint(a.s.Port), "--watch-after", "10ms")
		if released := a.s.Do("exists", "lock:a") == int64(0); code != c.code || released != c.released {
			t.Errorf("%s: exit %d, released %v\n%s", c.name, code, released, shown)
		}
		if c.released && !strings.Contains(shown, "nobody took it") || !strings.Contains(shown, tokenA) || !strings.Contains(shown, "consequence") {
			t.Errorf("%s: shown\n%s", c.name, shown)
		}
	}
	a.give("set lock:a " + tokenA + " px 60000")
	code, shown := terminal(t, a.env, nil, "release", "lock:a", "-p", fmt.Sprint(a.s.Port), "--env", "prod")
	if code != exitUsage || a.s.Do("exists", "lock:a") != int64(1) {
		t.Errorf("on production: exit %d\n%s", code, shown)
	}
}

// Read-only, a look reads keys of every shape, large ones too: no command that
// reads them is refused by the program itself.
func TestReadOnlyReadsEveryShape(t *testing.T) {
	a := newActing(t)
	a.give("set lock:a " + tokenA + " px 600000")
	for name, fill := range map[string]string{
		"hash": "redis.call('hset', k, 'f' .. i, i)", "zset": "redis.call('zadd', k, i, 'm' .. i)",
		"set": "redis.call('sadd', k, 'm' .. i)", "list": "redis.call('rpush', k, i)", "stream": "redis.call('xadd', k, i .. '-1', 'f', i)",
	} {
		for _, n := range []int{3, 5000} {
			a.s.Do("EVAL", "local k = KEYS[1] for i = 1, ARGV[1] do "+fill+" end", 1, fmt.Sprintf("lock:%s:%d", name, n), n)
		}
	}
	a.s.Do("SET", "lock:text", strings.Repeat("x", 1<<20))
	for _, depth := range []string{"--deep", "--names"} {
		if r := a.run("list", "--read-only", "--possible", depth); r.code != exitOK || !strings.Contains(r.out, "lock:a") {
			t.Errorf("list %s: exit %d\n%s%s", depth, r.code, r.out, r.err)
		}
	}
}

// Read-only, no verb lets a writing command reach the server, and the console's
// own road to a release says that it was not sent.
func TestReadOnlyJourney(t *testing.T) {
	a := newActing(t)
	a.give("set lock:a "+tokenA+" px 600000", "hset order-lock "+threadA+" 1", "config resetstat")
	for _, args := range [][]string{
		{"list"}, {"list", "--json", "--deep"}, {"inspect", "lock:a", "--explain"}, {"inspect", "order-lock", "--json"},
		{"release", "lock:a", "--dry-run"}, {"ttl", "lock:a", "1m", "--dry-run"}, {"hold", "lock:a", "1m", "--dry-run"},
		{"release", "lock:a", "--if-holder", tokenA, "--yes", "--reason", "x"}, {"ttl", "lock:a", "1m", "--if-holder", tokenA, "--yes", "--reason", "x"},
		{"hold", "lock:a", "1m", "--if-holder", tokenA, "--yes", "--reason", "x"}, {"unhold", "lock:a", "--yes", "--reason", "x"},
		{"release", "--match", "*lock*", "--max", "9", "--yes", "--reason", "x"},
	} {
		want := exitOK
		if slices.Contains(args, "--yes") {
			want = exitRefused
		}
		if r := a.run(append(args, "--read-only")...); r.code != want {
			t.Errorf("%v: exit %d, want %d\n%s%s", args, r.code, want, r.out, r.err)
		}
	}
	port := a.s.Port
	tg, err := target.Open(t.Context(), target.Options{Port: port, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	masters, err := tg.Masters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := inspect.New(inspect.Node{Addr: masters[0].Addr, Client: masters[0].Client})
	locks, err := in.Look(t.Context(), 0, "lock:a")
	if err != nil || len(locks) != 1 {
		t.Fatalf("%d locks, %v", len(locks), err)
	}
	p, err := in.PlanRelease(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	if o := in.Run(t.Context(), p); o.Word != inspect.Refused || !errors.Is(o.Err, target.ErrReadOnly) {
		t.Errorf("a plan, read-only: %s %s", o.Word, o.Detail(&p))
	}
	stats, _ := a.s.Do("info", "commandstats").(string)
	if a.s.Do("dbsize") != int64(2) || !strings.Contains(stats, "cmdstat_getrange") {
		t.Fatalf("the journey was none: %s", stats)
	}
	for line := range strings.Lines(stats) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		if !strings.HasPrefix(line, "cmdstat_") || strings.Contains(name, "|") {
			continue
		}
		about, _ := a.s.Do("command", "info", name).([]any)
		for _, c := range about {
			if fields, _ := c.([]any); len(fields) > 2 && strings.Contains(fmt.Sprint(fields[2]), "write") {
				t.Errorf("%s reached the server", name)
			}
		}
	}
}

// In a Cluster the lock's own node is acted on, and named in the printed line.
func TestActInACluster(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	a := &acting{t: t, s: nodes[0], state: t.TempDir()}
	a.env = map[string]string{"XDG_STATE_HOME": a.state}
	for i := range 6 {
		key := fmt.Sprintf("order-lock:%d", i)
		owner := slices.IndexFunc(nodes, func(s *redistest.Server) bool { _, err := s.Try("exists", key); return err == nil })
		nodes[owner].Do("hset", key, threadA, 1)
		r := a.run("release", key, "--dry-run")
		r.expect(t, "dry run", exitOK, "# release ")
		if want := fmt.Sprintf("redis-cli -h 127.0.0.1 -p %d EVAL ", nodes[owner].Port); !strings.Contains(r.out, want) {
			t.Errorf("it does not say %q:\n%.300s", want, r.out)
		}
		if i%2 == 0 {
			shell(t, r.out)
		} else {
			a.run(append([]string{"release", key, "--if-holder", threadA}, sure...)...).expect(t, key, exitOK, "RELEASED "+key+": ")
		}
		if nodes[owner].Do("exists", key) != int64(0) {
			t.Errorf("%s is still there", key)
		}
	}
}

// B33: whatever a key, a holder or a field holds, nothing of it moves a cursor.
func TestVerbsPrintNothingThatMovesACursor(t *testing.T) {
	a := newActing(t)
	key, id := "lock:\x1b]0;PWNED\x07\x1b[2J\xc2\x9b31m\u202egnp.exe", "\x1b]52;c;cm0gLXJmIH4=\x07tok"
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, args := range [][]string{
		{"inspect", "--key-b64", b64(key), "--explain"}, {"inspect", "--key-b64", b64(key), "--json"},
		{"release", "--key-b64", b64(key), "--dry-run"},
		{"ttl", "--key-b64", b64(key), "5m", "--if-holder-b64", b64(id), "--yes", "--reason", "\x1b[31mred"},
		{"hold", "--key-b64", b64(key), "5m", "--if-holder-b64", b64(id), "--yes", "--reason", "\x1b[31mred"},
		{"release", "--key-b64", b64(key), "--if-holder-b64", b64("x" + id), "--yes", "--reason", "\x1b[31mred"},
		{"release", "--key-b64", b64(key), "--if-holder-b64", b64(id), "--yes", "--reason", "\x1b[31mred"},
		{"audit"}, {"audit", "--json"},
	} {
		a.s.Do("set", key, id, "px", "600000")
		if args[0] != "audit" {
			args = append(args, "-p", fmt.Sprint(a.s.Port))
		}
		r := run(t, a.env, args...)
		for _, c := range r.out + r.err {
			if c != '\n' && c != '\t' && !wire.Printable(c) {
				t.Errorf("%v printed %q:\n%q", args, c, r.out+r.err)
				break
			}
		}
		if r.code == exitUsage || r.code == exitError {
			t.Errorf("%v: exit %d: %s", args, r.code, r.err)
		}
	}
}

// A lost reply that nothing proves is UNKNOWN, with what is there now.
func TestReleaseUnknown(t *testing.T) {
	a := newActing(t)
	proxy := redistest.NewProxy(t, a.s.Addr)
	a.give("acl setuser op on >pw ~lock:* &* +@all -set", "set lock:a "+tokenA+" px 600000")
	a.env["REDISCLI_AUTH"] = "pw"
	proxy.CutReply(1, "EVAL")
	args := append([]string{"release", "lock:a", "--user", "op", "--if-holder", tokenA, "-p", fmt.Sprint(proxy.Port)}, sure...)
	r := run(t, a.env, args...)
	r.expect(t, "a lost reply", exitUnknown, "UNKNOWN lock:a: ")
	if !strings.Contains(r.out, "nobody holds it") || !strings.Contains(r.err, "receipt") {
		t.Errorf("%s%s", r.out, r.err)
	}
}
