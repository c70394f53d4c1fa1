package wire

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
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

	scriptReleaseString  = NewScript("release_string", releaseHead+releaseString)
	scriptReleaseHash    = NewScript("release_hash", releaseHead+releaseHash)
	scriptReleaseMembers = NewScript("release_members", releaseHead+releaseMembers)
	scriptReleaseFair    = NewScript("release_fair", releaseHead+releaseFair)
	scriptReleasePermit  = NewScript("release_permit", releaseHead+releasePermit)
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

func (r Release) call(s *Script, keys []string, args ...string) Call {
	orLock := func(k string) string {
		if k == "" {
			return r.Lock
		}
		return k
	}
	list, channel := "", r.Wake.Target
	if r.Wake.Verb == WakePush || r.Wake.Verb == WakeReset {
		list, channel = r.Wake.Target, ""
	}
	head := []string{
		guardArg(r.Guard.DeadlineMS), r.Guard.Fence,
		string(r.Wake.Verb), channel, r.Wake.Message,
		lifeArg(r.Wake.LifeMS), receiptArg(r.Receipt),
	}
	if r.Guard.FenceKey == "" {
		head[1] = ""
	}
	all := append([]string{r.Lock, orLock(r.Guard.FenceKey), orLock(list), orLock(r.Receipt.Key)}, keys...)
	return s.Call(all, append(head, args...)...)
}

func guardArg(ms int64) string {
	if ms == GuardNone {
		return ""
	}
	return strconv.FormatInt(ms, 10)
}

func lifeArg(ms int64) string {
	if ms <= 0 {
		return ""
	}
	return strconv.FormatInt(ms, 10)
}

func receiptArg(r Receipt) string {
	if r.Key == "" {
		return ""
	}
	return lifeArg(r.LifeMS)
}

// String releases a lock that is a string with this value. same are further
// keys of the lock, deleted where they hold the same value.
func (r Release) String(value string, same ...string) Call {
	return r.call(scriptReleaseString, same, value, "same")
}

// StringWith is String for a lock with companions that go with it whatever
// they hold: an expiry key, an index.
func (r Release) StringWith(value string, companions ...string) Call {
	return r.call(scriptReleaseString, companions, value, "any")
}

// Field is a field of a hash that must still be there; Value is compared where
// Exact is set.
type Field struct {
	Name, Value string
	Exact       bool
}

// HashKey deletes the hash if all these fields are there and no others than
// size in all (0: any number), and companions with it.
func (r Release) HashKey(size int, fields []Field, companions ...string) Call {
	return r.call(scriptReleaseHash, companions, hashArgs("DEL", size, fields)...)
}

// HashFields deletes these fields if all of them are there, and the fields
// named in also; the hash and its other fields stay.
func (r Release) HashFields(fields []Field, also ...string) Call {
	return r.call(scriptReleaseHash, nil, append(hashArgs("HDEL", 0, fields), also...)...)
}

func hashArgs(action string, size int, fields []Field) []string {
	args := []string{action, sizeArg(size), strconv.Itoa(len(fields))}
	for _, f := range fields {
		how := "?"
		if f.Exact {
			how = "="
		}
		args = append(args, f.Name, how, f.Value)
	}
	return args
}

func sizeArg(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Members removes members of a sorted set or a set.
type Members struct {
	Set       bool     // a plain set
	Seen      []string // all must be there
	Also      []string // removed with them: a write marker
	Size      int      // members the key must have in all; 0 any number
	Deadlines bool     // scores are deadlines: the key expires with the last one left
	In        []string // further keys that hold the same members
}

// Members releases the holders that are these members.
func (r Release) Members(m Members) Call {
	verb, deadlines := "ZREM", ""
	if m.Set {
		verb = "SREM"
	}
	if m.Deadlines {
		deadlines = "deadlines"
	}
	args := []string{verb, sizeArg(m.Size), deadlines, strconv.Itoa(len(m.Seen))}
	args = append(args, m.Seen...)
	return r.call(scriptReleaseMembers, m.In, append(args, m.Also...)...)
}

// Fair releases a Redisson fair lock held by the field holder; the waiter that
// is first in queue is told on channelPrefix followed by its own name.
// Wake.Verb and Wake.Message are used, Wake.Target is not.
func (r Release) Fair(holder, queue, deadlines, channelPrefix string) Call {
	return r.call(scriptReleaseFair, []string{queue, deadlines}, holder, channelPrefix)
}

// Permit takes an entry out of Lock and gives one permit back to the number at
// free; the new number is the message. hash: the entry is a hash field.
func (r Release) Permit(entry, free string, hash bool) Call {
	return r.call(scriptReleasePermit, []string{free}, permitVerb(hash), entry, "INCRBY", "1")
}

// PermitBack takes an entry out of Lock and pushes it back onto the list free.
func (r Release) PermitBack(entry, free string, hash bool) Call {
	return r.call(scriptReleasePermit, []string{free}, permitVerb(hash), entry, "LPUSH", entry)
}

func permitVerb(hash bool) string {
	if hash {
		return "HDEL"
	}
	return "ZREM"
}

// ReleaseStatus is what became of a release.
type ReleaseStatus int

// The answers of the release scripts.
const (
	ReleaseDone    ReleaseStatus = 1
	ReleaseChanged ReleaseStatus = 0
	ReleaseGone    ReleaseStatus = -1
)

// ReleaseReply is the answer of every release script.
type ReleaseReply struct {
	Status ReleaseStatus
	Now    Raw   // what is there instead, when changed
	Told   int64 // receivers of the wake-up, elements in the list; ToldNobody, ToldFailed
	// Err is why the waiters could not be told; the lock is gone all the same.
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
	return ReleaseReply{ReleaseStatus(status), Raw(now), told, text}, nil
}
