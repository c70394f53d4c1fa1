package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// port is the target flag of a server.
func port(s *redistest.Server) []string { return []string{"-p", strconv.Itoa(s.Port)} }

func listJSON(t *testing.T, s *redistest.Server, args ...string) listDoc {
	t.Helper()
	r := run(t, nil, append(append([]string{"list", "--json"}, port(s)...), args...)...)
	var doc listDoc
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || r.code != exitOK {
		t.Fatalf("exit %d, %v\n%s%s", r.code, err, r.out, r.err)
	}
	return doc
}

// A01: a held lock that silently lost its expiry is said to have none, in
// words, and warned of. It is not a time of any length.
func TestA01LostExpiry(t *testing.T) {
	s := redistest.Start(t)
	s.Do("set", "lock:servicebook.emit", "GxwErhZvp2QmLvacHpVgjGjA", "ex", 240)
	s.Do("persist", "lock:servicebook.emit")
	d := listJSON(t, s).Locks[0]
	if !d.Persistent || d.TTLMS != nil || d.Deadline != nil || d.Family != "python-redis-lock" {
		t.Errorf("got %+v", d)
	}
	r := run(t, nil, append([]string{"list"}, port(s)...)...)
	r.has(t, "list", exitOK, "no expiry")
	if strings.Contains(r.out, "-1") || strings.Contains(r.out, "0 s") {
		t.Errorf("a missing expiry is shown as a time:\n%s", r.out)
	}
}

// A45: a TTL of 634 years is practically none, and the number stays exact.
func TestA45AbsurdTTL(t *testing.T) {
	s := redistest.Start(t)
	s.Do("set", "report/lock:123", "owner", "ex", int64(19999999845))
	d := listJSON(t, s).Locks[0]
	if d.TTLMS == nil || *d.TTLMS/1000 < 19999999840 || *d.TTLMS/1000 > 19999999845 {
		t.Errorf("ttl_ms %v", d.TTLMS)
	}
	if d.Deadline != nil {
		t.Errorf("it ends in 634 years, and the deadline is told as %s", *d.Deadline)
	}
	run(t, nil, append([]string{"list"}, port(s)...)...).has(t, "list", exitOK, "> 100 y (practically no expiry)")
}

// A lock whose deadline stands in its value ends, though its key has no TTL: a
// release of all that never expire must leave it alone. One of 634 years is as
// good as endless.
func TestNoExpirySelectsWhatNeverEnds(t *testing.T) {
	s := redistest.Start(t)
	s.Do("set", "RedisMutex:living", fmt.Sprintf("%d.5", time.Now().Unix()+60))
	s.Do("set", "lock:stuck", "web-1:42")
	s.Do("set", "lock:units", "web-1:42", "ex", int64(19999999845))
	s.Do("set", "lock:ends", "web-1:42", "ex", 60)
	var keys []string
	for _, l := range listJSON(t, s, "--no-expiry").Locks {
		keys = append(keys, l.Key)
	}
	if want := []string{"lock:stuck", "lock:units"}; !slices.Equal(keys, want) {
		t.Errorf("got %q, want %q", keys, want)
	}
	r := run(t, nil, append([]string{"inspect", "lock:units"}, port(s)...)...)
	r.has(t, "inspect", exitOK, "its lease has > 100 y")
	if strings.Contains(r.out, "289 y") {
		t.Errorf("a wrong number of years:\n%s", r.out)
	}
}

// A25: nobody holds it, so nothing is said to end or not to end, and a time long
// past is said in years.
func TestA25FreeLockHasNoEnd(t *testing.T) {
	s := redistest.Start(t)
	const waiter = "dead0000-0000-4000-8000-000000000001:11"
	s.Do("rpush", "redisson_lock_queue:{test-fair-lock}", waiter)
	s.Do("zadd", "redisson_lock_timeout:{test-fair-lock}", 1_600_000_000_000, waiter)
	for _, args := range [][]string{{"list"}, {"inspect", "test-fair-lock"}} {
		r := run(t, nil, append(args, port(s)...)...)
		r.has(t, args[0], exitOK, "free")
		if strings.Contains(r.out, "no expiry") || strings.Contains(r.out, "h44m") {
			t.Errorf("%s:\n%s", args[0], r.out)
		}
	}
	run(t, nil, append([]string{"inspect", "test-fair-lock"}, port(s)...)...).has(t, "inspect", exitOK, " years ago")
	if locks := listJSON(t, s, "--no-expiry").Locks; len(locks) > 0 {
		t.Errorf("a lock that nobody holds never expires: %+v", locks)
	}
}

// B33: whatever keys, values and fields hold, nothing that could move a cursor
// or colour a screen leaves the program, as text or as JSON; and the JSON still
// has the very bytes.
func TestB33HostileNames(t *testing.T) {
	s := redistest.Start(t)
	evil := []string{
		"lock:\x1b]0;PWNED\x07\x1b[2J\x1b[1;1Hfake", "lock:c1\x9b2J\xc2\x9b31m", "lock:bidi\u202egnp.exe",
		"lock:nl\nfencepost: RELEASED", "lock:nul\x00\xff\xfe", "lock:zero\u200bwidth", `lock:back\slash`,
	}
	for _, key := range evil {
		s.Do("set", key, "\x1b]52;c;cm0gLXJmIH4=\x07tok\x1b[6n", "px", 600000)
	}
	s.Do("hset", "lock:h\x1b[0m", "8743c9c0-0795-4907-87fd-6c719a6b4586:38", 1)
	s.Do("client", "setname", "x")
	for _, form := range [][]string{{"list"}, {"list", "--json"}, {"list", "--match", "lock:\x1b*"}, {"list", "--possible"}} {
		r := run(t, nil, append(form, port(s)...)...)
		for _, c := range r.out + r.err {
			if c != '\n' && !wire.Printable(c) || c == utf8.RuneError {
				t.Errorf("%v prints %U:\n%q", form, c, r.out)
				break
			}
		}
	}
	doc := listJSON(t, s)
	if len(doc.Locks) != len(evil)+1 {
		t.Fatalf("%d locks, not %d", len(doc.Locks), len(evil)+1)
	}
	for _, d := range doc.Locks {
		if strings.Contains(d.Key, "nul") && (d.KeyB64 == nil || *d.KeyB64 != "bG9jazpudWwA//4=") {
			t.Errorf("key_b64 of bytes is %v", d.KeyB64)
		}
		if strings.Contains(d.Key, "slash") && (d.Key != `lock:back\\slash` || d.KeyB64 != nil) {
			t.Errorf("a backslash is %s", d.Key)
		}
	}
}

// B10: a user without @dangerous (INFO, CONFIG, CLIENT denied) sees the locks,
// and is told once what could not be learnt.
func TestB10UserWithoutDangerous(t *testing.T) {
	s := redistest.Start(t)
	s.Do("acl", "setuser", "op", "on", ">pw", "~*", "&*", "+@all", "-@dangerous")
	s.Do("set", "lock:a", "tok", "px", 600000)
	r := run(t, map[string]string{"REDISCLI_AUTH": "pw"}, append([]string{"list", "--user", "op"}, port(s)...)...)
	r.has(t, "list", exitOK, "lock:a", "no permission: INFO")
	if n := strings.Count(r.out+r.err, "no permission: INFO"); n != 1 {
		t.Errorf("said %d times:\n%s%s", n, r.out, r.err)
	}
}

// Every database with keys is looked at, and only then nothing is said of others.
func TestAllDatabases(t *testing.T) {
	s := redistest.Start(t)
	c := s.Client()
	for _, db := range []int{0, 3} {
		if err := c.Do(t.Context(), "select", db).Err(); err != nil {
			t.Fatal(err)
		}
		conn := c.Conn()
		_ = conn.Select(t.Context(), db)
		conn.Set(t.Context(), "lock:here", "web-1", 0)
		_ = conn.Close()
	}
	run(t, nil, append([]string{"list"}, port(s)...)...).has(t, "list", exitOK, "1 lock;", "db 3 has keys too (--all-dbs)")
	doc := listJSON(t, s, "--all-dbs")
	if len(doc.Locks) != 2 || doc.Locks[1].RowID != "3/lock:here" || len(doc.Coverage.OtherDBs) != 0 {
		t.Errorf("got %+v", doc)
	}
}

func TestListRefusesNonsense(t *testing.T) {
	for want, args := range map[string][]string{
		"exclude each other": {"list", "-p", "1", "--deep", "--names"},
		"is redisson meant":  {"list", "-p", "1", "--family", "redison"},
		"needs a server":     {"list"},
		"a pattern is given": {"list", "-p", "1", "order:*"},
		"a number from 0 on": {"list", "-p", "1", "--scan-rate", "-5"},
	} {
		run(t, nil, args...).has(t, want, exitUsage, want)
	}
}
