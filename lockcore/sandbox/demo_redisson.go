package sandbox

import (
	_ "embed"
	"fmt"
	"time"

	"fencepost/lockcore/wire"
)

var (
	//go:embed scripts/redisson_take.lua
	redissonTake string
	//go:embed scripts/redisson_drop.lua
	redissonDrop string
	//go:embed scripts/fair_take.lua
	fairTake string
	//go:embed scripts/fair_drop.lua
	fairDrop string

	scriptRedissonTake = wire.NewScript("redisson_take", redissonTake)
	scriptRedissonDrop = wire.NewScript("redisson_drop", redissonDrop)
	scriptFairTake     = wire.NewScript("fair_take", fairTake)
	scriptFairDrop     = wire.NewScript("fair_drop", fairDrop)
)

// Redisson's watchdog gives 30 s and renews every third of that.
const (
	watchdogLease = 30 * time.Second
	watchdogEvery = watchdogLease / 3
)

// redissonHolder is an instance's id and a thread of it.
func (a *actor) redissonHolder() string {
	return fmt.Sprintf("%s:%d", a.uuid(), 30+a.rng.IntN(60))
}

// redissonTurn is the common part of Redisson's locks.
func (a *actor) redissonTurn(key string, work, rest time.Duration, keys ...string) turn {
	channel := "redisson_lock__channel:{" + key + "}"
	me := a.redissonHolder()
	keys = append([]string{key}, keys...)
	return turn{
		take: func() (bool, time.Duration) {
			return waitOrTaken(a.run(scriptRedissonTake, keys, millis(watchdogLease), me))
		},
		keep:  func() bool { return yes(a.run(scriptHashKeep, keys[:1], millis(watchdogLease), me)) },
		drop:  func() { a.run(scriptRedissonDrop, keys[:1], me, channel) },
		every: watchdogEvery, work: work, rest: rest, listen: a.listen(channel),
	}
}

// waitOrTaken reads the answer of a take script: "OK", or the TTL of the lock
// that is in the way. A Redisson waiter sleeps that long unless it is told.
func waitOrTaken(reply any) (bool, time.Duration) {
	if reply == "OK" {
		return true, 0
	}
	if ms, ok := reply.(int); ok && ms > 0 {
		return false, time.Duration(ms) * time.Millisecond
	}
	return false, time.Second
}

func playRedisson(s *Sandbox, key string) error {
	return s.each([]string{"order-1", "order-2", "order-3"}, func(a *actor) error {
		t := a.redissonTurn(key, 45*time.Second, 2*time.Second)
		a.join(t)
		return nil
	})
}

func playFenced(s *Sandbox, key string) error {
	return s.each([]string{"settle-1", "settle-2"}, func(a *actor) error {
		t := a.redissonTurn(key, 12*time.Second, time.Second, "redisson_lock_token:{"+key+"}")
		a.join(t)
		return nil
	})
}

// fairPlace is how long a waiter keeps its place without asking again.
const fairPlace = 5 * time.Minute

func playFair(s *Sandbox, key string) error {
	keys := []string{key, "redisson_lock_queue:{" + key + "}", "redisson_lock_timeout:{" + key + "}"}
	channel := "redisson_lock__channel:{" + key + "}"
	return s.each([]string{"stock-1", "stock-2", "stock-3"}, func(a *actor) error {
		me := a.redissonHolder()
		a.join(turn{
			take: func() (bool, time.Duration) {
				return waitOrTaken(a.run(scriptFairTake, keys, millis(watchdogLease), me, nowMS(), millis(fairPlace)))
			},
			keep:  func() bool { return yes(a.run(scriptHashKeep, keys[:1], millis(watchdogLease), me)) },
			drop:  func() { a.run(scriptFairDrop, keys[:2], me, channel) },
			every: watchdogEvery, work: 15 * time.Second, rest: time.Second, listen: a.listen(channel + ":" + me),
		})
		return nil
	})
}

func playReaders(s *Sandbox, key string) error {
	return s.each([]string{"catalog-1", "catalog-2"}, func(a *actor) error {
		a.behind = 0 // readers do not exclude each other
		me := a.redissonHolder()
		timeout := "{" + key + "}:" + me + ":rwlock_timeout:1"
		enter := [][]string{
			{"HSET", key, "mode", "read"}, {"HINCRBY", key, me, "1"},
			{"SET", timeout, "1", "PX", millis(watchdogLease)}, {"PEXPIRE", key, millis(watchdogLease)},
		}
		a.join(turn{
			take:  func() (bool, time.Duration) { return a.all(enter...), time.Second },
			every: watchdogEvery, rest: 20 * time.Second,
			keep: func() bool {
				return yes(a.run(scriptHashKeep, []string{key, timeout}, millis(watchdogLease), me))
			},
		})
		return nil
	})
}
