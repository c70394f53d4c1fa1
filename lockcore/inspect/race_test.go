package inspect_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
)

// raced is named so that a constant in it is taken for a lock.
const raced = "raced:lock"

// form is one way to keep a lock, with the scripts by which its owners take it
// and hand it on.
type form struct {
	name string
	id   func(n int) string // the n-th holder's id
	// take acquires if nobody holds: KEYS[1], ARGV[1] id, ARGV[2] lease in ms.
	take string
	// leave releases if ARGV[1] holds.
	leave string
	// has asks whether ARGV[1] holds, and since when: the lease it was taken with.
	has string
}

var forms = []form{
	{
		"string", func(n int) string { return token(n) },
		"return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0",
		"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
		"return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0",
	},
	{
		"hash", func(n int) string { return fmt.Sprintf("6e3d30b7-83b1-433a-9335-%012x:%d", n, n) },
		"if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end redis.call('HSET', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1",
		"if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return redis.call('DEL', KEYS[1]) end return 0",
		"return redis.call('HEXISTS', KEYS[1], ARGV[1])",
	},
	{
		"zset", func(n int) string { return symfonyToken(n) },
		`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
		local t = redis.call('TIME')
		local at = string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2])
		redis.call('ZADD', KEYS[1], at, ARGV[1], at, '__write__') redis.call('PEXPIREAT', KEYS[1], at) return 1`,
		"if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return redis.call('DEL', KEYS[1]) end return 0",
		"return redis.call('ZSCORE', KEYS[1], ARGV[1]) and 1 or 0",
	},
}

// symfonyToken is 32 bytes that look random, as Symfony makes them.
func symfonyToken(n int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(n)))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// owner takes and hands on a lock as its library would.
type owner struct {
	t testing.TB
	c *redis.Client
	f form
}

func (o owner) eval(script, id string, lease time.Duration) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	n, err := redis.NewScript(script).Eval(ctx, o.c, []string{raced}, id, lease.Milliseconds()).Int64()
	if err != nil {
		o.t.Error(err)
	}
	return n
}

// handOver lets a go and b take it, at once or with a moment in between. It
// reports whether a still had it.
func (o owner) handOver(a, b string, gap time.Duration, lease time.Duration) (had bool) {
	had = o.eval(o.f.leave, a, 0) == 1
	time.Sleep(gap)
	if o.eval(o.f.take, b, lease) != 1 {
		o.t.Errorf("%s: the next holder could not take the lock", o.f.name)
	}
	return had
}

// round is one race: A holds, the operator looks, and then A's lock changes
// hands at some moment before, while or after the operator's plan runs.
type round struct {
	a, b       string
	leaseB     time.Duration
	outcome    inspect.Outcome
	hadIt      bool // A's own release came before the operator's
	strictly   bool // the hand-over was over before the plan ran
	stillThere bool // B's lock, in the end
}

func (o owner) round(in *inspect.Inspector, a, b string, leaseA, leaseB time.Duration) round {
	r := round{a: a, b: b, leaseB: leaseB, strictly: rand.IntN(2) == 0}
	if o.eval(o.f.take, a, leaseA) != 1 {
		o.t.Fatalf("%s: the lock of the round before is still there", o.f.name)
	}
	plan := releasePlan(o.t, in, raced)
	gap := time.Duration(rand.IntN(300)) * time.Microsecond
	if r.strictly {
		r.hadIt = o.handOver(a, b, gap, leaseB)
		r.outcome = carryOut(o.t, in, plan)
	} else {
		var both sync.WaitGroup
		both.Go(func() {
			time.Sleep(time.Duration(rand.IntN(600)) * time.Microsecond)
			r.hadIt = o.handOver(a, b, gap, leaseB)
		})
		r.outcome = carryOut(o.t, in, plan)
		both.Wait()
	}
	r.stillThere = o.eval(o.f.leave, b, 0) == 1
	return r
}

const raceRounds = 4000

// Whatever the moment at which a lock changes hands, what the operator had not
// seen is never removed, and what is said of it is true.
func TestNothingThatChangedHandsIsRemoved(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			in, o := at(t, s.Addr), owner{t, s.Client(), f}
			said := map[inspect.Word]int{}
			rounds := redistest.Rounds(150, raceRounds)
			for n := range rounds {
				r := o.round(in, f.id(2*n), f.id(2*n+1), 10*time.Second, 10*time.Second)
				said[r.outcome.Word]++
				switch {
				case !r.stillThere:
					t.Fatalf("round %d: a lock that changed hands was removed: %s", n, r.outcome.Word)
				case r.outcome.Word == inspect.Released && r.hadIt:
					t.Errorf("round %d: RELEASED, but its holder had released it itself", n)
				case (r.outcome.Word == inspect.Changed || r.outcome.Word == inspect.Gone) && !r.hadIt:
					t.Errorf("round %d: %s, but it was the operator who removed it", n, r.outcome.Word)
				case r.strictly && r.outcome.Word != inspect.Changed:
					t.Errorf("round %d: it had changed hands before, and the answer was %s", n, r.outcome.Word)
				}
			}
			t.Logf("%d rounds: %v", rounds, said)
			if said[inspect.Released] == 0 || said[inspect.Changed] == 0 {
				t.Errorf("the race was not one: %v", said)
			}
		})
	}
}

// With a constant for an id nothing but the deadline tells one holder from the
// next. A later lease is always told; one that ends within a second of the one
// that was seen is not, and how often that happens is measured here.
func TestConstantIDsAreGuardedByTheDeadline(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	constant := []form{
		{"string", func(int) string { return "1" }, forms[0].take, forms[0].leave, forms[0].has},
		{"hash", func(int) string { return threadA }, forms[1].take, forms[1].leave, forms[1].has},
	}
	for _, f := range constant {
		for _, later := range []time.Duration{0, 1200 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s/next lease ends %v later", f.name, later), func(t *testing.T) {
				in, o := at(t, s.Addr), owner{t, s.Client(), f}
				rounds, removed := redistest.Rounds(100, raceRounds), 0
				for n := range rounds {
					r := o.round(in, f.id(0), f.id(0), 10*time.Second, 10*time.Second+later)
					if !r.stillThere && r.hadIt {
						removed++
					}
					if later > 0 && !r.stillThere && r.hadIt {
						t.Fatalf("round %d: the next holder's lock was removed: %s", n, r.outcome.Word)
					}
				}
				t.Logf("%d rounds: the next holder of the same name lost its lock %d times", rounds, removed)
			})
		}
	}
}
