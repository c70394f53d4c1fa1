package cli

import (
	"encoding/base64"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

const (
	tokenA  = "uuwXUfc+QzqZ5tab/h20Eg==" // as redsync makes them
	tokenB  = "Zm9vYmFyYmF6cXV4MTIzNA=="
	threadA = "6e3d30b7-83b1-433a-9335-5e8b9916d3ac:42"
	threadB = "6e3d30b7-83b1-433a-9335-5e8b9916d3ac:43"
)

// acting runs a verb on a server with an audit file of the test's own, so that
// nothing is written into the home of whoever runs the tests.
type acting struct {
	t     *testing.T
	s     *redistest.Server
	state string
	env   map[string]string
}

func newActing(t *testing.T, args ...string) *acting {
	t.Helper()
	a := &acting{t: t, s: redistest.Start(t, args...), state: t.TempDir()}
	a.env = map[string]string{"XDG_STATE_HOME": a.state}
	return a
}

func (a *acting) run(args ...string) result {
	a.t.Helper()
	return run(a.t, a.env, append(args, "-p", fmt.Sprint(a.s.Port))...)
}

// give sends commands written as one would type them; the words hold no blanks.
func (a *acting) give(lines ...string) {
	a.t.Helper()
	for _, line := range lines {
		var args []any
		for _, w := range strings.Fields(line) {
			args = append(args, w)
		}
		a.s.Do(args...)
	}
}

// first is the first words of standard output.
func (r result) first() string {
	line, _, _ := strings.Cut(r.out, "\n")
	return line
}

// expect compares the exit code and the beginning of standard output.
func (r result) expect(t *testing.T, what string, code int, word string) {
	t.Helper()
	if r.code != code || !strings.HasPrefix(r.out, word) {
		t.Errorf("%s: exit %d, %q; want %d, %q\n%s", what, r.code, r.first(), code, word, r.err)
	}
}

var sure = []string{"--reason", "stuck", "--yes"}

// The exit code and the first word of each outcome, as scripts rely on them.
func TestReleaseOutcomes(t *testing.T) {
	a := newActing(t)
	for _, c := range []struct {
		name, given string
		args        []string
		code        int
		word        string
		left        bool
	}{
		{"released", "set lock:a " + tokenA + " px 60000", []string{"lock:a", "--if-holder", tokenA}, exitOK, "RELEASED lock:a: ", false},
		{"gone", "del lock:a", []string{"lock:a", "--if-holder", tokenA}, exitGone, "GONE lock:a: ", false},
		{"changed", "set lock:a " + tokenB + " px 60000", []string{"lock:a", "--if-holder", tokenA}, exitChanged, "CHANGED lock:a: ", true},
		{"read-only", "set lock:a " + tokenA + " px 60000", []string{"lock:a", "--if-holder", tokenA, "--read-only"}, exitRefused, "REFUSED ", true},
		{"two holders and one is none", "hset lock:a mode read " + threadA + " 1 " + threadB + " 1", []string{"lock:a", "--if-holder", threadA, "--if-holder", "x:1"}, exitChanged, "CHANGED lock:a: x:1 ", true},
		{"all, and one more", "hset lock:a mode read " + threadA + " 1 " + threadB + " 1", []string{"lock:a", "--if-holder", threadA, "--all-holders"}, exitChanged, "CHANGED lock:a: 2 hold it", true},
		{"all", "hset lock:a mode read " + threadA + " 1 " + threadB + " 1", []string{"lock:a", "--if-holder", threadA, "--if-holder", threadB, "--all-holders"}, exitOK, "RELEASED lock:a: ", false},
		{"one of two", "hset lock:a mode read " + threadA + " 1 " + threadB + " 1", []string{"lock:a", "--if-holder", threadA}, exitOK, "RELEASED lock:a: ", true},
		{"a holder without a name", "hset huey.results.app app.lock.nightly 1", []string{"huey.results.app", "--field", "app.lock.nightly", "--if-holder", ""}, exitOK, "RELEASED huey.results.app#app.lock.nightly: ", false},
		{"a field that is free", "hset huey.results.app app.lock.other 1", []string{"huey.results.app", "--field", "app.lock.nightly", "--if-holder", ""}, exitGone, "GONE ", true},
		{"no lock", "set lock:a anything", []string{"lock:a", "--if-holder", "anything"}, exitError, "", true},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			a.give("flushall", c.given)
			if c.name == "no lock" {
				a.give("flushall", "rpush lock:a 1")
			}
			key := c.args[0]
			r := a.run(append(append([]string{"release"}, c.args...), sure...)...)
			r.expect(t, c.name, c.code, c.word)
			if left := a.s.Do("exists", key) == int64(1); left != c.left {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A replica may be behind its master: nothing is concluded from what it has not.
func TestReleaseOnAReplica(t *testing.T) {
	a := newActing(t)
	replica := redistest.StartReplica(t, a.s)
	a.give("set lock:a " + tokenA + " px 60000")
	for _, args := range [][]string{
		{"release", "lock:none", "--if-holder", tokenA}, {"release", "lock:a", "--if-holder", tokenB},
		{"release", "lock:a", "--if-holder", tokenA}, {"ttl", "lock:none", "1m", "--if-holder", tokenA},
	} {
		r := run(t, a.env, slices.Concat(args, sure, []string{"-p", fmt.Sprint(replica.Port)})...)
		r.expect(t, fmt.Sprint(args), exitRefused, "REFUSED ")
		r.has(t, fmt.Sprint(args), exitRefused, "a replica", "act on its master")
	}
}

// A Redisson semaphore does not record who holds its permits: that is said, and
// not that nobody does.
func TestReleaseOfWhatRecordsNoHolder(t *testing.T) {
	a := newActing(t)
	a.give("set sem 0")
	sub := a.s.Client().Subscribe(t.Context(), "redisson_sc:{sem}")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := a.run(append([]string{"release", "sem", "--if-holder", "web-1"}, sure...)...)
	r.expect(t, "a semaphore", exitRefused, "REFUSED sem: nothing was changed: this lock cannot be released from here: a Redisson semaphore does not record who holds")
}

// What is not said on the command line is not guessed.
func TestReleaseUsage(t *testing.T) {
	a := newActing(t)
	a.give("set lock:a "+tokenA+" px 60000", "hset huey.results.app app.lock.nightly 1")
	for _, c := range []struct {
		args []string
		text string
	}{
		{[]string{"lock:a"}, "without a terminal"},
		{[]string{"lock:a", "--yes", "--reason", "x"}, "--if-holder"},
		{[]string{"lock:a", "--if-holder", tokenA, "--yes"}, "--reason"},
		{[]string{"lock:a", "--if-holder", tokenA, "--reason", "x"}, "--yes"},
		{[]string{"lock:a", "--all-holders", "--yes", "--reason", "x"}, "--if-holder"},
		{[]string{"--yes", "--reason", "x"}, "release [KEY]"},
		{[]string{"lock:a", "--match", "lock:*", "--dry-run"}, "not both"},
		{[]string{"--match", "lock:*", "--if-holder", "x", "--dry-run"}, "leave out"},
		{[]string{"--match", "lock:*", "--yes", "--reason", "x"}, "--max N"},
		{[]string{"lock:a", "--if-holder-b64", "!", "--yes", "--reason", "x"}, "base64"},
		{[]string{"--key-b64", "!", "--dry-run"}, "base64"},
		{[]string{"lock:a", "--key-b64", "bG9jazph", "--dry-run"}, "leave out"},
		{[]string{"lock:*", "--dry-run"}, "--match"},
		{[]string{"huey.results.app", "--dry-run"}, "app.lock.nightly"},
		{[]string{"lock:a", "--field", "x", "--dry-run"}, "leave out --field"},
	} {
		if c.args[0] == "lock:*" {
			continue // a pattern as KEY is an odd key, and reads as gone
		}
		r := a.run(append([]string{"release"}, c.args...)...)
		r.has(t, fmt.Sprint(c.args), exitUsage, c.text)
		if r.out != "" {
			t.Errorf("%v: on standard output: %s", c.args, r.out)
		}
	}
	if a.s.Do("exists", "lock:a") != int64(1) {
		t.Error("something was released")
	}
}

// Bytes that are not text are named in base64, as list --json shows them, or as
// they are shown escaped.
func TestReleaseBytes(t *testing.T) {
	a := newActing(t)
	key, id := "rueidislock:0:a\x00'\xff", strings.Repeat("\x01\xfe\n", 8)
	b64 := base64.StdEncoding.EncodeToString
	for _, holder := range [][]string{{"--if-holder-b64", b64([]byte(id))}, {"--if-holder", strings.Repeat(`\x01\xfe\n`, 8)}, {"--if-holder", id}} {
		a.s.Do("set", key, id, "px", "60000")
		args := append([]string{"release", "--key-b64", b64([]byte(key))}, holder...)
		a.run(append(args, sure...)...).expect(t, fmt.Sprint(holder), exitOK, `RELEASED rueidislock:0:a\x00'\xff: `)
		if a.s.Do("exists", key) != int64(0) {
			t.Error("it is still there")
		}
	}
}

// shell runs lines as one who pastes them would, with the real redis-cli.
func shell(t *testing.T, lines string) string {
	t.Helper()
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redistest: SKIPPED, no redis-cli on PATH")
	}
	cmd := exec.Command("sh")
	cmd.Stdin = strings.NewReader(lines)
	cmd.Env = []string{"PATH=" + filepath.Dir(cli) + ":/usr/bin:/bin", "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sh: %v\n%s", err, out)
	}
	return string(out)
}

// What --dry-run prints does nothing by itself, and pasted into a shell does it:
// for every byte that a key or a holder may hold.
func TestDryRunPastes(t *testing.T) {
	redistest.Need(t)
	a := newActing(t)
	every := make([]byte, 0, 256)
	for b := range 256 {
		every = append(every, byte(b))
	}
	soon := fmt.Sprint(time.Now().Add(time.Minute).UnixMilli())
	for name, set := range map[string][]any{
		"plain":          {"set", "lock:a", tokenA, "px", "60000"},
		"quotes":         {"set", `lock:it's "$HOME" \n $(touch x) ` + "`id`", tokenA, "px", "60000"},
		"lines":          {"set", "lock:a\nb\tc\r; rm -rf x #", tokenA, "px", "60000"},
		"text":           {"set", "lock:schlüssel-☃", tokenA, "px", "60000"},
		"every byte":     {"set", "rueidislock:0:" + string(every), strings.Repeat("\x00\xff'", 8), "px", "60000"},
		"hash":           {"hset", "order 'lock'", threadA, "1"},
		"sorted set":     {"zadd", "lock:z", soon, strings.Repeat("A", 43) + "=", soon, "__write__"},
		"begins like --": {"set", "--lock", tokenA, "px", "60000"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			a.s.Do("flushall")
			a.s.Do(set...)
			key := set[1].(string)
			before := a.s.Dump()
			r := a.run("release", "--dry-run", "--key-b64", base64.StdEncoding.EncodeToString([]byte(key)))
			r.expect(t, name, exitOK, "# release ")
			if after := a.s.Dump(); len(after) != len(before) {
				t.Fatalf("--dry-run did something: %q", after)
			}
			for _, c := range r.out {
				if !wire.Printable(c) && c != '\n' && c != '\t' {
					t.Fatalf("%q is in what was printed", c)
				}
			}
			said := shell(t, r.out)
			if a.s.Do("exists", key) != int64(0) || !strings.Contains(said, "1") {
				t.Errorf("pasted, it did not act: %s", said)
			}
		})
	}
}

// A database, a socket and a user are in the printed line; a password is not.
func TestDryRunNamesTheServer(t *testing.T) {
	a := newActing(t, "--requirepass", "s3cret")
	a.env["REDISCLI_AUTH"] = "s3cret"
	a.s.Do("set", "elsewhere", "1")
	if r := a.run("release", "lock:a", "-n", "3", "--dry-run"); r.code != exitGone {
		t.Fatalf("%d %s", r.code, r.err)
	}
	c := a.s.Client()
	if err := c.Do(t.Context(), "select", "3").Err(); err != nil {
		t.Fatal(err)
	}
	for range 8 { // the pool's connections are in database 0: one of them is not
		_ = c.Do(t.Context(), "select", "3").Err()
		_ = c.Do(t.Context(), "set", "lock:a", tokenA, "px", "60000").Err()
	}
	r := a.run("release", "lock:a", "-n", "3", "--dry-run", "--user", "default")
	r.expect(t, "dry run", exitOK, "# release ")
	want := fmt.Sprintf("redis-cli -h 127.0.0.1 -p %d -n 3 --user default ", a.s.Port)
	if !strings.Contains(r.out, want) || strings.Contains(r.out+r.err, "s3cret") {
		t.Errorf("it does not say %q, or too much:\n%.300s", want, r.out)
	}
}

// Several locks: no more than was allowed, each compared, the worst outcome last.
func TestReleaseBySelectors(t *testing.T) {
	a := newActing(t)
	fill := func() {
		a.give("flushall", "set lock:1 "+tokenA, "set lock:2 "+tokenB+" px 60000", "hset lock:3 "+threadA+" 1", "set other 1")
	}
	fill()
	r := a.run("release", "--match", "lock:*", "--dry-run")
	r.expect(t, "dry run", exitOK, "# release ")
	if n := strings.Count(r.out, "\nredis-cli "); n != 3 {
		t.Errorf("%d lines", n)
	}
	a.run(append([]string{"release", "--match", "lock:*", "--max", "2"}, sure...)...).expect(t, "too many", exitRefused, "REFUSED 3 locks fit")
	if a.s.Do("dbsize") != int64(4) {
		t.Error("something was released")
	}
	r = a.run(append([]string{"release", "--match", "lock:*", "--no-expiry", "--max", "2"}, sure...)...)
	r.expect(t, "without expiry", exitOK, "RELEASED ")
	if n := strings.Count(r.out, "RELEASED "); n != 2 || a.s.Do("exists", "lock:2") != int64(1) {
		t.Errorf("%d released:\n%s", n, r.out)
	}
	a.run(append([]string{"release", "--match", "nothing*", "--max", "2"}, sure...)...).expect(t, "none", exitGone, "GONE ")
}

// On production, and on what may be it, nothing is done that was not said in
// full, nor anything that cannot be written down.
func TestReleaseOnProduction(t *testing.T) {
	a := newActing(t)
	a.give("set lock:a " + tokenA + " px 60000")
	prod := []string{"release", "lock:a", "--env", "prod"}
	a.run(prod...).has(t, "nothing said", exitUsage, "--yes")
	a.run(append(prod, "--if-holder", tokenA, "--reason", "x")...).has(t, "no --yes", exitUsage, "--yes")
	r := a.run(append(append(prod, "--if-holder", tokenA, "--audit", a.state), sure...)...)
	r.expect(t, "no audit", exitRefused, "REFUSED ")
	if a.s.Do("exists", "lock:a") != int64(1) {
		t.Fatal("it was released")
	}
	a.run(append(append(prod, "--if-holder", tokenA), sure...)...).expect(t, "all said", exitOK, "RELEASED ")

	a.give("set lock:a " + tokenA + " px 60000")
	r = a.run(append([]string{"release", "lock:a", "--if-holder", tokenA, "--audit", a.state}, sure...)...)
	r.expect(t, "elsewhere", exitOK, "RELEASED ")
	if !strings.Contains(r.err, "not in the audit") {
		t.Errorf("no warning: %s", r.err)
	}
}

// What a release cannot do is said before it is done.
func TestReleaseForesees(t *testing.T) {
	a := newActing(t)
	a.give("acl setuser nochan on >pw ~* resetchannels +@all", "hset order-lock "+threadA+" 1")
	a.env["REDISCLI_AUTH"] = "pw"
	r := a.run(append([]string{"release", "order-lock", "--user", "nochan", "--if-holder", threadA}, sure...)...)
	r.expect(t, "without channels", exitOK, "RELEASED order-lock: ")
	if !strings.Contains(r.err, "may not publish on redisson_lock__channel:{order-lock}") || !strings.Contains(r.out, "could not be told") {
		t.Errorf("before: %s\nafter: %s", r.err, r.out)
	}
}

// A holder without a name is named by the words that stand for it in the list.
func TestNoNameNamesWhoHasNone(t *testing.T) {
	a := newActing(t)
	a.give("set lock:report 1")
	if r := a.run("release", "lock:report", "--if-holder", "(no name)", "--reason", "test", "--yes"); r.code != exitOK || !strings.HasPrefix(r.out, "RELEASED") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	a.give("set lock:report "+tokenA, "pexpire lock:report 60000")
	if r := a.run("release", "lock:report", "--if-holder", "(no name)", "--reason", "test", "--yes"); r.code != exitChanged {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}
