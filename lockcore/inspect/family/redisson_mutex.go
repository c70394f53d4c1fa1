package family

import (
	"strconv"
	"time"

	"fencepost/lockcore/wire"
)

func redissonDecodeMutex(f *Facts) Reading {
	r := Reading{
		Label: "RLock", Kind: Mutex, State: Held, Weak: true, Note: redissonNote,
		Waiters: redissonSubscribers(f, redissonChannel),
	}
	for _, p := range f.Main.Pairs {
		if _, _, ok := redissonHolder(p.A); ok {
			n, _ := parseInt(p.B)
			r.Holders = append(r.Holders, redissonHolderOf(p.A, n))
		}
	}
	if len(r.Holders) == 0 { // claimed by a companion, but this hash is something else
		return Reading{NoRow: true}
	}
	if counter := f.Key(redissonName(redissonToken, f.Main.Key)); counter.Type == String {
		r.Label, r.FenceKey = "RFencedLock", counter.Key
		if isDigits(counter.Value) {
			r.Fence = counter.Value
		}
		r.have(f, counter.Key)
	}
	redissonFair(f, &r)
	return r
}

// redissonSubscribers counts who waits on a channel: one for each instance of
// Redisson, however many of its threads wait. Nil where it is not known.
func redissonSubscribers(f *Facts, prefix string) *Waiters {
	n, ok := f.Subs[redissonName(prefix, f.Main.Key)]
	if !ok {
		return nil
	}
	return &Waiters{Count: n, How: "pubsub"}
}

// redissonFair adds the queue of a fair lock, in order. A waiter whose time is
// over is dropped by the next one who asks, and blocks the others until then.
func redissonFair(f *Facts, r *Reading) {
	queue, times := f.Key(redissonName(redissonQueue, f.Main.Key)), f.Key(redissonName(redissonTimeout, f.Main.Key))
	if queue.Type != List && times.Type != ZSet {
		return
	}
	r.Label = "RFairLock"
	r.Waiters = &Waiters{Count: queue.Len, How: "queue"}
	for _, p := range queue.Pairs {
		r.Waiters.IDs = append(r.Waiters.IDs, wire.Raw(p.A))
	}
	r.have(f, queue.Key, times.Key)
	if len(queue.Pairs) == 0 {
		return
	}
	head := queue.Pairs[0].A
	score, ok := times.Get(head)
	if deadline, isTime := epochMS(score); ok && isTime && deadline <= f.NowMS() {
		r.warn(Overdue, "the first waiter's time was over "+ago(f.NowMS()-deadline)+" ago: it blocks the queue until somebody drops it")
	} else if !ok && times.Whole {
		r.warn(Overdue, "the first waiter has no deadline: nothing drops it from the queue")
	}
}

// redissonDecodeOrphan is a lock of which only companions are left. A queue
// still blocks whoever comes; a fence counter or a latch is no lock.
func redissonDecodeOrphan(f *Facts) Reading {
	switch twin := f.Key("{" + f.Main.Key + "}").Type; {
	case twin == Hash:
		return Reading{NoRow: true} // the companions belong to that one
	case f.Key(redissonPermits(f.Main.Key)).Type != ZSet:
	case twin == String, redissonLockOf(f.Main.Key) != f.Main.Key:
		return Reading{NoRow: true} // the permits are those of the one whose number is there
	default:
		return redissonDecodePermits(f)
	}
	r := Reading{Kind: Mutex, State: Free}
	redissonFair(f, &r)
	if len(r.Companions) == 0 {
		return Reading{NoRow: true}
	}
	r.TTLKey = r.Companions[0]
	return r
}

// ago says how long a time in milliseconds is, to the second.
func ago(ms int64) string {
	if ms < second {
		return strconv.FormatInt(ms, 10) + " ms"
	}
	switch {
	case ms >= 100*year:
		return "over 100 years"
	case ms >= 2*year:
		return strconv.FormatInt(ms/year, 10) + " years"
	case ms >= 2*day:
		return strconv.FormatInt(ms/day, 10) + " days"
	}
	return (time.Duration(ms) * time.Millisecond).Truncate(time.Second).String()
}
