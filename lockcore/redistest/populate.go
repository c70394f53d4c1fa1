package redistest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Populate writes n ordinary string keys prefix:0, prefix:1, … with values of
// size bytes (0: short ones): by DEBUG POPULATE where the server was started
// with "--enable-debug-command", "yes", which makes a million keys in a
// second, else by pipelined SETs, which take some three seconds.
func Populate(t testing.TB, client *redis.Client, n int, prefix string, size int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args := []any{"DEBUG", "POPULATE", n, prefix}
	if size > 0 {
		args = append(args, size)
	}
	if client.WithTimeout(4*time.Minute).Do(ctx, args...).Err() == nil {
		return
	}
	const batch = 5000
	for from := 0; from < n; from += batch {
		_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := from; i < min(n, from+batch); i++ {
				p.Set(ctx, prefix+":"+strconv.Itoa(i), value(i, size), 0)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("redistest: populate: %v", err)
		}
	}
}

// value is what DEBUG POPULATE would write.
func value(i, size int) string {
	v := "value:" + strconv.Itoa(i)
	if size == 0 {
		return v
	}
	b := make([]byte, size)
	copy(b, v)
	return string(b)
}
