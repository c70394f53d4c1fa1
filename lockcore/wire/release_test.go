package wire_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

const (
	holderA = "6e3d30b7-83b1-433a-9335-5e8b9916d3ac:42"
	holderB = "6e3d30b7-83b1-433a-9335-5e8b9916d3ac:43"
	holderC = "0c7a1f00-1111-4222-8333-94445555c66d:1"
)

func released(t *testing.T, s *redistest.Server, c wire.Call) wire.ReleaseReply {
	t.Helper()
	r, err := wire.ParseRelease(send(t, s, c))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run sends commands written as one would type them; the words hold no blanks.
func run(s *redistest.Server, lines ...string) {
	for _, line := range lines {
		var args []any
		for _, w := range strings.Fields(line) {
			args = append(args, w)
		}
		s.Do(args...)
	}
}

// releaseCase is one release of one state, and what is left of it.
type releaseCase struct {
	name  string
	given []string
	call  wire.Call
	want  wire.ReleaseReply
	left  map[string]string // as Server.Dump shows it; nil: nothing has changed
	heard []redistest.Message
}

func (c releaseCase) run(t *testing.T, s *redistest.Server, l *redistest.Listener) {
	t.Helper()
	s.Do("FLUSHALL")
	run(s, c.given...)
	before := s.Dump()
	l.Heard()
	got := released(t, s, c.call)
	if got != c.want {
		t.Errorf("got %+v, want %+v", got, c.want)
	}
	if want := c.left; want == nil {
		if got := s.Dump(); !maps.Equal(got, before) {
			t.Errorf("left %q, want all as before: %q", got, before)
		}
	} else if got := s.Dump(); !maps.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	if got := l.Heard(); !slices.Equal(got, c.heard) {
		t.Errorf("published %q, want %q", got, c.heard)
	}
}

func runCases(t *testing.T, cases []releaseCase) {
	s := redistest.Start(t)
	l := s.Listen()
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) { c.run(t, s, l) })
	}
}

var (
	isDone = wire.ReleaseReply{Status: wire.ReleaseDone, Told: wire.ToldNobody}
	isGone = wire.ReleaseReply{Status: wire.ReleaseGone, Told: wire.ToldNobody}
)

func told(n int64) wire.ReleaseReply { return wire.ReleaseReply{Status: wire.ReleaseDone, Told: n} }

func changed(why wire.Why, now string) wire.ReleaseReply {
	return wire.ReleaseReply{Status: wire.ReleaseChanged, Now: wire.Raw(now), Why: why, Told: wire.ToldNobody}
}

func TestReleaseString(t *testing.T) {
	r := wire.Release{Lock: "lock"}
	push, reset, publish := r, r, r
	push.Wake = wire.Wake{Verb: wire.WakePush, Target: "signal", Message: "1", LifeMS: 5000}
	reset.Wake = wire.Wake{Verb: wire.WakeReset, Target: "signal", Message: "1"}
	publish.Wake = wire.Wake{Verb: wire.WakePublish, Target: "ch", Message: "free"}
	none := map[string]string{}
	runCases(t, []releaseCase{
		{"held", []string{"set lock A px 60000"}, r.String("A"), isDone, none, nil},
		{"gone", nil, r.String("A"), isGone, nil, nil},
		{"another holder", []string{"set lock B px 60000"}, r.String("A"), changed(wire.WhyHolder, "B"), nil, nil},
		{"another type", []string{"hset lock A 1"}, r.String("A"), changed(wire.WhyType, ""), nil, nil},
		{"a value that begins alike", []string{"set lock AB"}, r.String("A"), changed(wire.WhyHolder, "AB"), nil, nil},
		{
			"one lock in three keys", []string{"set lock A", "set lock2 A", "set lock3 B", "hset lock4 A 1"},
			r.String("A", "lock2", "lock3", "lock4"), isDone,
			map[string]string{"lock3": `string "B"`, "lock4": `hash "A"="1"`}, nil,
		},
		{
			"with companions whatever they hold", []string{"set lock A", "set expire 17", "hset more a 1", "set other 1"},
			r.StringWith("A", "expire", "more", "missing"), isDone, map[string]string{"other": `string "1"`}, nil,
		},
		{
			"pushed", []string{"set lock A", "rpush signal old"}, push.String("A"), told(2),
			map[string]string{"signal": `list "1" "old" (expires)`}, nil,
		},
		{
			"reset", []string{"set lock A", "rpush signal old older"}, reset.String("A"), told(1),
			map[string]string{"signal": `list "1"`}, nil,
		},
		{"published", []string{"set lock A"}, publish.String("A"), told(1), none, []redistest.Message{{Channel: "ch", Payload: "free"}}},
		{"nothing is published for another's lock", []string{"set lock B"}, publish.String("A"), changed(wire.WhyHolder, "B"), nil, nil},
		{"no list is touched for another's lock", []string{"set lock B", "rpush signal x"}, reset.String("A"), changed(wire.WhyHolder, "B"), nil, nil},
		{
			"a list of another type does not keep the lock", []string{"set lock A", "set signal x"},
			push.String("A"),
			wire.ReleaseReply{Status: wire.ReleaseDone, Told: wire.ToldFailed, Err: "WRONGTYPE Operation against a key holding the wrong kind of value"},
			map[string]string{"signal": `string "x"`}, nil,
		},
	})
}

func TestReleaseHash(t *testing.T) {
	r := wire.Release{Lock: "lock", Wake: wire.Wake{Verb: wire.WakePublish, Target: "ch", Message: "0"}}
	one := []wire.Field{{Name: holderA}}
	exact := []wire.Field{{Name: holderA}, {Name: "mode", Value: "write", Exact: true}}
	zero := []redistest.Message{{Channel: "ch", Payload: "0"}}
	none := map[string]string{}
	mine := "hset lock " + holderA + " 1"
	runCases(t, []releaseCase{
		{"held", []string{mine, "set token 7"}, r.HashKey(1, one), told(1), map[string]string{"token": `string "7"`}, zero},
		{"held many times", []string{"hset lock " + holderA + " 12"}, r.HashKey(1, one), told(1), none, zero},
		{"gone", nil, r.HashKey(1, one), isGone, nil, nil},
		{"another holder", []string{"hset lock " + holderB + " 1"}, r.HashKey(1, one), changed(wire.WhyHolder, ""), nil, nil},
		{"one more holder", []string{mine, "hset lock " + holderB + " 1"}, r.HashKey(1, one), changed(wire.WhyOthers, ""), nil, nil},
		{"another type", []string{"set lock " + holderA}, r.HashKey(1, one), changed(wire.WhyType, ""), nil, nil},
		{"another mode", []string{mine + " mode read"}, r.HashKey(2, exact), changed(wire.WhyHolder, "mode=read"), nil, nil},
		{"with companions", []string{mine + " mode write", "set c1 1", "set c2 1"}, r.HashKey(2, exact, "c1", "missing"), told(1),
			map[string]string{"c2": `string "1"`}, zero},
		{"fields of a hash that lives on", []string{mine + " other 1 extra 2"}, r.HashFields(one, "extra", "missing"), told(1),
			map[string]string{"lock": `hash "other"="1"`}, zero},
		{"its last field", []string{mine}, r.HashFields(one), told(1), none, zero},
		{"a field that is gone", []string{"hset lock other 1"}, r.HashFields(one), isGone, nil, nil},
		{"one of two fields is gone", []string{mine}, r.HashFields([]wire.Field{{Name: holderA}, {Name: holderB}}), changed(wire.WhyHolder, ""), nil, nil},
		{"a field with another value", []string{"hset lock mode read"}, r.HashFields([]wire.Field{{Name: "mode", Value: "write", Exact: true}}),
			changed(wire.WhyHolder, "mode=read"), nil, nil},
	})
}

func TestReleaseMembers(t *testing.T) {
	r := wire.Release{Lock: "lock"}
	symfony := wire.Members{Seen: []string{"tok"}, Also: []string{"__write__"}, Size: 2, Deadlines: true}
	reader := wire.Members{Seen: []string{"r1"}, Deadlines: true}
	both := wire.Members{Seen: []string{"r1", "r2"}, Size: 2}
	twice := wire.Members{Seen: []string{"r1"}, In: []string{"weights"}}
	set := wire.Members{Set: true, Seen: []string{"m1"}}
	none := map[string]string{}
	runCases(t, []releaseCase{
		{"exclusive", []string{"zadd lock 33300000000000 tok 33300000000000 __write__"}, r.Members(symfony), isDone, none, nil},
		{"another exclusive", []string{"zadd lock 33300000000000 new 33300000000000 __write__"}, r.Members(symfony), changed(wire.WhyHolder, ""), nil, nil},
		{"shared by now", []string{"zadd lock 33300000000000 tok"}, r.Members(symfony), changed(wire.WhyOthers, ""), nil, nil},
		{"gone", nil, r.Members(symfony), isGone, nil, nil},
		{"one reader of two", []string{"zadd lock 33300000000000 r1 33300000009000 r2"}, r.Members(reader), isDone,
			map[string]string{"lock": `zset "r2"=33300000009000 (expires)`}, nil},
		{"a reader that left", []string{"zadd lock 33300000009000 r2"}, r.Members(reader), isGone, nil, nil},
		{"exactly these", []string{"zadd lock 1 r1 2 r2"}, r.Members(both), isDone, none, nil},
		{"one more than these", []string{"zadd lock 1 r1 2 r2 3 r3"}, r.Members(both), changed(wire.WhyOthers, ""), nil, nil},
		{"in two sorted sets", []string{"zadd lock 1 r1 2 r2", "zadd weights 5 r1 6 r2"}, r.Members(twice), isDone,
			map[string]string{"lock": `zset "r2"=2`, "weights": `zset "r2"=6`}, nil},
		{"a plain set", []string{"sadd lock m1 m2"}, r.Members(set), isDone, map[string]string{"lock": `set "m2"`}, nil},
		{"another type", []string{"set lock r1"}, r.Members(reader), changed(wire.WhyType, ""), nil, nil},
	})
}

func TestReleaseRedissonFair(t *testing.T) {
	const queue, deadlines, prefix = "redisson_lock_queue:{lock}", "redisson_lock_timeout:{lock}", "redisson_lock__channel:{lock}:"
	r := wire.Release{Lock: "lock", Wake: wire.Wake{Verb: wire.WakePublish, Message: "0"}}
	mine := "hset lock " + holderA + " 1"
	queued := []string{mine, "rpush " + queue + " " + holderB + " " + holderC,
		"zadd " + deadlines + " 1600000000000 " + holderB + " 33300000000000 " + holderC}
	clean := r.FairQueue(queue, deadlines, prefix)
	c := []redistest.Message{{Channel: prefix + holderC, Payload: "0"}}
	left := map[string]string{queue: `list "` + holderC + `"`, deadlines: `zset "` + holderC + `"=33300000000000`}
	runCases(t, []releaseCase{
		{"nobody waits", []string{mine}, r.Fair(holderA, queue, deadlines, prefix), isDone, map[string]string{}, nil},
		{"the first waited out", queued, r.Fair(holderA, queue, deadlines, prefix), told(1), left, c},
		{"another holder", []string{"hset lock " + holderB + " 1"}, r.Fair(holderA, queue, deadlines, prefix), changed(wire.WhyHolder, holderB), nil, nil},
		{"gone, its queue stays", queued[1:], r.Fair(holderA, queue, deadlines, prefix), isGone, nil, nil},
		{"another type", []string{"set lock 1"}, r.Fair(holderA, queue, deadlines, prefix), changed(wire.WhyType, ""), nil, nil},
		{"a queue without a holder", queued[1:], clean, told(1), left, c},
		{"all waited out", []string{"rpush " + queue + " " + holderB, "zadd " + deadlines + " 1600000000000 " + holderB}, clean, isDone, map[string]string{}, nil},
		{"held again", queued, clean, changed(wire.WhyHolder, ""), nil, nil},
		{"no queue", nil, clean, isGone, nil, nil},
	})
}

func TestReleasePermit(t *testing.T) {
	r := wire.Release{Lock: "permits", Wake: wire.Wake{Verb: wire.WakePublish, Target: "redisson_sc:{sem}"}}
	back := wire.Release{Lock: "grabbed"}
	share := wire.Release{Lock: "shares"}
	runCases(t, []releaseCase{
		{"given back", []string{"zadd permits 33300000000000 p1 33300000000000 p2", "set sem 3"}, r.Permit("p1", "sem", false), told(1),
			map[string]string{"permits": `zset "p2"=33300000000000`, "sem": `string "4"`}, []redistest.Message{{Channel: "redisson_sc:{sem}", Payload: "4"}}},
		{"returned by now", []string{"zadd permits 33300000000000 p2", "set sem 3"}, r.Permit("p1", "sem", false), isGone, nil, nil},
		{"gone", []string{"set sem 3"}, r.Permit("p1", "sem", false), isGone, nil, nil},
		{"pushed back", []string{"hset grabbed 1 1700000000.5 2 1700000000.5", "rpush free 0"}, back.PermitBack("1", "free", true), isDone,
			map[string]string{"grabbed": `hash "2"="1700000000.5"`, "free": `list "1" "0"`}, nil},
		{"a share", []string{"hset shares pool1 3 pool2 1", "set count 4"}, share.Share("pool1", 3, "count"), isDone,
			map[string]string{"shares": `hash "pool2"="1"`, "count": `string "1"`}, nil},
		{"a larger share by now", []string{"hset shares pool1 5", "set count 5"}, share.Share("pool1", 3, "count"), changed(wire.WhyHolder, "pool1=5"), nil, nil},
		{"a share that is gone", []string{"hset shares pool2 5", "set count 5"}, share.Share("pool1", 3, "count"), isGone, nil, nil},
	})
}

func TestReleaseReset(t *testing.T) {
	r := wire.Release{Lock: "cached"}
	call := r.Reset("lockOwner", "me", "lockUntil", "0")
	runCases(t, []releaseCase{
		{"held", []string{"hset cached value v lockOwner me lockUntil 33300000000"}, call, isDone, map[string]string{"cached": `hash "lockUntil"="0" "value"="v"`}, nil},
		{"another owner", []string{"hset cached value v lockOwner you"}, call, changed(wire.WhyHolder, "you"), nil, nil},
		{"gone", []string{"hset cached value v"}, call, isGone, nil, nil},
		{"another type", []string{"set cached v"}, call, changed(wire.WhyType, ""), nil, nil},
	})
}

// now is the server's clock, in milliseconds.
func now(s *redistest.Server) int64 {
	t := s.Do("time").([]any)
	sec, _ := strconv.ParseInt(t[0].(string), 10, 64)
	usec, _ := strconv.ParseInt(t[1].(string), 10, 64)
	return sec*1000 + usec/1000
}
