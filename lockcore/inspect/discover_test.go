package inspect

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

const (
	holderA = "8743c9c0-0795-4907-87fd-6c719a6b4586:38"
	holderB = "11111111-0795-4907-87fd-6c719a6b4586:7"
)

func nodeOf(s *redistest.Server) Node { return Node{Addr: s.Addr, Client: s.Client()} }

// redisson takes a lock as Redisson's own script does.
func redisson(s *redistest.Server, key, holder string, ms int) {
	s.Do("EVAL", "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2])", 1, key, holder, ms)
}

// scanAll runs a scan to its end.
func scanAll(t *testing.T, in *Inspector, q Query) ([]Lock, Coverage) {
	t.Helper()
	var locks []Lock
	cov, err := in.Scan(t.Context(), q, func(p Progress) bool {
		locks = append(locks, p.Found...)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if !cov.Complete {
		t.Fatalf("coverage is not complete: %+v", cov)
	}
	return locks, cov
}

func keysOf(locks []Lock) []string {
	var keys []string
	for i := range locks {
		keys = append(keys, string(locks[i].Key))
	}
	slices.Sort(keys)
	return keys
}

// calls is how often the server ran a command, by its own count.
func calls(s *redistest.Server, command string) int {
	stats, _ := s.Do("INFO", "commandstats").(string)
	for line := range strings.Lines(stats) {
		rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls=")
		if !ok {
			continue
		}
		n, _, _ := strings.Cut(rest, ",")
		count, _ := strconv.Atoi(n)
		return count
	}
	return 0
}

// B01: millions of keys and a handful of locks. The locks are found in both
// depths, and memory grows with the locks, not with the keys.
func TestFewLocksAmongManyKeys(t *testing.T) { // not in parallel: it measures memory
	n := redistest.Rounds(60_000, 1_000_000)
	s := redistest.Start(t, "--enable-debug-command", "yes")
	in := New(nodeOf(s))
	redistest.Populate(t, s.Client(), n, "user", 0)
	var want []string
	for i := range 5 {
		key := fmt.Sprintf("orders:lock:%d", i)
		redisson(s, key, holderA, 300_000)
		want = append(want, key)
	}
	redisson(s, "invoice", holderB, 300_000) // no word of its name says lock
	for _, c := range []struct {
		depth Depth
		want  []string
	}{{ByName, want}, {Deep, append([]string{"invoice"}, want...)}} {
		before := heapUsed()
		locks, cov := scanAll(t, in, Query{Depth: c.depth})
		if got := keysOf(locks); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", c.depth, got, c.want)
		}
		if cov.Scanned < int64(n)+6 || cov.Keyspace != int64(n)+6 || cov.Depth != c.depth {
			t.Errorf("%s: coverage %+v", c.depth, cov)
		}
		if grown := int64(heapUsed()) - int64(before); grown > 4<<20 {
			t.Errorf("%s: a scan of %d keys kept %d kB", c.depth, n, grown>>10)
		}
	}
	if _, cov := scanAll(t, in, Query{}); cov.Depth != ByName {
		t.Errorf("%d keys were looked at one by one without being told to", n)
	}
}

func heapUsed() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestByNameReadsOnlyCandidates(t *testing.T) {
	s := redistest.Start(t)
	for i := range 500 {
		s.Do("SET", fmt.Sprintf("cart:%d", i), "x")
	}
	redisson(s, "order-lock", holderA, 60_000)
	if locks, _ := scanAll(t, New(nodeOf(s)), Query{Depth: ByName}); len(locks) != 1 {
		t.Fatalf("found %v", keysOf(locks))
	}
	if n := calls(s, "getrange") + calls(s, "type"); n > 20 {
		t.Errorf("%d keys were read, of which one could be a lock", n)
	}
}

func TestDeepAsksTwoCommandsOfAString(t *testing.T) {
	t.Parallel()
	const n = 20_000
	s := redistest.Start(t)
	redistest.Populate(t, s.Client(), n, "cart", 0)
	s.Do("CONFIG", "RESETSTAT")
	scanAll(t, New(nodeOf(s)), Query{Depth: Deep})
	reads, types := calls(s, "getrange")+calls(s, "pttl"), calls(s, "type")
	if reads < 2*n || types > 2*scanBatch || calls(s, "strlen") > 0 {
		t.Errorf("%d reads and %d types for %d strings", reads, types, n)
	}
}

// A database whose keys of one form are of all types: the guess of a type must
// be given up, and nothing be missed.
func TestTypesThatCannotBeGuessed(t *testing.T) {
	s := redistest.Start(t)
	want := []string{}
	for i := range 2400 {
		key := fmt.Sprintf("thing:%d", i)
		switch i % 4 {
		case 0:
			s.Do("SET", key, strings.Repeat("v", i))
		case 1:
			redisson(s, key, holderA, 60_000)
			want = append(want, key)
		case 2:
			s.Do("ZADD", key, 1, "member")
		case 3:
			s.Do("RPUSH", key, "item")
		}
	}
	slices.Sort(want)
	locks, _ := scanAll(t, New(nodeOf(s)), Query{Depth: Deep})
	if got := keysOf(locks); !slices.Equal(got, want) {
		t.Errorf("found %d locks, want %d", len(got), len(want))
	}
	stats, _ := s.Do("INFO", "errorstats").(string)
	if _, n, ok := strings.Cut(stats, "errorstat_WRONGTYPE:count="); ok {
		if count, _ := strconv.Atoi(strings.TrimSpace(strings.Split(n, "\r")[0])); count > 900 { // of about 2500; two batches may be under way before it shows
			t.Errorf("%d replies were errors: the guess was not given up", count)
		}
	}
}

func TestWalkStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	redistest.Populate(t, s.Client(), 5000, "user", 0)
	var want []string
	for i := range 40 {
		key := fmt.Sprintf("lock:%02d", i)
		redisson(s, key, holderA, 60_000)
		want = append(want, key)
	}
	for _, rate := range []int{0, -1} {
		w := New(nodeOf(s)).NewWalk(Query{Count: 100, Rate: rate})
		var got []Lock
		pauses := 0
		for !w.Done() {
			pages := 0
			err := w.Run(t.Context(), func(p Progress) bool {
				got = append(got, p.Found...)
				pages++
				return pages < 7
			})
			if err != nil {
				t.Fatal(err)
			}
			pauses++
		}
		if pauses < 3 || !slices.Equal(keysOf(got), want) {
			t.Errorf("rate %d: %d runs found %v", rate, pauses, keysOf(got))
		}
		if cov := w.Coverage(); cov.Scanned < 5040 {
			t.Errorf("rate %d: %+v", rate, cov)
		}
	}
}

func TestScanEndsAtOnceWhenTold(t *testing.T) {
	s := redistest.Start(t)
	redistest.Populate(t, s.Client(), 20_000, "user", 0)
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	cov, err := New(nodeOf(s)).Scan(ctx, Query{Rate: 1000}, func(p Progress) bool {
		cancel()
		return true
	})
	if err == nil || cov.Complete || time.Since(began) > time.Second {
		t.Errorf("after %v: %v, %+v", time.Since(began), err, cov)
	}
}

func TestRateIsKept(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	redistest.Populate(t, s.Client(), 3000, "user", 0)
	began := time.Now()
	scanAll(t, New(nodeOf(s)), Query{Rate: 3000, Depth: ByName})
	if took := time.Since(began); took < 800*time.Millisecond || took > 3*time.Second {
		t.Errorf("3000 keys at 3000 a second took %v", took)
	}
}

func TestOtherDatabases(t *testing.T) {
	s := redistest.Start(t)
	for _, db := range []int{0, 1, 5} {
		c := redis.NewClient(&redis.Options{Addr: s.Addr, DB: db})
		c.Set(t.Context(), "k", "v", 0)
		_ = c.Close()
	}
	_, cov := scanAll(t, New(nodeOf(s)), Query{})
	if !slices.Equal(cov.OtherDBs, []int{1, 5}) || !cov.OtherDBsKnown || !slices.Equal(cov.DBs, []int{0}) {
		t.Errorf("%+v", cov)
	}
}

// A read resets the time by which an LRU policy evicts. Where the server cannot
// be told not to count it, nothing but names is looked at, unless asked.
func TestReadingDoesNotDisturbEviction(t *testing.T) {
	s := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	s.Do("SET", "k", "v")
	noTouch, err := s.Try("CLIENT", "NO-TOUCH", "ON")
	want := ByName
	if err == nil && noTouch != nil {
		want = Deep
	}
	if _, cov := scanAll(t, New(nodeOf(s)), Query{}); cov.Depth != want {
		t.Errorf("depth %s, want %s", cov.Depth, want)
	}
}

func TestPossibleIsCountedOnceForEachKey(t *testing.T) {
	s := redistest.Start(t)
	for i := range 300 {
		s.Do("SET", fmt.Sprintf("thing:%d", i), "5f3b1e62-9df1-4c5e-8a35-0d1e2f3a4b5c", "PX", 3_600_000)
	}
	in := New(nodeOf(s))
	hidden, cov := scanAll(t, in, Query{Depth: Deep})
	shown, _ := scanAll(t, in, Query{Depth: Deep, Possible: true})
	if cov.PossibleHidden != int64(len(shown)-len(hidden)) {
		t.Errorf("%d were said to be hidden, %d are", cov.PossibleHidden, len(shown)-len(hidden))
	}
}

// A Redisson semaphore is an ordinary number until somebody waits for it: the
// channel tells.
func TestChannelsTellOfLocks(t *testing.T) {
	s := redistest.Start(t)
	s.Do("SET", "permits", "0")
	c := s.Client()
	sub := c.Subscribe(t.Context(), "redisson_sc:{permits}")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	locks, _ := scanAll(t, New(nodeOf(s)), Query{})
	if got := keysOf(locks); !slices.Equal(got, []string{"permits"}) {
		t.Fatalf("found %v", got)
	}
	if w := locks[0].Waiters; w == nil || w.Count != 1 {
		t.Errorf("waiters %+v", w)
	}
}

func TestNamedKeyIsLookedAtWithoutAScan(t *testing.T) {
	s := redistest.Start(t)
	redisson(s, "invoice", holderA, 60_000)
	s.Do("CONFIG", "RESETSTAT")
	locks, _ := scanAll(t, New(nodeOf(s)), Query{Match: []string{"invoice"}, Depth: ByName})
	if len(locks) != 1 || calls(s, "scan") != 0 {
		t.Errorf("found %v with %d SCANs", keysOf(locks), calls(s, "scan"))
	}
}

// Keys vanish between the page that names them and the look at them.
func TestVanishingKeys(t *testing.T) {
	s := redistest.Start(t)
	other := s.Client()
	stop := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			key := fmt.Sprintf("lock:%d", i%200)
			other.HSet(context.Background(), key, holderA, 1)
			other.Del(context.Background(), key)
		}
	}()
	redisson(s, "lock:stays", holderB, 60_000)
	for range 20 {
		locks, _ := scanAll(t, New(nodeOf(s)), Query{Depth: Deep})
		if !slices.Contains(keysOf(locks), "lock:stays") {
			t.Error("the lock that stayed was not found")
		}
	}
	close(stop)
	<-gone
}

// A scan that breaks off has given every lock among the keys that it counted.
func TestBrokenScanGivesWhatItCounted(t *testing.T) {
	s := redistest.Start(t)
	takeMany(t, s, 400, "lock:")
	n := nodeOf(s)
	var scans atomic.Int64
	n.Client.AddHook(failHook{func(cmd redis.Cmder) error {
		if cmd.Name() == "scan" && scans.Add(1) > 4 {
			return errors.New("cut off")
		}
		return nil
	}})
	found := 0
	cov, err := New(n).Scan(t.Context(), Query{Depth: ByName, Count: 40}, func(p Progress) bool {
		found += len(p.Found)
		return true
	})
	if err != nil || cov.Complete || len(cov.Errors) != 1 {
		t.Fatalf("%v, %+v", err, cov)
	}
	if cov.Scanned < 100 || int64(found) != cov.Scanned {
		t.Errorf("%d locks were found among %d keys that are all locks", found, cov.Scanned)
	}
}

// failHook has commands fail.
type failHook struct{ with func(redis.Cmder) error }

func (h failHook) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h failHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := h.with(cmd); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}
func (h failHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
