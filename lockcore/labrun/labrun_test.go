package labrun_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/labrun"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/sandbox"
	"fencepost/lockcore/scenario"
)

func stories(t *testing.T) []*scenario.Scenario {
	t.Helper()
	all, err := scenario.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// again plays a world until the machine is fast enough for its leases.
func again(t *testing.T, j job, play func(try int) (*scenario.Run, error)) *scenario.Run {
	t.Helper()
	var err error
	for try := range 4 {
		var run *scenario.Run
		if run, err = play(try); !errors.Is(err, labrun.ErrTooSlow) {
			if err != nil {
				t.Errorf("%s/%s: %v", j.s.Name, j.w.Name, err)
			}
			return run
		}
	}
	t.Errorf("%s/%s: %v", j.s.Name, j.w.Name, err)
	return nil
}

func options(port *labrun.Port, w *scenario.World, where scenario.Where) scenario.Options {
	ends := w.Ends
	return scenario.Options{Seed: 1, Where: where, Prefix: port.Prefix(), Ends: &ends}
}

func mustEndAsFiled(t *testing.T, run *scenario.Run) {
	t.Helper()
	if run != nil && !run.AsFiled() {
		t.Errorf("%s/%s ended %s, broken %v\nthe file says %s, broken %v", run.Name, run.World, run.Verdict, run.Broken, run.Ends.Verdict, run.Ends.Broken)
		for _, st := range run.Steps {
			t.Log(st.N, st.At, st.Actor, st.Skipped, st.Is, st.Broken)
			for _, d := range st.Dids {
				t.Log("    ", d.Act, "->", d.Sees, d.Sent)
			}
		}
	}
}

// job is one world to be played; jobs run beside each other, since a run mostly
// waits for leases to end.
type job struct {
	s *scenario.Scenario
	w *scenario.World
}

func eachWorld(t *testing.T, workers int, take func(*scenario.Scenario) bool, play func(j job)) {
	t.Helper()
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				play(j)
			}
		})
	}
	for _, s := range stories(t) {
		for i := range s.Worlds {
			if take(s) {
				jobs <- job{s, &s.Worlds[i]}
			}
		}
	}
	close(jobs)
	wg.Wait()
}

func TestEveryStoryOnAChosenRedis(t *testing.T) {
	server := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ContextTimeoutEnabled: true, PoolSize: 100})
	t.Cleanup(func() { _ = client.Close() })
	ctx := context.Background()
	if err := client.Set(ctx, "somebody:elses", "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	runs := func(s *scenario.Scenario) bool { return s.RunsAt(scenario.ChosenRedis) }
	eachWorld(t, 6, runs, func(j job) {
		run := again(t, j, func(try int) (*scenario.Run, error) {
			port := labrun.New(client, labrun.LengthsFor(j.s.Leases(j.w), try), 5*time.Second)
			run, err := scenario.Play(ctx, j.s, j.w, port, options(port, j.w, scenario.ChosenRedis))
			mustHaveExpiries(t, client, port.Prefix())
			if err := port.Clean(ctx); err != nil {
				t.Error(err)
			}
			return run, err
		})
		mustEndAsFiled(t, run)
		mustBeAsInTheSandbox(t, j, run)
	})
	if left := client.Keys(ctx, "*").Val(); len(left) != 1 {
		t.Errorf("%d keys are there after the runs, not 1: %v", len(left), left)
	}
}

// mustBeAsInTheSandbox compares what was sent, answered and believed with the
// same world in the sandbox: what a room sees there is what Redis does.
func mustBeAsInTheSandbox(t *testing.T, j job, run *scenario.Run) {
	t.Helper()
	if run == nil {
		return
	}
	stage := sandbox.NewLab()
	defer stage.Close()
	ends := j.w.Ends
	virtual, err := scenario.Play(context.Background(), j.s, j.w, stage, scenario.Options{Seed: 1, Where: scenario.ChosenRedis, Ends: &ends})
	if err != nil {
		t.Error(err)
		return
	}
	here, there := j.s.Document(run), j.s.Document(virtual)
	for i := range min(len(here.Steps), len(there.Steps)) {
		if !reflect.DeepEqual(here.Steps[i], there.Steps[i]) {
			t.Errorf("%s/%s: on a real server\n%+v\nin the sandbox\n%+v", run.Name, run.World, here.Steps[i], there.Steps[i])
			return
		}
	}
	if len(here.Steps) != len(there.Steps) {
		t.Errorf("%s/%s: %d steps on a real server, %d in the sandbox", run.Name, run.World, len(here.Steps), len(there.Steps))
	}
}

// mustHaveExpiries looks at what is there before it is cleaned away: a lab that
// is killed now leaves nothing for longer than its net.
func mustHaveExpiries(t *testing.T, client *redis.Client, prefix string) {
	t.Helper()
	ctx := context.Background()
	for _, key := range client.Keys(ctx, prefix+"*").Val() {
		if ttl := client.PTTL(ctx, key).Val(); ttl == -1 || ttl > 10*time.Minute {
			t.Errorf("%s would stay for %v", key, ttl)
		}
	}
}

func TestEveryStoryOnServersOfTheLab(t *testing.T) {
	redistest.Need(t)
	if testing.Short() {
		t.Skip("starts some hundred servers")
	}
	only := func(s *scenario.Scenario) bool {
		return s.RunsAt(scenario.OwnServers) && !s.RunsAt(scenario.ChosenRedis)
	}
	eachWorld(t, 4, only, func(j job) {
		run := again(t, j, func(try int) (*scenario.Run, error) {
			own, err := labrun.NewOwn(lengths(j.s, j.w, try), 5*time.Second)
			if err != nil {
				return nil, err
			}
			defer func() {
				if err := own.Close(); err != nil {
					t.Error(err)
				}
			}()
			return scenario.Play(t.Context(), j.s, j.w, own, options(own.Port, j.w, scenario.OwnServers))
		})
		mustEndAsFiled(t, run)
	})
}

func lengths(s *scenario.Scenario, w *scenario.World, try int) labrun.Lengths {
	l := labrun.LengthsFor(s.Leases(w), try)
	if w.Fills() {
		l.Real = 15 * time.Second
	}
	return l
}

// A lab that was killed leaves a directory, which the next one removes; that of a
// lab that runs stays.
func TestOwnServersSweepWhatAKilledLabLeft(t *testing.T) {
	redistest.Need(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	old, young, other := filepath.Join(tmp, "fencepost-lab-old"), filepath.Join(tmp, "fencepost-lab-young"), filepath.Join(tmp, "fencepost-other")
	for _, dir := range []string{old, young, other} {
		if err := os.MkdirAll(filepath.Join(dir, "redis-1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{old, other} {
		if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	own, err := labrun.NewOwn(labrun.LengthsFor(nil, 0), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(tmp, "*"))
	if err != nil || !slices.Equal(left, []string{young, other}) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// In a Cluster the lock and the resource live on different nodes; each step's
// keys share one.
func TestStoriesOnACluster(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	addrs := make([]string, len(nodes))
	for i, n := range nodes {
		addrs[i] = n.Addr
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, MaxRetries: -1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	ctx := context.Background()
	for _, name := range []string{"gc-pause-late-write", "two-keys", "polling-herd", "cannot-compare", "operator-live-holder"} {
		s, err := scenario.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Worlds {
			w := &s.Worlds[i]
			mustEndAsFiled(t, again(t, job{s, w}, func(try int) (*scenario.Run, error) {
				port := labrun.New(client, labrun.LengthsFor(s.Leases(w), try), 5*time.Second)
				run, err := scenario.Play(ctx, s, w, port, options(port, w, scenario.ChosenRedis))
				return run, errors.Join(err, port.Clean(ctx))
			}))
		}
	}
	for _, n := range nodes {
		if left := n.Dump(); len(left) != 0 {
			t.Errorf("keys are left on %s: %v", n.Addr, left)
		}
	}
}

// What the server will not do breaks the story off, in the server's own words.
func TestARefusingServerBreaksTheStoryOff(t *testing.T) {
	server := redistest.Start(t)
	server.Do("ACL", "SETUSER", "reader", "on", ">secret", "~*", "&*", "+@read", "+multi", "+exec", "+ping", "+hello")
	client := redis.NewClient(&redis.Options{Addr: server.Addr, Username: "reader", Password: "secret", MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	s, err := scenario.Find("gc-pause-late-write")
	if err != nil {
		t.Fatal(err)
	}
	port := labrun.New(client, labrun.LengthsFor(nil, 0), 5*time.Second)
	_, err = scenario.Play(t.Context(), s, &s.Worlds[0], port, options(port, &s.Worlds[0], scenario.ChosenRedis))
	if err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("a user who may not write: %v", err)
	}
}

// A lab that is killed at any moment leaves nothing for longer than its net:
// there is no moment at which one of its keys has no expiry.
func TestNoKeyIsEverWithoutAnExpiry(t *testing.T) {
	server := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ContextTimeoutEnabled: true, PoolSize: 20})
	t.Cleanup(func() { _ = client.Close() })
	ctx, stop := context.WithCancel(context.Background())
	looked := make(chan int)
	go func() {
		looks := 0
		for ; ctx.Err() == nil; looks++ {
			bare, err := client.Eval(context.Background(), `local out = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left == -1 or left > 600000 then out[#out + 1] = key end
end
return out`, nil).StringSlice()
			if err != nil || len(bare) > 0 {
				t.Errorf("without an expiry: %v, %v", bare, err)
				break
			}
		}
		looked <- looks
	}()
	for _, name := range []string{"setnx-expire-crash", "gc-pause-late-write", "polling-herd", "thread-hand-off", "cannot-compare"} {
		s, err := scenario.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Worlds {
			w := &s.Worlds[i]
			again(t, job{s, w}, func(try int) (*scenario.Run, error) {
				port := labrun.New(client, labrun.LengthsFor(s.Leases(w), try), 5*time.Second)
				return scenario.Play(context.Background(), s, w, port, options(port, w, scenario.ChosenRedis)) // never cleaned
			})
		}
	}
	stop()
	if n := <-looked; n < 100 {
		t.Errorf("only %d looks", n)
	}
}

// A story that does something to the server is refused where the server is
// somebody's, before anything is written.
func TestStoriesForServersOfTheLabAreRefusedElsewhere(t *testing.T) {
	server := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = client.Close() })
	refused := 0
	for _, s := range stories(t) {
		if s.RunsAt(scenario.ChosenRedis) {
			continue
		}
		for i := range s.Worlds {
			w := &s.Worlds[i]
			port := labrun.New(client, labrun.LengthsFor(s.Leases(w), 0), 5*time.Second)
			_, err := scenario.Play(t.Context(), s, w, port, scenario.Options{Prefix: port.Prefix()})
			if !errors.Is(err, scenario.ErrNeedsServers) {
				t.Errorf("%s/%s: %v, not a refusal", s.Name, w.Name, err)
			}
			refused++
		}
	}
	if n := client.DBSize(t.Context()).Val(); n != 0 || refused == 0 {
		t.Errorf("%d stories were refused, and %d keys are there", refused, n)
	}
}

// The lab adds nothing to a chosen server and takes nothing away, run after run,
// several at once, whatever the story: its keys are afterwards what they were.
func TestAChosenRedisIsLeftAsItWas(t *testing.T) {
	server := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ContextTimeoutEnabled: true, PoolSize: 100})
	t.Cleanup(func() { _ = client.Close() })
	ctx := context.Background()
	for i := range 20 {
		server.Do("SET", fmt.Sprintf("app:%d", i), strings.Repeat("x", i))
	}
	server.Do("HSET", "order:4711", "8743c9c0-0795-4907-87fd-6c719a6b4586:38", "1")
	server.Do("RPUSH", "queue", "a", "b")
	server.Do("SET", "lock:{acct-7}", "somebody's own, of the name that the lab uses")
	server.Do("SET", "fencepost:lab:", "not the lab's")
	before := server.Dump()
	server.Do("CONFIG", "RESETSTAT")

	var jobs []job
	for _, s := range stories(t) {
		for i := range s.Worlds {
			if s.RunsAt(scenario.ChosenRedis) {
				jobs = append(jobs, job{s, &s.Worlds[i]})
			}
		}
	}
	runs := redistest.Rounds(12, 1000)
	next := make(chan job)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for j := range next {
				again(t, j, func(try int) (*scenario.Run, error) {
					port := labrun.New(client, labrun.LengthsFor(j.s.Leases(j.w), try), 5*time.Second)
					run, err := scenario.Play(ctx, j.s, j.w, port, options(port, j.w, scenario.ChosenRedis))
					return run, errors.Join(err, port.Clean(ctx))
				})
			}
		})
	}
	begun := time.Now()
	for n := range runs {
		next <- jobs[n*7%len(jobs)] // in steps, so that a short count meets other stories too
	}
	close(next)
	wg.Wait()
	t.Logf("%d runs of %d worlds in %v", runs, len(jobs), time.Since(begun).Round(time.Second))
	mustHaveSentOnlyWhatAStoryNeeds(t, fmt.Sprint(server.Do("INFO", "commandstats")))
	if after := server.Dump(); !maps.Equal(after, before) {
		for key := range after {
			if after[key] != before[key] {
				t.Errorf("%s is not as it was", key)
			}
		}
		t.Errorf("there are %d keys after the runs, %d before", len(after), len(before))
	}
}

// mustHaveSentOnlyWhatAStoryNeeds looks at what the server has counted: nothing
// that changes the server itself, or that looks at somebody's keys.
func mustHaveSentOnlyWhatAStoryNeeds(t *testing.T, stats string) {
	t.Helper()
	if !strings.Contains(stats, "cmdstat_exec:") {
		t.Fatalf("no story was counted: %q", stats)
	}
	needed := []string{"multi", "exec", "eval", "set", "setnx", "get", "mset", "del", "incr", "pexpire", "pttl", "exists", "time",
		"subscribe", "unsubscribe", "publish", "rpush", "hset", "hget", "hdel", "hexists", "hincrby", "zadd", "zrem", "zrange", "zrank", "zscore",
		"hello", "ping", "client|setinfo", "client|maint_notifications", "config|resetstat"} // the last is the test's
	for line := range strings.Lines(stats) {
		name, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cmdstat_"), ":")
		if ok && strings.HasPrefix(line, "cmdstat_") && !slices.Contains(needed, name) {
			t.Errorf("the lab sent %s", strings.ToUpper(name))
		}
	}
}
