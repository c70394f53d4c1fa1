// Package lockcore takes, keeps and releases locks in Redis, and says plainly
// what such a lock can and cannot do.
//
//	l, err := lockcore.New(redisClient)
//	...
//	err = l.Do(ctx, "nightly-billing", func(ctx context.Context, lease *lockcore.Lease) error {
//		return bill(ctx) // ctx ends if the lock is lost
//	})
//
// # What is promised
//
// At most one holder at a time has a lock on one Redis server that keeps its
// data and its clock. A holder that dies loses it after the TTL, with no help
// from anybody. A holder that was told "acquired" has it; one that was told
// anything else has not, and leaves nothing behind: a request whose answer was
// lost is asked for again under the same token, or taken back. Nobody renews or
// releases a lock but the acquisition that took it.
//
// Each acquisition has a fencing number, the [Fence], larger than those of all
// acquisitions of that lock before it. It is drawn in the same step that takes
// the lock, and never read back from anywhere.
//
// # What no lock can promise
//
// A lock with an expiry can be lost at any moment, also between looking whether
// it is still held and the next line of code. The process may stand still for
// longer than the TTL (a garbage collection, a suspended machine, a debugger).
// The server's clock may be set forward. A failover may forget a lock that was
// just granted, because replicas follow a moment behind; [WithReplicas] makes
// that rarer and does not rule it out. The network may deliver a write long
// after its sender was overtaken. Then two holders are inside at once, each
// believing that it is alone, and no lock service whatever can prevent it: not
// with a longer TTL, not with renewals, not with a majority of servers.
//
// Where that only costs work done twice, a lock alone is good enough. Where it
// would cost data, the thing that is protected must take part.
//
// # How to be safe all the same
//
// Let the resource remember the largest fence that it has seen, and refuse
// smaller ones. Then a holder that was overtaken can still try to write, and
// fails. [Guard] does this for values in Redis, in one step with the write; for
// SQL it is one more condition of the UPDATE:
//
//	UPDATE account
//	   SET balance = $1, fence = $2, fence_token = $3
//	 WHERE id = $4 AND (fence < $2 OR (fence = $2 AND fence_token = $3))
//
// No row updated means: overtaken. Stop. An equal number passes only with the
// same token, because after a failover two servers may have given it.
//
// One gap is left by that rule alone: between a new holder's grant and its first
// write, an old holder's write still passes, and the new holder may already have
// read what it overwrites. So a holder writes its number before it reads:
// [Guard.Enter], or [Entering], which does it in the step of the acquisition.
//
// With this, no stale write is accepted after a newer holder has entered,
// whatever clocks, pauses and networks do, as long as the guard's own memory is
// not lost. Keep it with the data that it protects, not with the lock.
// What cannot compare numbers (an e-mail, a payment, a file) stays open, and
// needs a way of its own to be done twice without harm.
//
// # The lease
//
// A [Lease] is renewed in the background every third of the TTL. Its Context
// ends when it is lost, at a deadline that this side keeps by its own clocks,
// counted from the sending of the last successful request: earlier than the
// server, never later. A renewal that hangs does not put that off. Give the
// context to all that the work does, and use [Lease.Deadline] to see whether the
// next step still fits.
//
// Held and Suspect (the last renewal failed, the time runs) are alive; Lost and
// Released are ends. The context given to Acquire bounds the wait only; [BoundTo]
// ties the lease to one, as Do does to its own. [WithMaxHold] bounds the whole.
//
// # Waiting
//
// [Locker.Acquire] sends nothing while it waits. It hears of a release through a
// subscription, knows from the TTL when the lock of a dead holder expires, and
// asks again when its subscription was broken and is there again. Of one process
// only the first waiter of each lock asks; the others stand behind it, in order.
// Where the server allows no subscription the waiters poll, and the observer is
// told. Over several processes the first to ask wins; with [WithFair] the server
// keeps a queue.
//
// # What is in Redis
//
// All keys of a lock share a slot of a Cluster.
//
//	lock:{name}              the holder: token, fence, since, host, pid, label; expires
//	lock:{name}:fence        the last number given; does not expire
//	lock:{name}:dead:<token> a token that was given up; some seconds
//	lock:{name}:queue :alive the waiters of fair mode
//	lock:{name}:wake:<db>    the channel on which a release is told
//
// The user of the client needs EVALSHA, EVAL and the commands in the scripts on
// these keys, SUBSCRIBE on these channels and, for [Locker.Risks], INFO. The
// client's own retries do not matter: lockcore sends each of its commands once,
// and decides itself what an error means.
//
// There is no mode for several independent servers (Redlock). A majority of
// servers cannot draw one increasing number in one step, and without the number
// there is nothing for a guard to compare.
package lockcore
