package cli

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A garbage collector that is left alone lets the heap grow to twice of what
// lives in it. A program that stays open beside an incident should not: the
// limit makes it collect earlier, and is soft, so that a list of any size fits.
const (
	memoryGoal   = 112 << 20 // bytes, for up to a hundred thousand locks
	memoryMargin = 8         // the limit is an eighth above what lives, at least
	memoryStep   = 1 << 20   // less than this is no reason to change the limit
)

// memoryEvery is how often the limit is looked at: seldom enough to cost nothing,
// and often enough that a list that grows fast does not run into it and have
// everything collected again and again.
const memoryEvery = 100 * time.Millisecond

// memoryBound keeps the limit above what lives.
type memoryBound struct{ limit int64 }

// adjust sets the limit by what lived at the last collection.
func (b *memoryBound) adjust() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	live := int64(sample[0].Value.Uint64())
	want := max(memoryGoal, live+live/memoryMargin+13<<20)
	if d := want - b.limit; d < memoryStep && d > -memoryStep {
		return
	}
	b.limit = want
	debug.SetMemoryLimit(want)
}

// keepMemoryBound does so until stop is called.
func keepMemoryBound() (stop func()) {
	tick := time.NewTicker(memoryEvery)
	end := make(chan struct{})
	go func() {
		defer tick.Stop()
		var b memoryBound
		for {
			b.adjust()
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	}()
	return func() { close(end) }
}
