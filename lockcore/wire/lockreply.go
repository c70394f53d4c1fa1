package wire

import "fmt"

// AcquireStatus is what became of a request for the lock.
type AcquireStatus int

// Granted: the lock is the token's, with the fence in the reply. Occupied: it
// is somebody's, or free and kept for another waiter. Forbidden: the token was
// given up before, nothing was changed. Behind: the guard that was to be entered
// has seen a number that is not smaller, so the counter was lost; nothing is held.
const (
	Granted   AcquireStatus = 1
	Occupied  AcquireStatus = 0
	Forbidden AcquireStatus = -1
	Behind    AcquireStatus = -2
)

// AcquireReply is the answer to an Acquire.
type AcquireReply struct {
	Status AcquireStatus
	Fence  string // Granted: the number; Behind: the highest the guard has seen
	Holder Raw    // Occupied: the lock's value; "" when free but kept for another
	// WaitMS, when Occupied, is the TTL of the lock, or how long it is kept for
	// another waiter; -1 when the lock has no TTL.
	WaitMS int64
	Place  int64 // fair, Occupied: waiters ahead; -1 not in the queue
}

// ParseAcquire reads the answer to an Acquire.
func ParseAcquire(reply any) (AcquireReply, error) {
	if fence, ok := reply.(string); ok && ValidFence(fence) {
		return AcquireReply{Status: Granted, Fence: fence}, nil
	}
	parts, _ := reply.([]any)
	out := AcquireReply{Place: -1}
	status, ok := at[int64](parts, 0)
	out.Status = AcquireStatus(status)
	switch {
	case ok && out.Status == Forbidden && len(parts) == 1:
		return out, nil
	case ok && out.Status == Behind && len(parts) == 2:
		if out.Fence, ok = at[string](parts, 1); ok && ValidFence(out.Fence) {
			return out, nil
		}
	case ok && out.Status == Occupied && (len(parts) == 3 || len(parts) == 4):
		holder, ok1 := at[string](parts, 1)
		wait, ok2 := at[int64](parts, 2)
		if len(parts) == 4 {
			out.Place, ok = at[int64](parts, 3)
		}
		out.Holder, out.WaitMS = Raw(holder), wait
		if ok && ok1 && ok2 {
			return out, nil
		}
	}
	return AcquireReply{}, unexpected("acquire", reply)
}

// OwnedStatus is what became of a call that only the holder may make.
type OwnedStatus int

// Done: it held, and it is done. NotYours: somebody else holds the lock. NoLock:
// nobody does.
const (
	Done     OwnedStatus = 1
	NotYours OwnedStatus = 0
	NoLock   OwnedStatus = -1
)

// OwnedReply is the answer to Renew, Unlock and UnlockFair.
type OwnedReply struct {
	Status OwnedStatus
	Holder Raw // NotYours: the lock's value; "" where the answer is a repeated one
}

// ParseOwned reads the answer to Renew, Unlock and UnlockFair.
func ParseOwned(reply any) (OwnedReply, error) {
	if n, ok := reply.(int64); ok && n >= -1 && n <= 1 {
		return OwnedReply{Status: OwnedStatus(n)}, nil
	}
	parts, _ := reply.([]any)
	status, ok1 := at[int64](parts, 0)
	holder, ok2 := at[string](parts, 1)
	if ok1 && ok2 && status == 0 && len(parts) == 2 {
		return OwnedReply{Status: NotYours, Holder: Raw(holder)}, nil
	}
	return OwnedReply{}, unexpected("renew or unlock", reply)
}

// GuardStatus is what a guard said.
type GuardStatus int

// Accepted: the number is the highest seen. Stale: a larger one was seen. Split:
// another token brought the same number, so two servers gave it.
const (
	Accepted GuardStatus = 1
	Stale    GuardStatus = 0
	Split    GuardStatus = -1
)

// GuardReply is the answer of a guard.
type GuardReply struct {
	Status GuardStatus
	Seen   string // Stale and Split: the highest number seen
	Result any    // Accepted, of a body of one's own: what it returned
}

// ParseGuard reads the answer of a guard.
func ParseGuard(reply any) (GuardReply, error) {
	if n, ok := reply.(int64); ok && n == int64(Accepted) {
		return GuardReply{Status: Accepted}, nil
	}
	parts, _ := reply.([]any)
	status, ok := at[int64](parts, 0)
	switch {
	case ok && status == int64(Accepted):
		out := GuardReply{Status: Accepted}
		if len(parts) > 1 {
			out.Result = parts[1]
		}
		return out, nil
	case ok && (status == int64(Stale) || status == int64(Split)):
		if seen, ok := at[string](parts, 1); ok && ValidFence(seen) {
			return GuardReply{Status: GuardStatus(status), Seen: seen}, nil
		}
	}
	return GuardReply{}, unexpected("guard", reply)
}

// ForceReply is the answer to ForceRelease.
type ForceReply struct {
	ReleaseReply
	Raised string // ReleaseDone: the fence is this now; "" where the answer is a repeated one
}

// ParseForceRelease reads the answer to ForceRelease.
func ParseForceRelease(reply any) (ForceReply, error) {
	r, err := ParseRelease(reply)
	out := ForceReply{ReleaseReply: r}
	if err == nil && r.Status == ReleaseDone {
		out.Raised, out.Now = string(r.Now), ""
	}
	return out, err
}

func at[T any](parts []any, i int) (v T, ok bool) {
	if i < len(parts) {
		v, ok = parts[i].(T)
	}
	return v, ok
}

func unexpected(what string, reply any) error {
	return fmt.Errorf("wire: %s answered %T of a form that is not its own", what, reply)
}
