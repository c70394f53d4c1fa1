package wire_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// plainly carries a release out by its plain commands.
func plainly(t *testing.T, c *redis.Client, call wire.Call) wire.ReleaseReply {
	t.Helper()
	p, ok := call.Plain()
	if !ok {
		t.Fatalf("%s cannot be taken apart", call.Script.Name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var reply wire.ReleaseReply
	err := c.Watch(ctx, func(tx *redis.Tx) error {
		var replies []any
		for _, r := range p.Reads {
			v, err := tx.Do(ctx, anys(r)...).Result()
			switch {
			case errors.Is(err, redis.Nil):
				v = nil
			case err != nil:
				v = err
			}
			replies = append(replies, v)
		}
		a, err := p.Decide(replies)
		reply = a.ReleaseReply
		if err != nil || len(a.Writes) == 0 {
			return err
		}
		cmds, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, w := range a.Writes {
				pipe.Do(ctx, anys(w)...)
			}
			return nil
		})
		if a.Wake >= 0 && err == nil {
			reply.Told, _ = cmds[a.Wake].(*redis.Cmd).Int64()
		}
		return err
	}, p.Watch...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// Plain commands between WATCH and EXEC come to the same answer, and leave the
// same behind, as the script.
func TestPlainDoesAsTheScript(t *testing.T) {
	s := redistest.Start(t)
	c, l := s.Client(), s.Listen()
	r := wire.Release{Lock: "lock", Wake: wire.Wake{Verb: wire.WakePush, Target: "signal", Message: "1", LifeMS: 5000}, Receipt: wire.Receipt{Key: "lock:r", LifeMS: 60000}}
	pub, reset := r, r
	pub.Wake = wire.Wake{Verb: wire.WakePublish, Target: "ch", Message: "0"}
	reset.Wake.Verb = wire.WakeReset
	one := []wire.Field{{Name: "A"}}
	write := []wire.Field{{Name: "A"}, {Name: "mode", Value: "write", Exact: true}}
	tok := wire.Members{Seen: []string{"A"}, Also: []string{"w"}, Size: 2}
	late := func(g wire.Guard) wire.Call { return r.String("A").WithGuard(g) }
	soon := now(s)
	ttl, _ := r.String("A", "two").WithTTL(60000)
	hold, _ := r.String("A").WithHold(wire.Hold{Holder: "OP", LifeMS: 60000, Note: "note", Text: "x"})
	holdHash, _ := r.HashKey(2, write).WithHold(wire.Hold{Holder: "OP", LifeMS: 60000, Note: "note", Text: "x"})
	ttlHash, _ := r.HashKey(1, one).WithTTL(60000)
	for _, call := range []wire.Call{
		r.String("A"), r.String("A", "two", "three"), r.StringWith("A", "two"), pub.String("A"), reset.String("A"),
		late(wire.Guard{DeadlineMS: soon + 60000}), late(wire.Guard{DeadlineMS: soon + 600000}), late(wire.Guard{DeadlineMS: wire.GuardNoTTL}),
		late(wire.Guard{FenceKey: "two", Fence: "B"}), late(wire.Guard{FenceKey: "two", Fence: "A"}),
		r.HashKey(1, one), r.HashKey(2, write, "two"), r.HashKey(0, one), r.HashFields(one, "mode", "none"), pub.HashFields(write),
		r.Members(tok), r.Members(wire.Members{Seen: []string{"A"}}), r.Members(wire.Members{Seen: []string{"A", "w"}, Size: 2, In: []string{"two"}}),
		r.Members(wire.Members{Set: true, Seen: []string{"A"}}),
		ttl, hold, holdHash, ttlHash,
	} {
		for _, given := range []string{
			"", "set lock A", "set lock B", "set lock A px 300000", "set two A;set three B;set lock A", "rpush signal x;set lock A",
			"hset lock A 1", "hset lock B 1", "hset lock A 1 B 1", "hset lock A 1 mode write", "hset lock A 1 mode read",
			"zadd lock 1 A", "zadd lock 1 A 2 w", "zadd lock 1 B 2 w", "zadd lock 1 A 2 w 3 x;zadd two 1 A 2 x", "sadd lock A B", "set two B;set lock A",
		} {
			answer := func(act func() wire.ReleaseReply) (wire.ReleaseReply, map[string]string, []redistest.Message) {
				s.Do("flushall")
				for line := range strings.SplitSeq(given, ";") {
					if line != "" {
						run(s, line)
					}
				}
				l.Heard()
				got := act()
				left := s.Dump()
				if at, ok := left["lock:r"]; ok && at != "" {
					left["lock:r"] = "receipt" // a script knows by then how many were told
				}
				return got, left, l.Heard()
			}
			wantReply, wantLeft, wantHeard := answer(func() wire.ReleaseReply { return released(t, s, call) })
			gotReply, gotLeft, gotHeard := answer(func() wire.ReleaseReply { return plainly(t, c, call) })
			wantReply.Now, gotReply.Now = "", ""
			if gotReply != wantReply || !maps.Equal(gotLeft, wantLeft) || !slices.Equal(gotHeard, wantHeard) {
				t.Errorf("%s after %q:\n got %+v %q %v\nwant %+v %q %v", call.Brief(), given, gotReply, gotLeft, gotHeard, wantReply, wantLeft, wantHeard)
			}
		}
	}
}

func TestPlainRefusesWhatOnlyAScriptCanDo(t *testing.T) {
	r := wire.Release{Lock: "lock"}
	moved, _ := r.Members(wire.Members{Seen: []string{"A"}, Deadlines: true}).WithTTL(1000)
	for _, call := range []wire.Call{r.Fair("A", "q", "d", "p:"), r.Permit("p", "free", false), moved, wire.Command("DEL", "lock")} {
		if _, ok := call.Plain(); ok {
			t.Errorf("%s can be taken apart", call.Brief())
		}
	}
}

// In a Cluster, keys in other slots are done after the step that compares.
func TestSplit(t *testing.T) {
	r := wire.Release{
		Lock: "a:1", Receipt: wire.Receipt{Key: "a:r", LifeMS: 1}, Guard: wire.Guard{DeadlineMS: 5, FenceKey: "b:f", Fence: "7"},
		Wake: wire.Wake{Verb: wire.WakeReset, Target: "b:signal", Message: "1", LifeMS: 1000},
	}
	apart := func(key string) bool { return !strings.HasPrefix(key, "a:") }
	for _, c := range []struct {
		call wire.Call
		own  string
		then []string
	}{
		{r.String("A", "a:2", "b:3"), "EVAL <release_string> 4 a:1 a:1 a:1 a:r", []string{"EVAL <release_string> 4 b:3 b:3 b:3 b:3", "DEL b:signal", "LPUSH b:signal 1", "PEXPIRE b:signal 1000"}},
		{r.StringWith("A", "b:expire"), "EVAL <release_string> 4 a:1 a:1 a:1 a:r", []string{"DEL b:expire", "DEL b:signal", "LPUSH b:signal 1", "PEXPIRE b:signal 1000"}},
		{wire.Release{Lock: "a:1"}.HashKey(1, []wire.Field{{Name: "A"}}, "b:x"), "EVAL <release_hash> 4 a:1 a:1 a:1 a:1", []string{"DEL b:x"}},
		{wire.Release{Lock: "a:1"}.String("A", "a:2"), "EVAL <release_string> 5 a:1 a:1 a:1 a:1 a:2", nil},
	} {
		own, then, ok := c.call.Split(apart)
		if !ok || !strings.HasPrefix(own.Brief(), strings.Replace(c.own, "4 a:1 a:1 a:1 a:r", "5 a:1 a:1 a:1 a:r", 1)) && !strings.HasPrefix(own.Brief(), c.own) {
			t.Errorf("%s: own %s, %v", c.call.Brief(), own.Brief(), ok)
		}
		if own.Args[1] != "" && apart(c.call.Keys[1]) {
			t.Errorf("%s compares a fence in another slot", own.Brief())
		}
		for i, want := range c.then {
			if i >= len(then) || !strings.HasPrefix(then[i].Brief(), want) {
				t.Errorf("%s: then %v, want %s", c.call.Brief(), then, want)
			}
		}
		if len(then) != len(c.then) {
			t.Errorf("%s: %d commands after, want %d", c.call.Brief(), len(then), len(c.then))
		}
		for _, k := range own.Keys {
			if apart(k) {
				t.Errorf("%s: %s is in another slot", own.Brief(), k)
			}
		}
	}
	for _, call := range []wire.Call{r.Permit("p", "b:free", false), r.Fair("A", "b:q", "b:d", "p"), wire.Command("DEL", "a:1")} {
		if _, _, ok := call.Split(apart); ok {
			t.Errorf("%s was split, and would lose something", call.Brief())
		}
	}
	hold, _ := r.String("A", "b:2").WithHold(wire.Hold{Holder: "OP", LifeMS: 5, Note: "a:n"})
	if _, _, ok := hold.Split(apart); ok {
		t.Error("a hold was split")
	}
}
