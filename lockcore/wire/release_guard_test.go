package wire_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// A constant names nobody: the deadline tells a later acquisition from the one
// that was seen, if it ends more than a second later.
func TestReleaseComparesTheDeadline(t *testing.T) {
	s := redistest.Start(t)
	const second = int64(time.Second / time.Millisecond)
	for _, c := range []struct {
		name string
		seen int64 // TTL when it was looked at; -1 none
		left int64 // TTL when it is released; -1 none
		want wire.ReleaseReply
	}{
		{"the same lease", 30 * second, 30 * second, isDone},
		{"half of it is over", 30 * second, 15 * second, isDone},
		{"within the second", 30*second - 800, 30 * second, isDone},
		{"a later lease", 28 * second, 30 * second, changed(wire.WhyDeadline, "1")},
		{"without expiry now", 30 * second, -1, changed(wire.WhyDeadline, "1")},
		{"without expiry", -1, -1, isDone},
		{"a lease now", -1, 30 * second, changed(wire.WhyDeadline, "1")},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			s.Do("set", "lock", "1")
			if c.left > 0 {
				s.Do("pexpire", "lock", c.left)
			}
			g := wire.Guard{DeadlineMS: wire.GuardNoTTL}
			if c.seen > 0 {
				g.DeadlineMS = now(s) + c.seen
			}
			call := wire.Release{Lock: "lock"}.String("1").WithGuard(g)
			if got := released(t, s, call); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if held := s.Do("exists", "lock") == int64(1); held != (c.want.Status == wire.ReleaseChanged) {
				t.Errorf("held: %v", held)
			}
		})
	}
}

func TestReleaseComparesTheFence(t *testing.T) {
	s := redistest.Start(t)
	const counter = "redisson_lock_token:{lock}"
	call := wire.Release{Lock: "lock"}.HashKey(1, []wire.Field{{Name: holderA}}).
		WithGuard(wire.Guard{FenceKey: counter, Fence: "9007199254740993"})
	s.Do("hset", "lock", holderA, 1)
	s.Do("set", counter, "9007199254740994") // a double would not tell them apart
	if got := released(t, s, call); got != changed(wire.WhyFence, "") {
		t.Errorf("a later fence: %+v", got)
	}
	s.Do("set", counter, "9007199254740993")
	if got := released(t, s, call); got != isDone {
		t.Errorf("the same fence: %+v", got)
	}
	if got := s.Do("get", counter); got != "9007199254740993" {
		t.Errorf("the counter was touched: %v", got)
	}
}

// The receipt proves what a release did: sent again, the same call acts no more,
// even when the same holder is back.
func TestReleaseReceipt(t *testing.T) {
	s := redistest.Start(t)
	r := wire.Release{
		Lock: "lock", Receipt: wire.Receipt{Key: "lock:receipt", LifeMS: 60000},
		Wake: wire.Wake{Verb: wire.WakePush, Target: "signal", Message: "1"},
	}
	s.Do("set", "lock", "A")
	for i := range 3 {
		if got := released(t, s, r.String("A")); got != told(1) {
			t.Errorf("time %d: %+v", i, got)
		}
		s.Do("set", "lock", "A")
	}
	if got, held := s.Do("llen", "signal"), s.Do("get", "lock"); got != int64(1) || held != "A" {
		t.Errorf("sent again it acted again: %v signals, lock %v", got, held)
	}
	if left := s.Do("pttl", "lock:receipt").(int64); left <= 0 || left > 60000 {
		t.Errorf("the receipt lives for %d ms", left)
	}
	if value, told, off, ok := s.Do("get", "lock:receipt").(string), int64(1), false, true; true {
		if gotTold, gotOff, gotOK := wire.ReadReceipt(value); gotTold != told || gotOff != off || gotOK != ok {
			t.Errorf("the receipt reads %d %v %v", gotTold, gotOff, gotOK)
		}
	}
	s.Do("del", "lock:receipt")
	s.Do("set", "lock", "B")
	if got := released(t, s, r.String("A")); got.Status != wire.ReleaseChanged {
		t.Errorf("another holder: %+v", got)
	}
	if s.Do("exists", "lock:receipt") != int64(0) {
		t.Error("there is a receipt though nothing was done")
	}
}

// A call that was given up does nothing when it comes late.
func TestReleaseCalledOff(t *testing.T) {
	s := redistest.Start(t)
	l := s.Listen()
	r := wire.Release{
		Lock: "lock", Receipt: wire.Receipt{Key: "lock:receipt", LifeMS: 60000},
		Wake: wire.Wake{Verb: wire.WakePublish, Target: "ch", Message: "1"},
	}
	members := wire.Members{Seen: []string{"A"}}
	for _, c := range []struct {
		given string
		call  wire.Call
	}{
		{"set lock A", r.String("A")},
		{"hset lock A 1", r.HashKey(1, []wire.Field{{Name: "A"}})},
		{"hset lock A 1", r.HashFields([]wire.Field{{Name: "A"}})},
		{"zadd lock 1 A", r.Members(members)},
		{"hset lock A 1", r.Fair("A", "q", "d", "p:")},
		{"zadd lock 1 A", r.Permit("A", "free", false)},
		{"hset lock A 1", r.Reset("A", "1", "u", "0")},
		{"hset lock A 1", r.Share("A", 1, "n")},
	} {
		s.Do("flushall")
		run(s, c.given)
		off, ok := c.call.CallOff(600000)
		if !ok {
			t.Fatalf("%s: no way to call it off", c.call.Script.Name)
		}
		if got := send(t, s, off); got != "OK" {
			t.Errorf("%s: calling off answered %v", c.call.Script.Name, got)
		}
		before := s.Dump()
		if got := released(t, s, c.call); got.Status != wire.ReleaseOff {
			t.Errorf("%s: came late and answered %+v", c.call.Script.Name, got)
		}
		if got := s.Dump(); !maps.Equal(got, before) {
			t.Errorf("%s: came late and left %q", c.call.Script.Name, got)
		}
	}
	if heard := l.Heard(); len(heard) > 0 {
		t.Errorf("came late and told %v", heard)
	}
	if _, ok := r.String("A").WithReceipt(wire.Receipt{}).CallOff(1); ok {
		t.Error("a call without a receipt can be called off")
	}
}

// as is a client of another user; rules are what ACL SETUSER takes.
func as(t *testing.T, s *redistest.Server, rules ...any) *redis.Client {
	t.Helper()
	s.Do(append([]any{"ACL", "SETUSER", "op", "reset", "on", ">pw"}, rules...)...)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, Username: "op", Password: "pw", MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func releasedBy(t *testing.T, c *redis.Client, call wire.Call) (wire.ReleaseReply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var args []any
	for _, a := range call.Argv() {
		args = append(args, a)
	}
	v, err := c.Do(ctx, args...).Result()
	if err != nil {
		return wire.ReleaseReply{}, err
	}
	r, err := wire.ParseRelease(v)
	if err != nil {
		t.Fatal(err)
	}
	return r, nil
}

// Without a channel, or without the right to publish, the lock is gone and that
// is what is said; who was not told is said beside it.
func TestReleaseWithoutChannels(t *testing.T) {
	s := redistest.Start(t)
	r := wire.Release{Lock: "lock", Wake: wire.Wake{Verb: wire.WakePublish, Target: "ch", Message: "0"}, Receipt: wire.Receipt{Key: "lock:r", LifeMS: 1000}}
	for _, rules := range [][]any{
		{"~*", "resetchannels", "+@all"},
		{"~*", "&*", "+@all", "-publish"},
	} {
		c := as(t, s, rules...)
		for _, verb := range []wire.WakeVerb{wire.WakePublish, wire.WakeSPublish, wire.WakeBoth} {
			s.Do("flushall")
			s.Do("hset", "lock", holderA, 1)
			got, err := releasedBy(t, c, r.HashKey(1, []wire.Field{{Name: holderA}}).WithPublish(verb))
			if verb == wire.WakeSPublish && err == nil && got.Told == 0 {
				continue // this user may publish sharded
			}
			if err != nil || got.Status != wire.ReleaseDone || got.Told != wire.ToldFailed || got.Err == "" {
				t.Errorf("%v %s: %+v, %v", rules, verb, got, err)
			}
			if s.Do("exists", "lock") != int64(0) || s.Do("get", "lock:r") != "-1" {
				t.Errorf("%v %s: lock or receipt are not as said: %q", rules, verb, s.Dump())
			}
		}
	}
}

// What this user may not do shows before the first change.
func TestReleaseForbiddenChangesNothing(t *testing.T) {
	s := redistest.Start(t)
	r := wire.Release{Lock: "lock", Wake: wire.Wake{Verb: wire.WakeBoth, Target: "ch", Message: "0"}}
	free := wire.Release{Lock: "permits"}
	for _, c := range []struct {
		may   string
		given []string
		call  wire.Call
	}{
		{"+get", []string{"set lock A"}, r.String("A")},
		{"+get +hget +exists +hlen", []string{"hset lock A 1"}, r.HashKey(1, []wire.Field{{Name: "A"}})},
		{"+hexists +exists +hlen +time +lindex +zscore +del +lpop", []string{"hset lock A 1", "rpush q B", "zadd d 1 B"}, r.Fair("A", "q", "d", "p:")},
		{"+exists +zscore +zrem +get", []string{"zadd permits 1 p", "set free 3"}, free.Permit("p", "free", false)},
		{"+exists +hget +hdel +llen", []string{"hset permits p 1", "rpush free q"}, free.PermitBack("p", "free", true)},
		{"+hget +hdel", []string{"hset lock o me u 5"}, r.Reset("o", "me", "u", "0")},
		{"+hget +hdel +get", []string{"hset lock o 2", "set n 2"}, r.Share("o", 2, "n")},
	} {
		s.Do("flushall")
		run(s, c.given...)
		before := s.Dump()
		rules := []any{"~*", "&*", "+eval", "+publish"}
		for _, w := range strings.Fields(c.may) {
			rules = append(rules, w)
		}
		got, err := releasedBy(t, as(t, s, rules...), c.call)
		if err == nil {
			t.Errorf("%s: answered %+v", c.call.Script.Name, got)
			continue
		}
		if got := s.Dump(); !maps.Equal(got, before) {
			t.Errorf("%s: failed (%v) and left %q of %q", c.call.Script.Name, err, got, before)
		}
	}
}

// A key that the user may not write stops the script before it begins.
func TestReleaseOutsideTheUsersKeys(t *testing.T) {
	s := redistest.Start(t)
	s.Do("set", "lock:a", "A")
	call := wire.Release{Lock: "lock:a", Receipt: wire.Receipt{Key: "receipt:1", LifeMS: 1000}}.String("A")
	c := as(t, s, "~lock:*", "+@all")
	if _, err := releasedBy(t, c, call); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
		t.Errorf("a receipt outside the user's keys: %v", err)
	}
	if s.Do("get", "lock:a") != "A" {
		t.Error("it acted all the same")
	}
	if got, err := releasedBy(t, c, call.WithReceipt(wire.Receipt{Key: "lock:a:receipt", LifeMS: 1000})); err != nil || got != isDone {
		t.Errorf("a receipt beside the lock: %+v, %v", got, err)
	}
}

// A server without memory left still lets a lock go, and its permits come back.
func TestReleaseUnderOOM(t *testing.T) {
	s := redistest.Start(t)
	r := wire.Release{Lock: "lock", Wake: wire.Wake{Verb: wire.WakePush, Target: "signal", Message: "1"}, Receipt: wire.Receipt{Key: "lock:r", LifeMS: 1000}}
	for _, c := range []struct {
		given []string
		call  wire.Call
	}{
		{[]string{"set lock A"}, r.String("A")},
		{[]string{"hset lock A 1"}, r.HashKey(1, []wire.Field{{Name: "A"}})},
		{[]string{"zadd lock 1 A"}, r.Members(wire.Members{Seen: []string{"A"}})},
		{[]string{"zadd lock 1 A", "set free 3"}, r.Permit("A", "free", false)},
		{[]string{"hset lock A 1", "rpush free B"}, r.PermitBack("A", "free", true)},
		{[]string{"hset lock A 1 U 5"}, r.Reset("A", "1", "U", "0")},
	} {
		s.Do("config", "set", "maxmemory", "0")
		s.Do("flushall")
		run(s, c.given...)
		s.Do("config", "set", "maxmemory", "1")
		if _, err := s.Try("set", "x", "1"); err == nil || !strings.HasPrefix(err.Error(), "OOM") {
			t.Fatalf("the server has memory: %v", err)
		}
		if got := released(t, s, c.call); got.Status != wire.ReleaseDone || got.Told < 1 {
			t.Errorf("%s: %+v", c.call.Script.Name, got)
		}
		if s.Do("exists", "lock:r") != int64(1) {
			t.Errorf("%s: no receipt", c.call.Script.Name)
		}
	}
}

func TestReleaseOnAReplica(t *testing.T) {
	s := redistest.Start(t)
	s.Do("set", "lock", "A")
	replica := redistest.StartReplica(t, s)
	replica.Until("the lock is there", func() bool { return replica.Do("get", "lock") == "A" })
	call := wire.Release{Lock: "lock"}.String("A")
	if _, err := releasedBy(t, replica.Client(), call); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("a replica: %v", err)
	}
	s.Do("config", "set", "min-replicas-to-write", "5")
	if _, err := releasedBy(t, s.Client(), call); err == nil || !strings.Contains(err.Error(), "NOREPLICAS") {
		t.Errorf("too few replicas: %v", err)
	}
	if s.Do("get", "lock") != "A" {
		t.Error("it acted all the same")
	}
}
