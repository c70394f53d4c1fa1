package inspect

import (
	"testing"
	"time"
)

// A scan rests much longer where others use the server: by what it says of
// itself, or when calls get slow while the scan is under way.
func TestAScanSparesWhoIsThere(t *testing.T) {
	t.Parallel()
	const rtt = 100 * time.Microsecond
	for _, c := range []struct {
		name string
		ops  int64
		took []time.Duration // above the round trip, in microseconds, for 200 keys
		want float64
	}{
		{"idle", 12, []time.Duration{80, 90, 85, 150, 90}, idleRest},
		{"busy", 40_000, nil, politeRest},
		{"it does not say", -1, nil, politeRest},
		{"somebody comes", 0, []time.Duration{80, 90, 400, 500, 450}, politeRest},
		{"now and then a slow call", 0, []time.Duration{80, 90, 4000, 90, 4000, 90, 4000}, idleRest},
	} {
		p := newPacer(Query{Rate: -1, Count: 200}, rtt, c.ops)
		for _, us := range c.took {
			p.learn(rtt + us*time.Microsecond)
		}
		if p.times != c.want {
			t.Errorf("%s: rests %v times as long, want %v", c.name, p.times, c.want)
		}
	}
}
