package wire

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// Tests in virtual time run the scripts on the embedded server. Here random
// sequences of calls run on it and on a real one: the answers must be the same,
// and so must what is left.
func TestTheEmbeddedServerAnswersAsRedis(t *testing.T) {
	both := servers(t)
	for range redistest.Rounds(15, 600) {
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 0))
		for _, rdb := range both {
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 60 {
			call := randomCall(random)
			real, mini := answer(t, both["redis"], call), answer(t, both["miniredis"], call)
			if real != mini {
				t.Fatalf("seed %d, call %d: %s\nRedis answers    %s\nminiredis answers %s", seed, i, call.Brief(), real, mini)
			}
		}
		if real, mini := rest(t, both["redis"]), rest(t, both["miniredis"]); real != mini {
			t.Fatalf("seed %d: Redis is left with\n%s\nminiredis with\n%s", seed, real, mini)
		}
	}
}

// randomCall is a call of few tokens on few names, so that they meet.
func randomCall(r *rand.Rand) Call {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	k, _ := NewKeys("lock:", pick("a", "b")) // both are names
	token := pick("t1", "t2", "t3", "t4", "t5")
	fence := pick("1", "2", "3", "9", "10", "11")
	fair := Fair{WindowMS: 60000, Channel: k.Channel(0), Wait: r.IntN(3) > 0}
	pass := Pass{Seen: "seen", Fence: fence, Token: token}
	switch r.IntN(12) {
	case 0, 1, 2:
		a := Acquire{Keys: k, Token: token, TTLMS: 100000, About: "host=x"}
		if r.IntN(5) == 0 {
			a.Floor = fence
		}
		if r.IntN(5) == 0 {
			a.Guard = "seen"
		}
		return a.Call()
	case 3, 4:
		return Acquire{Keys: k, Token: token, TTLMS: 100000, Fair: &fair}.Call()
	case 5:
		return Renew(k, token, 100000)
	case 6, 7:
		return Unlock(k, token, 100000, k.Channel(0))
	case 8:
		return UnlockFair(k, token, 100000, fair)
	case 9:
		return pass.Enter()
	case 10:
		return pass.Write("data", token)
	}
	if r.IntN(4) == 0 {
		return Command("DEL", pick(k.Lock, k.Counter, k.Tombstone(token), "seen"))
	}
	return Release{}.ForceRelease(k, Value{Token: token, Fence: fence}, fair, 100000, "seen")
}

// volatile is what differs between two servers that do the same.
var volatile = regexp.MustCompile(`at=\d+\.\d{6}|since=[^ ]+|\b(99|100|5\d|6\d|29\d|3[0-4]\d)\d{3}\b|^\d{13}`)

func answer(t *testing.T, rdb *redis.Client, call Call) string {
	argv := call.Argv()
	args := make([]any, len(argv))
	for i, a := range argv {
		args[i] = a
	}
	reply, err := rdb.Do(t.Context(), args...).Result()
	return volatile.ReplaceAllString(fmt.Sprintf("%v %v", reply, err), "~")
}

// rest is everything that the server holds.
func rest(t *testing.T, rdb *redis.Client) (all string) {
	for _, name := range []string{"a", "b"} {
		k, _ := NewKeys("lock:", name) // both are names
		for _, key := range []string{k.Lock, k.Counter, k.Tombstone("t1"), k.Tombstone("t2")} {
			all += fmt.Sprintln(key, volatile.ReplaceAllString(rdb.Get(t.Context(), key).Val(), "~"), rdb.PTTL(t.Context(), key).Val() > 0)
		}
		all += fmt.Sprintln(rdb.ZRangeWithScores(t.Context(), k.Queue, 0, -1).Val(), rdb.HLen(t.Context(), k.Alive).Val())
	}
	return all + fmt.Sprintln(rdb.Get(t.Context(), "seen").Val(), rdb.Get(t.Context(), "data").Val())
}
