package wire

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/redistest"
)

// servers are a real Redis and the embedded one: the scripts run on both.
func servers(t *testing.T) map[string]*redis.Client {
	mini := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { _ = mini.Close() })
	return map[string]*redis.Client{"redis": redistest.Start(t).Client(), "miniredis": mini}
}

// The server's time stands in the value to the microsecond.
func TestScriptsWriteTheServersTime(t *testing.T) {
	for name, rdb := range servers(t) {
		for _, micros := range []string{"0", "7", "42", "123456", "999999"} {
			value := evalText(t, rdb, lockHead+"give('5', {'1764494000', ARGV[4]}) return redis.call('GET', KEYS[1])",
				[]string{"l"}, "tok", "1000", "host=a", micros)
			us, _ := strconv.Atoi(micros) // all are numbers
			if v, ok := ParseValue(value); !ok || !v.Since.Equal(time.UnixMicro(1764494000_000000+int64(us))) || v.Host != "a" || v.Fence != "5" {
				t.Errorf("%s: %q reads %+v, %v", name, value, v, ok)
			}
			rdb.Del(t.Context(), "l")
		}
	}
}

// evalText runs a script that answers text.
func evalText(t *testing.T, rdb *redis.Client, source string, keys []string, args ...any) string {
	t.Helper()
	text, err := rdb.Eval(t.Context(), source, keys, args...).Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Fences are compared as text, exactly, on both servers.
func TestScriptsCompareFencesAsGoDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, rdb := range servers(t) {
		for range 200 {
			a := strconv.FormatUint(random.Uint64()>>random.IntN(64), 10)
			b := strconv.FormatUint(random.Uint64()>>random.IntN(64), 10)
			got, err := rdb.Eval(t.Context(), guardHead[strings.Index(guardHead, "local function less"):strings.Index(guardHead, "local mine")]+"return less(ARGV[1], ARGV[2]) and 1 or 0", nil, a, b).Int()
			if err != nil || (got == 1) != LessFence(a, b) {
				t.Errorf("%s: %s < %s is %d, %v", name, a, b, got, err)
			}
		}
	}
}
