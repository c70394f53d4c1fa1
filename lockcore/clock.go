package lockcore

import "time"

// instant is a moment on both clocks of a computer, in nanoseconds: the one
// that people set, and the one that only goes on but stands still while the
// computer sleeps. Neither alone tells how much time a server has counted.
type instant struct{ wall, mono int64 }

// since is how much time has passed since an earlier instant: the larger of the
// two clocks' answers. An error on this side ends a lease too early, never too
// late.
func (i instant) since(earlier instant) time.Duration {
	return time.Duration(max(i.wall-earlier.wall, i.mono-earlier.mono))
}

// second is the moment on the clock that people set, in full seconds.
func (i instant) second() time.Time { return time.Unix(i.wall/int64(time.Second), 0) }

// clock reads instants. base lets a monotonic reading become a time.Time again.
type clock struct {
	base time.Time
	read func() instant
}

func newClock() clock {
	base := time.Now()
	return clock{base: base, read: func() instant {
		now := time.Now()
		return instant{wall: now.UnixNano(), mono: int64(now.Sub(base))}
	}}
}

// time is the moment that lies d after i.
func (c clock) time(i instant, d time.Duration) time.Time {
	return c.base.Add(time.Duration(i.mono) + d)
}

// margin is taken off a lease at its holder's end, for what clocks differ in
// speed and for the time that a decision takes.
func margin(ttl time.Duration) time.Duration {
	return max(2*time.Millisecond, ttl/100)
}
