package inspect

import (
	"testing"
	"time"

	"fencepost/lockcore/inspect/family"
)

func TestSpan(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "0 ms", 7: "7 ms", 999: "999 ms", 1000: "1 s", 29_950: "29 s", 60_000: "1 min", 65_999: "1 min 5 s",
		3_600_000: "1 h", 11_520_000: "3 h 12 min", 86_400_000: "1 d", 187_200_000: "2 d 4 h",
		3_600_000 + 5_000: "1 h", // seconds are not its two largest units
		-4_000:            "-4 s",
		315_360_000_000:   "10 y",
	} {
		if got := Span(ms); got != want {
			t.Errorf("Span(%d) = %q, want %q", ms, got, want)
		}
	}
}

// A01, A45: what has no end, or none that anybody will see, is said in words,
// never as -1, 0 s or a plausible number of years.
func TestExpiryWords(t *testing.T) {
	now := time.Now()
	for want, l := range map[string]Lock{
		"no expiry":                       {Persistent: true, TTL: -1},
		"> 100 y (practically no expiry)": {TTL: 19999999845 * 1000, Deadline: deadlineAfter(now, 19999999845*1000)},
		"12 s":                            {TTL: 12_400, Deadline: now.Add(12_400 * time.Millisecond)},
		"due":                             {TTL: 5, Deadline: now.Add(-time.Second)},
		"over for 5 s":                    {Persistent: true, Deadline: now.Add(-5 * time.Second)},
		"over for 3 s":                    {State: family.Lapsed, TTL: 60_000, Deadline: now.Add(-3 * time.Second)},
		"40 s (in its value)":             {Persistent: true, Deadline: now.Add(40 * time.Second)},
	} {
		if got := l.Expiry(now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A lease of 8 s is told as that, though a look comes a moment after it was given.
func TestTTLWordsSayForHowLongItWasTaken(t *testing.T) {
	for want, e := range map[string]Event{
		"for 8 s":     {Kind: WasAcquired, TTL: 7_991},
		"for 7 s":     {Kind: WasAcquired, TTL: 7_850},
		"for 1 min":   {Kind: WasAcquired, TTL: 59_950},
		"for 991 ms":  {Kind: WasAcquired, TTL: 991},
		"2 s -> 30 s": {Kind: WasRenewed, TTL: 29_999, PrevTTL: 2_999},
		"no expiry":   {Kind: WasAcquired, TTL: family.NoTTL},
	} {
		e.Key = "lock:a"
		if got := e.TTLWords(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDeadlineDoesNotOverflow(t *testing.T) {
	now := time.Now()
	for _, ms := range []int64{19999999845 * 1000, 1 << 62, 9223372036854775807} {
		if d := deadlineAfter(now, ms); d.Before(now.Add(200 * 365 * 24 * time.Hour)) {
			t.Errorf("a TTL of %d ms ends at %s", ms, d)
		}
	}
}
