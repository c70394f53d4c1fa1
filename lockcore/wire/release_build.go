package wire

import "strconv"

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

// FairQueue cleans the queue of a Redisson fair lock that nobody holds: waiters
// at its head whose time is over are dropped, and the one that is first then is
// told as by Fair.
func (r Release) FairQueue(queue, deadlines, channelPrefix string) Call {
	return r.call(scriptReleaseQueue, []string{queue, deadlines}, channelPrefix)
}

// StringQueued is StringWith for a lock whose holder also stands, by its value,
// in a sorted set of all who want it.
func (r Release) StringQueued(value, queue string, companions ...string) Call {
	return r.call(scriptReleaseQueued, append([]string{queue}, companions...), value)
}

// Share takes a holder's field, which counts its permits, out of the hash Lock
// if it still counts n, and takes as many off the counter of all of them.
func (r Release) Share(holder string, n int64, counter string) Call {
	return r.call(scriptReleaseShare, []string{counter}, holder, strconv.FormatInt(n, 10))
}

// Reset releases a lock that is the field owner of a hash, holding value: the
// field is removed, and the field until set to zero, which is how the hash says
// that nobody has it.
func (r Release) Reset(owner, value, until, zero string) Call {
	return r.call(scriptReleaseReset, nil, owner, value, until, zero)
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
