package lockcore

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// What clients did is recorded with the moments of call and return, and checked
// against a model of a lock with fences and a guard: is there an order in which
// one lock, one step after the other, would have answered like this?

const historyTTL = 100 * time.Millisecond

// step is one operation. Only what its kind needs is set.
type step struct {
	kind   string // acquire, release, write
	fence  uint64 // of release and write
	call   int64  // when it was called, in ns
	result string // ok, no, unknown
	got    uint64 // acquire: the fence
	ended  int64  // when it returned
}

// lockState is the model's state. What may happen later, because an outcome is
// unknown, is part of it.
type lockState struct {
	holder uint64 // 0: free
	expiry int64  // the lock is not gone by itself before that
	ghost  bool   // the holder's request was abandoned: it goes at any moment
	last   uint64 // fence given
	seen   uint64 // by the guard
}

// lockModel is one lock.
var lockModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{lockState{}} },
	Step: func(state, input, output any) []any {
		s, op, out := state.(lockState), input.(*step), output.(*step)
		next := op.from(s, out)
		if s.holder != 0 && (s.ghost || out.ended >= s.expiry) {
			free := s
			free.holder, free.ghost = 0, false
			next = append(next, op.from(free, out)...)
		}
		return next
	},
}

// from is where an operation leads with this result; nowhere if it could not
// have had it.
func (op *step) from(s lockState, out *step) []any {
	granted := s
	granted.holder, granted.last, granted.expiry = s.last+1, s.last+1, op.call+int64(historyTTL)
	freed := s
	freed.holder, freed.ghost = 0, false
	written := s
	written.seen = max(s.seen, op.fence)
	yes, no := false, false // may it have had this result?
	var after lockState
	switch op.kind {
	case "acquire":
		yes, no, after = s.holder == 0 && (out.got == s.last+1 || out.result == "unknown"), s.holder != 0, granted
		after.ghost = out.result == "unknown"
	case "release":
		yes, no, after = s.holder == op.fence, s.holder != op.fence, freed
	case "write":
		yes, no, after = op.fence >= s.seen, op.fence < s.seen, written
	}
	switch {
	case out.result == "ok" && yes:
		return []any{after}
	case out.result == "no" && no:
		return []any{s}
	case out.result == "unknown" && yes:
		return []any{s, after}
	case out.result == "unknown":
		return []any{s}
	}
	return nil
}

// subject is a lock under test.
type subject interface {
	acquire(ctx context.Context) (fence uint64, held any, result string)
	release(ctx context.Context, fence uint64, held any) (result string)
	write(ctx context.Context, fence uint64, held any) (result string)
}

// right is lockcore.
type right struct {
	l *Locker
	g *Guard
}

func resultOf(err error, no ...error) string {
	if err == nil {
		return "ok"
	}
	for _, target := range no {
		if errors.Is(err, target) {
			return "no"
		}
	}
	return "unknown"
}

func (r right) acquire(ctx context.Context) (uint64, any, string) {
	lease, err := r.l.TryAcquire(ctx, "a", WithTTL(historyTTL), WithOpTimeout(historyTTL), WithoutRenewal())
	return lease.Fence().n, lease, resultOf(err, ErrNotAcquired)
}

func (r right) release(ctx context.Context, _ uint64, held any) string {
	lease := held.(*Lease)
	wasOver := lease.Err() != nil
	err := lease.Release(ctx)
	if wasOver && errors.Is(err, ErrLost) {
		return "unknown" // its own clock had ended it; the server may have had it still
	}
	return resultOf(err, ErrLost)
}

func (r right) write(ctx context.Context, _ uint64, held any) string {
	return resultOf(r.g.Set(ctx, held.(*Lease), []byte("x")), ErrStale)
}

// separate is the wrong variant that many write: SET NX, and the number by an
// INCR of its own, through a client with its usual retries.
type separate struct{ c *redis.Client }

func (w separate) acquire(ctx context.Context) (uint64, any, string) {
	token := strconv.FormatInt(rand.Int64(), 36)
	ok, err := w.c.SetNX(ctx, "wrong", token, historyTTL).Result()
	if err != nil || !ok {
		return 0, nil, resultOf(errors.Join(err, ErrNotAcquired), ErrNotAcquired)
	}
	n, err := w.c.Incr(ctx, "wrong:fence").Result()
	return uint64(n), token, resultOf(err)
}

func (w separate) release(ctx context.Context, _ uint64, held any) string {
	n, err := w.c.Eval(ctx, "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
		[]string{"wrong"}, held).Int()
	if err == nil && n == 0 {
		return "no"
	}
	return resultOf(err)
}

func (w separate) write(context.Context, uint64, any) string { return "unknown" }

// record runs clients against a subject, with faults, and returns the history.
func record(t *testing.T, p *redistest.Proxy, subjects []subject, seed uint64) []porcupine.Operation {
	began := time.Now()
	stamp := func() int64 { return int64(time.Since(began)) }
	var mu sync.Mutex
	var history []porcupine.Operation
	do := func(client int, s step, run func(*step)) step {
		s.call = stamp()
		in := s
		run(&s)
		s.ended = stamp()
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{ClientId: client, Input: &in, Output: &s, Call: s.call, Return: s.ended})
		return s
	}
	var all sync.WaitGroup
	for client, sub := range subjects {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			ctx := t.Context()
			for range 25 {
				if random.IntN(100) < 8 {
					p.CutReply(1 + random.IntN(2))
				}
				var held any
				got := do(client, step{kind: "acquire"}, func(s *step) { s.got, held, s.result = sub.acquire(ctx) })
				if got.result != "ok" {
					time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond)
					continue
				}
				if random.IntN(10) == 0 {
					time.Sleep(historyTTL + time.Duration(random.IntN(40))*time.Millisecond) // stands still, and goes on
				}
				do(client, step{kind: "write", fence: got.got}, func(s *step) { s.result = sub.write(ctx, got.got, held) })
				do(client, step{kind: "release", fence: got.got}, func(s *step) { s.result = sub.release(ctx, got.got, held) })
			}
		})
	}
	all.Wait()
	p.Heal()
	return history
}

// The history of five clients under faults is that of one lock.
func TestH01_HistoriesAreThoseOfOneLock(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	for round := range redistest.Rounds(3, 100) {
		seed := rand.Uint64()
		s.Do("flushall")
		var subjects []subject
		for range 5 {
			l := onServer(t, p.Addr)
			subjects = append(subjects, right{l, guardOf(t, l, "r")})
		}
		check(t, record(t, p, subjects, seed), porcupine.Ok, seed, round)
	}
}

// The checker is no rubber stamp: it finds out the number that is drawn by a
// command of its own.
func TestH01_TheCheckerFindsASeparateIncr(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr)
	found := false
	for range 10 {
		seed := rand.Uint64()
		s.Do("flushall")
		var subjects []subject
		for range 5 {
			subjects = append(subjects, separate{clientOf(t, p.Addr)})
		}
		history := record(t, p, subjects, seed)
		if porcupine.CheckOperationsTimeout(lockModel.ToModel(), history, 20*time.Second) == porcupine.Illegal {
			found = true
			break
		}
	}
	if !found {
		t.Error("ten histories of a wrong lock passed for those of a right one")
	}
}

func check(t *testing.T, history []porcupine.Operation, want porcupine.CheckResult, seed uint64, round int) {
	t.Helper()
	got, info := porcupine.CheckOperationsVerbose(lockModel.ToModel(), history, time.Minute)
	counts := map[string]int{}
	for _, op := range history {
		out := op.Output.(*step)
		counts[out.kind+" "+out.result]++
	}
	t.Logf("round %d, seed %d: %d operations, %v", round, seed, len(history), counts)
	if got != want {
		file := t.TempDir() + "/history.html"
		_ = porcupine.VisualizePath(lockModel.ToModel(), info, file)
		for _, op := range history {
			t.Logf("client %d %+v", op.ClientId, *op.Output.(*step))
		}
		t.Fatalf("seed %d: the history is %v", seed, got)
	}
}
