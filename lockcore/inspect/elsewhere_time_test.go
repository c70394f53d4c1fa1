package inspect

import (
	"testing"
	"time"

	"fencepost/lockcore/inspect/family"
)

// The keys of a lock are read one after another; what is left of each counts
// from one moment, else a reader that nobody renews would seem to be renewed.
func TestTimesOfCompanionsCountFromOneMoment(t *testing.T) {
	t.Parallel()
	at := func(ms int) stamp {
		sent := time.Unix(1_000, 0).Add(time.Duration(ms) * time.Millisecond)
		return stamp{sent: sent, received: sent.Add(2 * time.Millisecond)}
	}
	for _, c := range []struct {
		readAfter  int
		pttl, want int64
	}{
		{0, 5_000, 5_000},
		{40, 5_000, 5_040},
		{-40, 5_000, 4_960},
		{-40, 10, 0},
		{40, family.NoTTL, family.NoTTL},
		{40, family.Gone, family.Gone},
	} {
		d := dated{Sample: &family.Sample{Key: "k", PTTL: c.pttl}, when: at(c.readAfter)}
		if got := d.asOf(at(0)).PTTL; got != c.want {
			t.Errorf("read %d ms after the lock, %d ms left: %d, want %d", c.readAfter, c.pttl, got, c.want)
		}
		if d.PTTL != c.pttl {
			t.Error("the sample itself was changed, and other locks may share it")
		}
	}
}
