package lockcore

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

func BenchmarkPair(b *testing.B) {
	s := redistest.Start(b)
	rdb := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer rdb.Close()
	l, err := New(rdb)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		x, err := l.TryAcquire(ctx, "a")
		if err != nil {
			b.Fatal(err)
		}
		if err := x.Release(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFloor(b *testing.B) {
	s := redistest.Start(b)
	rdb := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer rdb.Close()
	sc := redis.NewScript(`if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0`)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := rdb.SetNX(ctx, "a", "token", DefaultTTL).Result(); !ok || err != nil {
			b.Fatal(err)
		}
		if n, err := sc.Run(ctx, rdb, []string{"a"}, "token").Int(); n != 1 || err != nil {
			b.Fatal(err)
		}
	}
}
