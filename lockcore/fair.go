package lockcore

import (
	"context"
	"time"
)

// window is how long the waiter whose turn it is may take to come. A waiter
// that died delays the others by no more.
const window = 500 * time.Millisecond

// inQueue waits in the server's queue. There every waiter has its own place, so
// that turns are fair over all processes, and its own token is called when its
// turn has come.
func (w *waiting) inQueue(ctx context.Context) (*Lease, error) {
	box := newMailbox(w.token)
	joined := w.l.ears.live(w.names)
	if joined { // nothing is missed then, and the first answer settles it
		w.l.ears.join(w.names, box)
	}
	defer func() {
		if joined {
			w.l.ears.leave(w.names, box)
		}
	}()
	w.queued = true
	lease, pause, err := w.try(ctx, true)
	for polled := 0; lease == nil && err == nil; {
		if !joined {
			joined = true
			w.l.ears.join(w.names, box)
		}
		if w.kept { // by whom it is kept for, for about as long as by this one
			pause = w.cfg.ttl
		}
		if w.l.ears.live(w.names) {
			polled = 0
		} else { // ask often enough not to miss the window
			pause = min(pause, backoff(pollFirst, polled, window/2))
			polled++
		}
		lease, pause, err = w.askWhenCalled(ctx, box, pause)
	}
	w.queued = lease == nil
	return lease, err
}

// askWhenCalled asks when this waiter is called, when it must show that it
// lives (after pause), or when another one that was called has not come.
func (w *waiting) askWhenCalled(ctx context.Context, box *mailbox, pause time.Duration) (*Lease, time.Duration, error) {
	// Those in front ask first, when the holder has died and nobody is called.
	showUp := time.Now().Add(pause + time.Duration(min(w.place, 50))*2*time.Millisecond)
	until := showUp
	if w.kept { // another was called before this one came
		until = w.lookAfter(showUp)
	}
	return w.askWhenFree(ctx, box, true, until, func(n news) time.Time {
		w.place = max(w.place-n.taken, 0)
		until = showUp
		if n.called {
			until = w.lookAfter(showUp)
		}
		return until
	})
}

// lookAfter is when to ask whether the one that was called has come: one window
// later for the next in the queue, two for the one behind it.
func (w *waiting) lookAfter(latest time.Time) time.Time {
	late := time.Now().Add(time.Duration(max(w.place, 1))*window + jitter())
	if late.Before(latest) {
		return late
	}
	return latest
}
