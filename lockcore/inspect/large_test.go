package inspect

import (
	"slices"
	"testing"

	"fencepost/lockcore/redistest"
)

// fillHash adds n fields with values of size bytes to a hash.
func fillHash(s *redistest.Server, key, field string, n, size int) {
	s.Do("EVAL", "local v = string.rep('1', ARGV[3]) for i = 1, ARGV[2] do redis.call('hset', KEYS[1], string.format(ARGV[1], i), v) end", 1, key, field, n, size)
}

// A lock in one field of a hash costs a scan, a second look and whoever follows
// it that field, not the hash: the results of huey may be of any size.
func TestFieldOfALargeHashIsNotReadWhole(t *testing.T) {
	s := redistest.Start(t)
	fillHash(s, "huey.results.app", "task%d", 3000, 1000)
	s.Do("HSET", "huey.results.app", "app.lock.nightly", "1")
	in := New(nodeOf(s))
	s.Do("CONFIG", "RESETSTAT")
	locks, _ := scanAll(t, in, Query{})
	if len(locks) != 1 || locks[0].Field != "app.lock.nightly" {
		t.Fatalf("found %+v", locks)
	}
	again, err := in.Refresh(t.Context(), locks)
	if err != nil || len(again) != 1 {
		t.Fatalf("%d locks, %v", len(again), err)
	}
	if n := calls(s, "hgetall"); n != 0 {
		t.Errorf("the hash was read whole %d times", n)
	}
}

// Of a lock that very many hold every look knows all of them, so that none who
// holds it is said not to.
func TestManyHoldersAreAllSeen(t *testing.T) {
	const readers = 900
	s := redistest.Start(t)
	s.Do("HSET", "shared", "mode", "read")
	fillHash(s, "shared", "8743c9c0-0795-4907-87fd-6c719a6b4586:%d", readers, 1)
	in := New(nodeOf(s))
	looked, err := in.Look(t.Context(), 0, "shared")
	if err != nil || len(looked) != 1 {
		t.Fatalf("%d locks, %v", len(looked), err)
	}
	again, err := in.Refresh(t.Context(), looked)
	if err != nil || len(again) != 1 {
		t.Fatalf("%d locks, %v", len(again), err)
	}
	listed, _ := scanAll(t, in, Query{})
	for what, locks := range map[string][]Lock{"a look": looked, "a second look": again, "a list": listed} {
		var ids []string
		for _, h := range locks[0].Holders {
			ids = append(ids, string(h.ID))
		}
		slices.Sort(ids)
		if n := len(slices.Compact(ids)); n != readers {
			t.Errorf("%s knows %d of %d holders", what, n, readers)
		}
	}
}

// Whoever follows a lock that very many hold is told of the one that came, and of
// no other: the look that tells it is not a sample of them.
func TestManyHoldersAreFollowed(t *testing.T) {
	s := redistest.Start(t)
	const many = 60_000 // more than 4 MB, by the server's estimate
	fillHash(s, "lock:huge", "8743c9c0-0795-4907-87fd-6c719a6b4586:%d", many, 1)
	in := New(nodeOf(s))
	locks, _ := scanAll(t, in, Query{})
	if len(locks) != 1 || len(locks[0].Holders) != many {
		t.Fatalf("%d locks, %d holders", len(locks), len(locks[0].Holders))
	}
	s.Do("HSET", "lock:huge", holderB, 1)
	again, err := in.Refresh(t.Context(), locks)
	if err != nil || len(again) != 1 || len(again[0].Holders) != many+1 {
		t.Fatalf("%d locks, %v", len(again), err)
	}
}
