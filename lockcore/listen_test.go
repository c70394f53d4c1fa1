package lockcore

import (
	"context"
	"testing"
	"time"
)

// Who does not wait any more is told of no release, a moment after the wait; only
// for who comes back soon the subscription stays, and then for the linger.
func TestSubscriptionEndsWithTheWait(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		defer release(t, take(t, w.locker(), "a"))
		var seen events
		l := w.locker(seen.option())
		waited := func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := l.Acquire(ctx, "a")
			wantErr(t, "waited", err, ErrNotAcquired, context.DeadlineExceeded)
		}
		ended := func(when string, want int) {
			t.Helper()
			if got := len(seen.of(EventUnsubscribed)); got != want {
				t.Errorf("%s: %d subscriptions have ended, want %d", when, got, want)
			}
		}
		waited()
		time.Sleep(10 * moment)
		ended("after a wait", 1)
		waited()
		time.Sleep(linger / 2)
		ended("after one that came soon", 1)
		time.Sleep(linger)
		ended("after the linger", 2)
		waited()
		time.Sleep(10 * moment)
		ended("after one that came late", 3)
	})
}
