package family

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// someCase is the release of some of a lock's holders, on a real server.
type someCase struct {
	name    string
	in      []*Sample
	release []int             // which holders; nil for all
	left    map[string]string // what must stand there afterwards, as content tells; "" for nothing
	told    int64
	spoil   []any // a command that changes the lock, so that the plan must not act
}

// content is a key's content in one line.
func content(s *redistest.Server, key string) string {
	switch s.Do("type", key) {
	case "string":
		return s.Do("get", key).(string)
	case "list":
		return fmt.Sprint(s.Do("lrange", key, 0, -1))
	case "hash":
		return fmt.Sprint(s.Do("hgetall", key))
	case "zset":
		return fmt.Sprint(s.Do("zrange", key, 0, -1))
	}
	return ""
}

// TestReleaseOfSomeHolders releases one holder of several, or a lock with keys
// around it, and checks every key that is touched; then again after the lock
// has changed, and after it is gone: nothing may happen then.
func TestReleaseOfSomeHolders(t *testing.T) {
	redistest.Need(t)
	s := redistest.Start(t)
	digest := "ns:uniquejobs:" + someMD5
	suoTwo := "\x92\x92\xcb\x41\xda\xc2\x9c\xef\x80\x00\x00\xa1a" + "\x92\xcb\x41\xda\xc2\x9c\xef\x80\x00\x00\xa1b"
	taken := fmt.Sprint(testNow)
	sidekiq := []*Sample{many(Hash, digest+":LOCKED", NoTTL, "j1", aMinAgo, "j2", aMinAgo), str(digest, "j1", NoTTL), str(digest+":INFO", "{}", NoTTL),
		many(List, digest+":QUEUED", NoTTL, "j3"), many(ZSet, "ns:uniquejobs:digests", NoTTL, digest[3:], "1", "other", "2")}
	for _, c := range []someCase{
		{name: "one permit of a Ruby semaphore",
			in:      []*Sample{many(Hash, "SEMAPHORE:a:GRABBED", NoTTL, "0", aMinAgo, "1", aMinAgo), many(List, "SEMAPHORE:a:AVAILABLE", NoTTL, "2")},
			release: []int{1}, told: -2,
			left:  map[string]string{"SEMAPHORE:a:GRABBED": "map[0:" + aMinAgo + "]", "SEMAPHORE:a:AVAILABLE": "[1 2]"},
			spoil: []any{"hset", "SEMAPHORE:a:GRABBED", "1", inAMin}},
		{name: "one job of a unique lock", in: sidekiq, release: []int{0}, told: 2,
			left: map[string]string{digest + ":LOCKED": "map[j2:" + aMinAgo + "]", digest + ":INFO": "{}", digest + ":QUEUED": "[1 j3]",
				"ns:uniquejobs:digests": "[" + digest[3:] + " other]"},
			spoil: []any{"hset", digest + ":LOCKED", "j1", inAMin}},
		{name: "all jobs of a unique lock", in: sidekiq, told: 1,
			left:  map[string]string{digest + ":LOCKED": "", digest: "", digest + ":INFO": "", digest + ":QUEUED": "[1]", "ns:uniquejobs:digests": "[other]"},
			spoil: []any{"hdel", digest + ":LOCKED", "j2"}},
		{name: "one token of suo", in: []*Sample{str("s", suoTwo, NoTTL)}, release: []int{0}, told: -2,
			left: map[string]string{"s": "\x91" + suoTwo[13:]}, spoil: []any{"append", "s", "x"}},
		{name: "a slot of a funnel", in: []*Sample{str("laravel-database-api1", some20, 60_000), str("laravel-database-api3", some20[1:]+"Z", 60_000)},
			release: []int{1}, told: -2, left: map[string]string{"laravel-database-api1": some20, "laravel-database-api3": ""},
			spoil: []any{"set", "laravel-database-api3", some20}},
		{name: "two permits of one holder", in: []*Sample{many(ZSet, "semaphore:g", 10_000, someUUID4+"_0", taken, someUUID4+"_1", taken, twoUUID4+"_0", taken)},
			release: []int{0}, told: -2, left: map[string]string{"semaphore:g": "[" + twoUUID4 + "_0]"},
			spoil: []any{"zrem", "semaphore:g", someUUID4 + "_1"}},
		{name: "owner and expiry of mlanett's lock", in: []*Sample{str("lock:owner:a", "web-1:7", NoTTL), str("lock:expire:a", inAMin, NoTTL)},
			told: -2, left: map[string]string{"lock:owner:a": "", "lock:expire:a": ""}, spoil: []any{"set", "lock:expire:a", inAMin + "0"}},
		{name: "a lock in a session", in: []*Sample{many(Hash, "sess_a", 60_000, "data", "x", "lock", "3", "pid", "web-1|77")},
			told: -2, left: map[string]string{"sess_a": "map[data:x]"}, spoil: []any{"hset", "sess_a", "pid", "web-1|78"}},
		{name: "a list that wakes", in: []*Sample{str("lock:job", "ia8jIl3M5AjzSgmcgYVVYN99", NoTTL), many(List, "lock-signal:job", NoTTL, "1", "1")},
			told: 1, left: map[string]string{"lock:job": "", "lock-signal:job": "[1]"}, spoil: []any{"set", "lock:job", "aa8jIl3M5AjzSgmcgYVVYN99"}},
		{name: "one job of a limiter", in: []*Sample{many(Hash, "b_p_settings", NoTTL, "id", "p", "maxConcurrent", "5", "running", "3", "version", "2.19.5", "done", "0"),
			many(Hash, "b_p_job_weights", NoTTL, "j1", "1", "j2", "2"), many(Hash, "b_p_job_clients", NoTTL, "j1", "c", "j2", "c"),
			many(ZSet, "b_p_client_running", NoTTL, "c", "3")}, release: []int{1}, told: 0,
			left: map[string]string{"b_p_settings": "map[done:2 id:p maxConcurrent:5 running:1 version:2.19.5]", "b_p_job_weights": "map[j1:1]",
				"b_p_job_clients": "map[j1:c]"},
			spoil: []any{"del", "b_p_job_weights"}},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

func (c *someCase) test(t *testing.T, s *redistest.Server) {
	rows := newWorld(c.in, time.UnixMilli(testNow)).rows(c.in)
	if len(rows) != 1 {
		t.Fatalf("%d rows, not one", len(rows))
	}
	r := &rows[0]
	target := &Target{Facts: r.facts, Reading: r.Reading, Holders: r.Holders}
	if c.release != nil {
		target.Holders = nil
		for _, i := range c.release {
			target.Holders = append(target.Holders, r.Holders[i])
		}
	}
	steps := r.Found.Family.Release(target)
	if len(steps) != 1 {
		t.Fatalf("%d steps, not one: a release has to be atomic", len(steps))
	}
	restore(s, c.in)
	reply := run(t, s, steps)[0]
	if reply.Status != wire.ReleaseDone || reply.Told != c.told || reply.Err != "" {
		t.Errorf("answered %+v, not done with %d told", reply, c.told)
	}
	for key, want := range c.left {
		if got := content(s, key); got != want {
			t.Errorf("%s holds %q, not %q", key, got, want)
		}
	}

	restore(s, c.in)
	s.Do(c.spoil...)
	before := s.Dump()
	if reply := run(t, s, steps)[0]; reply.Status == wire.ReleaseDone {
		t.Errorf("acted on a lock that had changed: %+v", reply)
	}
	sameKeys(t, before, s.Dump())

	s.Do("flushall")
	if reply := run(t, s, steps)[0]; reply.Status != wire.ReleaseGone {
		t.Errorf("of a lock that is gone it answered %+v", reply)
	}
	if left := s.Dump(); len(left) > 0 {
		t.Errorf("made keys of nothing: %v", left)
	}
}

// sameKeys compares two dumps but for the TTLs, which run.
func sameKeys(t *testing.T, before, after map[string]string) {
	t.Helper()
	names := func(m map[string]string) (out []string) {
		for k, v := range m {
			v, _, _ = strings.Cut(v, " ttl")
			out = append(out, k+"="+v)
		}
		slices.Sort(out)
		return out
	}
	if a, b := names(before), names(after); !slices.Equal(a, b) {
		t.Errorf("changed from %q to %q", a, b)
	}
}
