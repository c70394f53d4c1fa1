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
	memoryMargin = 4         // the limit is a quarter above what lives, at least
)

// boundMemory sets the limit by what lives now; it is to be called every second
// or so.
func boundMemory() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	live := int64(sample[0].Value.Uint64())
	debug.SetMemoryLimit(max(memoryGoal, live+live/memoryMargin+16<<20))
}

// keepMemoryBound does so until stop is called.
func keepMemoryBound() (stop func()) {
	tick := time.NewTicker(time.Second)
	end := make(chan struct{})
	go func() {
		defer tick.Stop()
		for {
			boundMemory()
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	}()
	return func() { close(end) }
}
