package wire

import (
	_ "embed"
	"errors"
	"fmt"
)

// The release scripts end a lock that another library took. Each compares what
// the operator saw and acts in one step, wakes whoever waits, and answers in
// one form, ReleaseReply. They share scripts/release_head.lua.
var (
	//go:embed scripts/release_head.lua
	releaseHead string
	//go:embed scripts/release_string.lua
	releaseString string
	//go:embed scripts/release_hash.lua
	releaseHash string
	//go:embed scripts/release_members.lua
	releaseMembers string
	//go:embed scripts/release_fair.lua
	releaseFair string
	//go:embed scripts/release_permit.lua
	releasePermit string
	//go:embed scripts/release_queue.lua
	releaseQueue string
	//go:embed scripts/release_queued.lua
	releaseQueued string
	//go:embed scripts/release_share.lua
	releaseShare string
	//go:embed scripts/release_reset.lua
	releaseReset string

	scriptReleaseString  = releaseScript("release_string", releaseString)
	scriptReleaseHash    = releaseScript("release_hash", releaseHash)
	scriptReleaseMembers = releaseScript("release_members", releaseMembers)
	scriptReleaseFair    = releaseScript("release_fair", releaseFair)
	scriptReleasePermit  = releaseScript("release_permit", releasePermit)
	scriptReleaseQueue   = releaseScript("release_queue", releaseQueue)
	scriptReleaseQueued  = releaseScript("release_queued", releaseQueued)
	scriptReleaseShare   = releaseScript("release_share", releaseShare)
	scriptReleaseReset   = releaseScript("release_reset", releaseReset)
)

// Guard is compared besides the holder, where the holder's id does not identify
// one acquisition: a constant, a host, a thread that is used again.
type Guard struct {
	// DeadlineMS is the deadline seen, by the server's clock, in milliseconds
	// since 1970. The lock's deadline may not be later by more than a second.
	// GuardNone: not compared. GuardNoTTL: the lock had no TTL, and must have none.
	DeadlineMS int64
	// FenceKey is the fence's counter and Fence its value seen; "" not compared.
	FenceKey, Fence string
}

// The values of Guard.DeadlineMS that are no deadlines.
const (
	GuardNone  int64 = 0
	GuardNoTTL int64 = -1
)

// Wake is how a library's waiters learn that a lock is free. The zero Wake
// tells nobody.
type Wake struct {
	Verb    WakeVerb
	Target  string // the channel, or the list's key
	Message string
	LifeMS  int64 // of the list; 0 for ever
}

// WakeVerb is the command that wakes.
type WakeVerb string

// WakeBoth publishes plainly and sharded. WakeReset empties the list first, so
// that exactly one element is there.
const (
	WakeNobody   WakeVerb = ""
	WakePublish  WakeVerb = "PUBLISH"
	WakeSPublish WakeVerb = "SPUBLISH"
	WakeBoth     WakeVerb = "BOTH"
	WakePush     WakeVerb = "LPUSH"
	WakeReset    WakeVerb = "RESET"
)

// Release is what the release scripts have in common.
type Release struct {
	Lock    string
	Guard   Guard
	Wake    Wake
	Receipt Receipt
}

// Receipt is the key that a release leaves to prove what it did; "" for none.
type Receipt struct {
	Key    string
	LifeMS int64
}

// ReleaseStatus is what became of a release.
type ReleaseStatus int

// The answers of the release scripts. Half: the first change was made, and then
// the server refused the next (only servers before 7.0 cannot tell beforehand).
// Off: the call came late, and had been called off (see CallOff).
const (
	ReleaseDone    ReleaseStatus = 1
	ReleaseChanged ReleaseStatus = 0
	ReleaseGone    ReleaseStatus = -1
	ReleaseHalf    ReleaseStatus = 2
	ReleaseOff     ReleaseStatus = 3
)

// Why says in what way a lock is not what was seen.
type Why string

// Another holder; other holders beside those seen; a key of another type; the
// same holder with another fence, or with a later deadline.
const (
	WhyHolder   Why = "holder"
	WhyOthers   Why = "others"
	WhyType     Why = "type"
	WhyFence    Why = "fence"
	WhyDeadline Why = "deadline"
)

// ReleaseReply is the answer of every release script.
type ReleaseReply struct {
	Status ReleaseStatus
	Now    Raw   // what is there instead, when changed; may be empty
	Why    Why   // when changed; may be empty
	Told   int64 // receivers of the wake-up, elements in the list; ToldNobody, ToldFailed
	// Err is why the waiters could not be told, though the lock is gone all the
	// same; of a half-done release, what the server refused.
	Err string
}

// The values of ReleaseReply.Told that are no counts.
const (
	ToldFailed int64 = -1 // the server refused the wake-up
	ToldNobody int64 = -2 // there was nobody to tell
)

// ParseRelease reads the answer of a release script.
func ParseRelease(reply any) (ReleaseReply, error) {
	parts, ok := reply.([]any)
	if !ok || len(parts) != 4 {
		return ReleaseReply{}, fmt.Errorf("wire: release answered %T, not four values", reply)
	}
	status, ok1 := parts[0].(int64)
	now, ok2 := parts[1].(string)
	told, ok3 := parts[2].(int64)
	text, ok4 := parts[3].(string)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return ReleaseReply{}, errors.New("wire: release answered values of unknown types")
	}
	r := ReleaseReply{Status: ReleaseStatus(status), Now: Raw(now), Told: told, Err: text}
	if r.Status == ReleaseChanged {
		r.Why, r.Err = Why(text), ""
	}
	return r, nil
}
