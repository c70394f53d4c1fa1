package wire

import (
	_ "embed"
	"strconv"
	"time"
)

// The scripts of lockcore's own lock. Those that grant share lock_head.lua,
// those that know the fair queue share queue_head.lua besides.
var (
	//go:embed scripts/lock_head.lua
	lockHead string
	//go:embed scripts/queue_head.lua
	queueHead string
	//go:embed scripts/lock_acquire.lua
	lockAcquire string
	//go:embed scripts/lock_acquire_more.lua
	lockAcquireMore string
	//go:embed scripts/lock_renew.lua
	lockRenew string
	//go:embed scripts/lock_unlock.lua
	lockUnlock string
	//go:embed scripts/lock_unlock_fair.lua
	lockUnlockFair string
	//go:embed scripts/lock_force.lua
	lockForce string

	scriptAcquire     = NewScript("lock_acquire", lockHead+lockAcquire)
	scriptAcquireMore = NewScript("lock_acquire_more", lockHead+queueHead+lockAcquireMore)
	scriptRenew       = NewScript("lock_renew", lockRenew)
	scriptUnlock      = NewScript("lock_unlock", lockUnlock)
	scriptUnlockFair  = NewScript("lock_unlock_fair", queueHead+lockUnlockFair)
	scriptForce       = releaseScript("lock_force", queueHead+lockForce)
)

// Acquire is a request for the lock. Sent again with the same token it is
// granted once, and answered alike.
type Acquire struct {
	Keys  Keys
	Token string // names this one acquisition; never used twice
	TTLMS int64  // at least 1
	About string // About.String of the holder
	// Since, if not zero, is the holder's own time, for people who read the
	// value. The script adds the server's.
	Since time.Time
	// Floor, if not "", is a number that the fence must exceed: the repair of a
	// counter that was lost.
	Floor string
	// CounterLifeMS lets the counter expire that long after the last grant; 0
	// never. A counter that expires begins again at 1, unless Clock is set.
	CounterLifeMS int64
	// Clock makes the number at least the server's time in microseconds, so
	// that it goes on growing where the counter was lost.
	Clock bool
	// Guard, if not "", is a guard's key (see Enter) in the same slot: it is
	// entered in the same step.
	Guard string
	// Fair, if not nil, respects the fair queue.
	Fair *Fair
}

// Fair is what the fair queue needs to know.
type Fair struct {
	WindowMS int64  // how long the one whose turn it is may take to come
	Channel  string // Keys.Channel
	Wait     bool   // take a place in the queue when the lock is not to be had
}

// Call is the request as a script. ParseAcquire reads its answer.
func (a Acquire) Call() Call {
	keys := []string{a.Keys.Lock, a.Keys.Counter, a.Keys.Tombstone(a.Token)}
	about := a.About
	if !a.Since.IsZero() {
		about = AboutSince(a.Since, about)
	}
	args := []string{a.Token, strconv.FormatInt(a.TTLMS, 10), about}
	if a.Floor == "" && a.CounterLifeMS == 0 && !a.Clock && a.Guard == "" && a.Fair == nil {
		return scriptAcquire.Call(keys, args...)
	}
	// A key that is not used stands there as the lock's own name: a Cluster
	// wants all keys in one slot.
	queue, alive, guard := a.Keys.Lock, a.Keys.Lock, a.Keys.Lock
	clock, channel, window, mode := "", "", "", ""
	if a.Clock {
		clock = "clock"
	}
	if a.Guard != "" {
		guard = a.Guard
	}
	if a.Fair != nil {
		queue, alive, mode = a.Keys.Queue, a.Keys.Alive, "try"
		channel, window = a.Fair.Channel, strconv.FormatInt(a.Fair.WindowMS, 10)
		if a.Fair.Wait {
			mode = "queue"
		}
	}
	return scriptAcquireMore.Call(append(keys, queue, alive, guard),
		append(args, a.Floor, lifeArg(a.CounterLifeMS), clock, channel, window, mode)...)
}

// Renew sets the lock's TTL if token holds it. ParseOwned reads the answer.
func Renew(k Keys, token string, ttlMS int64) Call {
	return scriptRenew.Call([]string{k.Lock}, token, strconv.FormatInt(ttlMS, 10))
}

// Unlock releases the lock if token holds it, forbids the token for deadMS
// milliseconds, and tells the waiters. It is also how a request with an unknown
// outcome is taken back. ParseOwned reads the answer.
func Unlock(k Keys, token string, deadMS int64, channel string) Call {
	return scriptUnlock.Call([]string{k.Lock, k.Tombstone(token)}, token, strconv.FormatInt(deadMS, 10), channel)
}

// UnlockFair is Unlock, leaves the fair queue, and calls its first waiter.
// ParseOwned reads the answer.
func UnlockFair(k Keys, token string, deadMS int64, f Fair) Call {
	return scriptUnlockFair.Call([]string{k.Lock, k.Tombstone(token), k.Queue, k.Alive},
		token, strconv.FormatInt(deadMS, 10), f.Channel, strconv.FormatInt(f.WindowMS, 10))
}

// ForceRelease ends lockcore's own lock for the holder that was seen, raises the
// fencing number, and the guards, so that the evicted holder is refused from
// then on, and tells whoever waits. All guards are in the lock's slot.
// ParseForceRelease reads the answer; so does ParseRelease.
func (r Release) ForceRelease(k Keys, seen Value, f Fair, deadMS int64, guards ...string) Call {
	r.Lock = k.Lock
	r.Wake = Wake{Verb: WakePublish, Target: f.Channel, Message: MessageFree}
	call := r.call(scriptForce, append([]string{k.Tombstone(seen.Token), k.Queue, k.Alive}, guards...),
		seen.Token, seen.Fence, strconv.FormatInt(deadMS, 10), strconv.FormatInt(f.WindowMS, 10))
	call.Keys[1] = k.Counter
	return call
}

// The messages on a lock's channel. MessageFree wakes everybody; the others
// name a token after the colon.
const (
	MessageFree  = "free"
	MessageNext  = "next:"  // the lock is free for this waiter
	MessageTaken = "taken:" // the waiter whose turn it was has come
)
