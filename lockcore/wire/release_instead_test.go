package wire_test

import (
	"maps"
	"strings"
	"testing"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// In place of a release, a TTL is set by the same comparison.
func TestTTLInPlaceOfARelease(t *testing.T) {
	s := redistest.Start(t)
	r := wire.Release{Lock: "lock", Wake: wire.Wake{Verb: wire.WakePush, Target: "signal", Message: "1", LifeMS: 5}}
	const far = "33300000000000"
	for _, c := range []struct {
		name  string
		given []string
		call  wire.Call
		want  wire.ReleaseReply
		keys  []string // those that shall expire
	}{
		{"string", []string{"set lock A"}, r.String("A"), isDone, []string{"lock"}},
		{"three strings", []string{"set lock A", "set two A", "set three B"}, r.String("A", "two", "three"), isDone, []string{"lock", "two"}},
		{"hash", []string{"hset lock A 1 mode write"}, r.HashKey(2, []wire.Field{{Name: "A"}}), isDone, []string{"lock"}},
		{"fair", []string{"hset lock A 1", "rpush q B"}, r.Fair("A", "q", "d", "p:"), isDone, []string{"lock"}},
		{"zset", []string{"zadd lock 7 A"}, r.Members(wire.Members{Seen: []string{"A"}}), isDone, []string{"lock"}},
		{"zset of deadlines", []string{"zadd lock " + far + " A " + far + " w 1 other"}, r.Members(wire.Members{Seen: []string{"A"}, Also: []string{"w"}, Deadlines: true}), isDone, []string{"lock"}},
		{"another holder", []string{"set lock B"}, r.String("A"), changed(wire.WhyHolder, "B"), nil},
		{"gone", nil, r.String("A"), isGone, nil},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			s.Do("flushall")
			run(s, c.given...)
			call, ok := c.call.WithTTL(60000)
			if !ok {
				t.Fatal("this script sets no TTL")
			}
			if got := released(t, s, call); got != c.want {
				t.Errorf("got %+v", got)
			}
			for key, text := range s.Dump() {
				want := strings.Contains(" "+strings.Join(c.keys, " ")+" ", " "+key+" ")
				if strings.HasSuffix(text, "(expires)") != want {
					t.Errorf("%s: %s", key, text)
				}
			}
			for _, key := range c.keys {
				if left := s.Do("pttl", key).(int64); left < 55000 || left > 60000 {
					t.Errorf("%s expires in %d ms", key, left)
				}
			}
		})
	}
}

// A TTL on deadlines moves the deadlines too: its library goes by them.
func TestTTLMovesTheDeadlines(t *testing.T) {
	s := redistest.Start(t)
	run(s, "zadd lock 33300000000000 A 33300000000000 __write__")
	call, _ := wire.Release{Lock: "lock"}.Members(wire.Members{Seen: []string{"A"}, Also: []string{"__write__"}, Size: 2, Deadlines: true}).WithTTL(60000)
	before := now(s)
	if got := released(t, s, call); got != isDone {
		t.Fatalf("%+v", got)
	}
	for _, m := range []string{"A", "__write__"} {
		at := int64(s.Do("zscore", "lock", m).(float64))
		if at < before+60000 || at > now(s)+60000 {
			t.Errorf("%s has its deadline %d ms from now", m, at-now(s))
		}
	}
}

// In place of a release, the operator takes the holder's place; whoever waits
// is told nothing, because the lock is not free.
func TestHoldInPlaceOfARelease(t *testing.T) {
	s := redistest.Start(t)
	l := s.Listen()
	r := wire.Release{Lock: "lock", Wake: wire.Wake{Verb: wire.WakePublish, Target: "ch", Message: "0"}}
	hold := wire.Hold{Holder: "OP", LifeMS: 60000, Note: "lock:note", Text: "ana: looking"}
	const note = `string "ana: looking" (expires)`
	for _, c := range []struct {
		name  string
		given []string
		call  wire.Call
		want  wire.ReleaseReply
		left  map[string]string
	}{
		{"string", []string{"set lock A px 5000"}, r.String("A"), isDone, map[string]string{"lock": `string "OP" (expires)`, "lock:note": note}},
		{"string without expiry", []string{"set lock A"}, r.String("A"), isDone, map[string]string{"lock": `string "OP" (expires)`, "lock:note": note}},
		{"three strings", []string{"set lock A", "set two A", "set three B"}, r.String("A", "two", "three"), isDone,
			map[string]string{"lock": `string "OP" (expires)`, "two": `string "OP" (expires)`, "three": `string "B"`, "lock:note": note}},
		{"hash", []string{"hset lock A 4"}, r.HashKey(1, []wire.Field{{Name: "A"}}), isDone, map[string]string{"lock": `hash "OP"="1" (expires)`, "lock:note": note}},
		{"write lock", []string{"hset lock A:write 1 mode write"}, r.HashKey(2, []wire.Field{{Name: "A:write"}, {Name: "mode", Value: "write", Exact: true}}), isDone,
			map[string]string{"lock": `hash "OP"="1" "mode"="write" (expires)`, "lock:note": note}},
		{"fair", []string{"hset lock A 1", "rpush q B", "zadd d 1 B"}, r.Fair("A", "q", "d", "p:"), isDone,
			map[string]string{"lock": `hash "OP"="1" (expires)`, "lock:note": note, "q": `list "B"`, "d": `zset "B"=1`}},
		{"another holder", []string{"set lock B"}, r.String("A"), changed(wire.WhyHolder, "B"), map[string]string{"lock": `string "B"`}},
		{"others beside it", []string{"hset lock A 1 B 1"}, r.HashKey(0, []wire.Field{{Name: "A"}}), changed(wire.WhyOthers, ""), map[string]string{"lock": `hash "A"="1" "B"="1"`}},
		{"members beside it", []string{"zadd lock 1 A 2 B"}, r.Members(wire.Members{Seen: []string{"A"}, Deadlines: true}), changed(wire.WhyOthers, ""), map[string]string{"lock": `zset "A"=1 "B"=2`}},
		{"gone", nil, r.String("A"), isGone, map[string]string{}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			s.Do("flushall")
			run(s, c.given...)
			call, ok := c.call.WithHold(hold)
			if !ok {
				t.Fatal("this script holds nothing")
			}
			if got := released(t, s, call); got != c.want {
				t.Errorf("got %+v", got)
			}
			if got := s.Dump(); !maps.Equal(got, c.left) {
				t.Errorf("left %q", got)
			}
			if heard := l.Heard(); len(heard) > 0 {
				t.Errorf("told %v", heard)
			}
			if c.want == isDone {
				if left := s.Do("pttl", "lock").(int64); left < 55000 || left > 60000 {
					t.Errorf("held for %d ms", left)
				}
			}
		})
	}
}

func TestHoldAmongDeadlines(t *testing.T) {
	s := redistest.Start(t)
	run(s, "zadd lock 33300000000000 A 33300000000000 __write__")
	call, ok := wire.Release{Lock: "lock"}.Members(wire.Members{Seen: []string{"A"}, Also: []string{"__write__"}, Size: 2, Deadlines: true}).
		WithHold(wire.Hold{Holder: "OP", LifeMS: 60000, Note: "lock:note", Text: "x"})
	if !ok {
		t.Fatal("this script holds nothing")
	}
	if got := released(t, s, call); got != isDone {
		t.Fatalf("%+v", got)
	}
	if s.Do("zscore", "lock", "A") != nil || s.Do("zcard", "lock") != int64(2) {
		t.Errorf("left %q", s.Dump())
	}
	for _, m := range []string{"OP", "__write__"} {
		if at := int64(s.Do("zscore", "lock", m).(float64)); at < now(s)+55000 {
			t.Errorf("%s ends in %d ms", m, at-now(s))
		}
	}
	if left := s.Do("pttl", "lock").(int64); left < 55000 || left > 60000 {
		t.Errorf("held for %d ms", left)
	}
}

// What cannot be done in place of a release is refused, not done otherwise.
func TestInsteadWhereItDoesNotFit(t *testing.T) {
	r := wire.Release{Lock: "lock"}
	hold := wire.Hold{Holder: "OP", LifeMS: 1000, Note: "n"}
	one := []wire.Field{{Name: "A"}}
	for name, c := range map[string]struct {
		call      wire.Call
		ttl, hold bool
	}{
		"a string with companions of another kind": {r.StringWith("A", "expire"), false, false},
		"a field of a hash":                        {r.HashFields(one), false, false},
		"a hash":                                   {r.HashKey(0, one), true, true},
		"members with deadlines":                   {r.Members(wire.Members{Seen: []string{"A"}, Deadlines: true}), true, true},
		"members without deadlines":                {r.Members(wire.Members{Seen: []string{"A"}, Size: 1}), true, false},
		"a plain set":                              {r.Members(wire.Members{Set: true, Seen: []string{"A"}, Size: 1}), false, false},
		"a permit":                                 {r.Permit("p", "free", false), false, false},
		"a plain command":                          {wire.Command("DEL", "lock"), false, false},
	} {
		if _, ok := c.call.WithTTL(1000); ok != c.ttl {
			t.Errorf("%s: TTL %v", name, ok)
		}
		if _, ok := c.call.WithHold(hold); ok != c.hold {
			t.Errorf("%s: hold %v", name, ok)
		}
	}
	for _, ms := range []int64{0, -1} {
		if _, ok := r.String("A").WithTTL(ms); ok {
			t.Errorf("a TTL of %d would delete", ms)
		}
	}
}

// An own lock can be held too: its number is raised, so that the evicted holder
// is fenced off.
func TestHoldOwnLock(t *testing.T) {
	s := redistest.Start(t)
	k := keysOf(t, "orders")
	acquire(t, s, wire.Acquire{Keys: k, Token: "tA", TTLMS: 10000})
	seen, _ := wire.ParseValue(s.Do("get", k.Lock).(string))
	force := wire.Release{Lock: k.Lock}.ForceRelease(k, seen, wire.Fair{WindowMS: 1000, Channel: k.Channel(0)}, 60000)
	call, ok := force.WithHold(wire.Hold{Holder: "tOP:since=2026-11-30T09:13:00.123Z host=ops", LifeMS: 60000, Note: k.Lock + ":note", Text: "x"})
	if !ok {
		t.Fatal("the own lock cannot be held")
	}
	got, err := wire.ParseForceRelease(send(t, s, call))
	if err != nil || got.Status != wire.ReleaseDone || got.Raised != "2" {
		t.Fatalf("%+v, %v", got, err)
	}
	v, ok := wire.ParseValue(s.Do("get", k.Lock).(string))
	if !ok || v.Token != "tOP" || v.Fence != "2" || v.Host != "ops" {
		t.Errorf("held by %+v, %v", v, ok)
	}
	if r := owned(t, s, wire.Renew(k, "tA", 1000)); r.Status != wire.NotYours {
		t.Errorf("the evicted holder renews: %+v", r)
	}
	if ttl, ok := force.WithTTL(1000); !ok || released(t, s, ttl).Status != wire.ReleaseChanged {
		t.Error("a TTL for a holder that is gone was not refused")
	}
}
