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

// The scripts write dates by their own arithmetic.
func TestScriptsWriteTheDateAsGoDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	edges := []string{
		"2000-02-28T23:59:59.999Z", "2000-02-29T00:00:00.000Z", "2000-03-01T00:00:00.000Z", "2024-02-29T12:00:00.001Z",
		"2100-02-28T23:59:59.999Z", "2100-03-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z",
		"1970-01-01T00:00:00.000Z", "2399-12-31T23:59:59.000Z", "2400-02-29T01:02:03.004Z",
	}
	for range 300 {
		edges = append(edges, time.UnixMilli(random.Int64N(2e13)).UTC().Format(timeFormat))
	}
	for name, rdb := range servers(t) {
		for _, want := range edges {
			at, err := time.Parse(timeFormat, want)
			if err != nil {
				t.Fatal(err)
			}
			micros := at.Nanosecond()/1000 + random.IntN(1000)
			got, err := rdb.Eval(t.Context(), lockHead+"return utc({ARGV[1], ARGV[2]})", nil,
				strconv.FormatInt(at.Unix(), 10), strconv.Itoa(micros)).Text()
			if err != nil || got != want {
				t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
			}
		}
	}
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
