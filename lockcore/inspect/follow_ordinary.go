package inspect

import (
	"sync"
	"time"
)

// ordinaryKeys remembers keys that were looked at and are no locks, so that they
// are not read again and again. It is bounded, and forgets after a while: an
// ordinary key may become a lock.
type ordinaryKeys struct {
	mu    sync.Mutex
	keys  keySet
	since time.Time
}

// ordinaryFor is how long a key is taken for ordinary at most.
const ordinaryFor = 10 * time.Minute

func (o *ordinaryKeys) add(key string) {
	o.mu.Lock()
	o.keys.add(key)
	o.mu.Unlock()
}

func (o *ordinaryKeys) has(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.keys.has(key)
}

func (o *ordinaryKeys) forget() {
	o.mu.Lock()
	o.keys, o.since = keySet{}, time.Now()
	o.mu.Unlock()
}

// tidy forgets what is old.
func (o *ordinaryKeys) tidy(now time.Time) {
	o.mu.Lock()
	old := now.Sub(o.since) > ordinaryFor
	o.mu.Unlock()
	if old {
		o.forget()
	}
}
