package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// Redisson: one hash for a lock, its fields named "<instance uuid>:<thread>",
// its companions named after the lock by redissonName. Source: redisson
// RedissonLock, RedissonFencedLock, RedissonFairLock, RedissonReadLock,
// RedissonWriteLock, RedissonFasterMultiLock, RedissonSemaphore,
// RedissonPermitExpirableSemaphore, RedissonCountDownLatch.
func redisson() *Family {
	return &Family{
		ID:    "redisson",
		Label: "Redisson",
		Types: []Type{Hash, String, List, ZSet},
		Looks: "a hash with fields of the form <uuid>:<thread id>, or redisson_lock_queue:, redisson_lock_timeout:, " +
			"redisson_lock_token:, redisson_unlock_latch:, …:rwlock_timeout:<n> or <name>:timeout beside one",
		Marks:       []string{"redisson_", redissonHold, "}:timeout"},
		Named:       redissonNamed,
		Part:        redissonPart,
		Match:       redissonMatch,
		Channels:    []string{"redisson_*"},
		FromChannel: redissonFromChannel,
		Reads:       redissonReads,
		Decode:      redissonDecode,
		Release:     redissonRelease,
	}
}

// The names of the companions and channels.
const (
	redissonToken   = "redisson_lock_token"
	redissonQueue   = "redisson_lock_queue"
	redissonTimeout = "redisson_lock_timeout"
	redissonUnlatch = "redisson_unlock_latch"
	redissonChannel = "redisson_lock__channel"
	redissonRWChan  = "redisson_rwlock"
	redissonSemChan = "redisson_sc"
	redissonCDLChan = "redisson_countdownlatch__channel__"
	redissonHold    = ":rwlock_timeout:"
)

// redissonName is the name of a companion: braces keep it in the lock's slot,
// unless the lock's own name has some (RedissonObject.prefixName).
func redissonName(prefix, lock string) string {
	if strings.Contains(lock, "{") {
		return prefix + ":" + lock
	}
	return prefix + ":{" + lock + "}"
}

// redissonSuffix is the name of a companion whose own part comes last
// (RedissonObject.suffixName).
func redissonSuffix(lock, suffix string) string {
	if strings.Contains(lock, "{") {
		return lock + ":" + suffix
	}
	return "{" + lock + "}:" + suffix
}

// redissonLockOf takes the lock's name out of what stands in a companion's name
// where the lock's does. "{x}" is the lock x; a lock that is itself named {x}
// has the same companions, which redissonReads looks into.
func redissonLockOf(named string) string {
	if n := len(named); n > 2 && named[0] == '{' && named[n-1] == '}' && strings.LastIndexByte(named, '{') == 0 {
		return named[1 : n-1]
	}
	return named
}

// redissonTwin is the other lock that has the same companions: {x} for x, x for
// {x}; "" where there is none such.
func redissonTwin(lock string) string {
	if named := redissonLockOf(lock); named != lock {
		return named
	}
	if lock == "" || strings.Contains(lock, "{") {
		return ""
	}
	return "{" + lock + "}"
}

// redissonCounter claims the counter that a semaphore's companion or channel
// belongs to. It is a plain number, so that only reading tells which of two it is.
func redissonCounter(named string, c Confidence, why string) []Claim {
	lock := redissonLockOf(named)
	claims := partOf(lock, c, why)
	if lock != named {
		claims = append(claims, partOf(named, c, why)...)
	}
	return claims
}

// redissonHolder reports whether a field names a holder, and whether as a
// writer. The thread is a JVM thread id, or any number with the async API.
func redissonHolder(field string) (id string, write, ok bool) {
	id, write = strings.CutSuffix(field, ":write")
	return id, write, len(id) > 37 && id[36] == ':' && isInt(id[37:]) && isUUID(id[:36])
}

func redissonNamed(key string) bool {
	return strings.HasPrefix(key, "redisson_") || strings.Contains(key, redissonHold) ||
		strings.HasSuffix(key, "}:timeout")
}

// redissonPart knows the companions of locks. What ends with :timeout may be
// anything.
func redissonPart(key string) bool {
	if at := strings.LastIndex(key, redissonHold); at > 0 {
		return isDigits(key[at+len(redissonHold):])
	}
	for _, prefix := range [...]string{redissonToken, redissonQueue, redissonTimeout, redissonUnlatch} {
		if strings.HasPrefix(key, prefix+":") {
			return true
		}
	}
	return false
}

func redissonMatch(s *Sample) []Claim {
	switch s.Type {
	case Hash:
		return redissonMatchHash(s)
	case ZSet:
		if named, ok := strings.CutPrefix(s.Key, redissonTimeout+":"); ok {
			return partOf(redissonLockOf(named), Certain, "the deadlines of a fair lock's waiters")
		}
		return redissonMatchPermits(s)
	case List:
		if named, ok := strings.CutPrefix(s.Key, redissonQueue+":"); ok {
			return partOf(redissonLockOf(named), Certain, "the queue of a fair lock")
		}
	case String:
		return redissonMatchString(s)
	}
	return nil
}

// redissonMatchString claims the companions that are strings.
func redissonMatchString(s *Sample) []Claim {
	if named, ok := strings.CutPrefix(s.Key, redissonToken+":"); ok {
		return partOf(redissonLockOf(named), Certain, "the fence counter of a fenced lock")
	}
	if named, ok := strings.CutPrefix(s.Key, redissonUnlatch+":"); ok {
		if at := strings.LastIndexByte(named, ':'); at > 0 && isHex(named[at+1:], 32) {
			return partOf(redissonLockOf(named[:at]), Certain, "the receipt of an unlock under way")
		}
		return nil
	}
	at := strings.LastIndex(s.Key, redissonHold)
	if at < 0 || !isDigits(s.Key[at+len(redissonHold):]) {
		return nil
	}
	// <lock>:<uuid>:<thread>:rwlock_timeout:<n>
	head := s.Key[:at]
	thread := strings.LastIndexByte(head, ':')
	if thread < 38 || head[thread-37] != ':' || !isUUID(head[thread-36:thread]) || !isInt(head[thread+1:]) {
		return nil
	}
	return partOf(redissonLockOf(head[:thread-37]), Certain, "the timeout of one hold of a read lock")
}

// redissonMatchHash tells the hashes apart: mutex, read/write, many items.
func redissonMatchHash(s *Sample) []Claim {
	var holders, items, other int
	mode := false
	for _, p := range s.Pairs {
		if _, _, ok := redissonHolder(p.A); ok {
			if n, isNum := parseInt(p.B); !isNum || n < 1 {
				return nil
			}
			holders++
			continue
		}
		switch {
		case p.A == "mode" && (p.B == "read" || p.B == "write"):
			mode = true
		case redissonItemField(p.A):
			items++
		default:
			other++
		}
	}
	switch {
	case holders > 0 && mode && other == 0:
		return sure("fields <uuid>:<thread> and mode: a read/write lock")
	case holders == 1 && other == 0 && items == 0:
		return sure("one field <uuid>:<thread> with a hold count: a lock")
	case holders > 1 && other == 0 && items == 0:
		return likely("fields <uuid>:<thread>, though only a read/write lock has several")
	case items > 0 && holders == 0:
		return sure("fields <item>:<uuid>:<thread>:expire_time: a lock on many items")
	}
	return nil
}

// redissonFromChannel tells which lock a channel with subscribers belongs to.
// Semaphores and latches are plain counters: only this shows them.
func redissonFromChannel(ch string) []Claim {
	switch prefix, named, _ := strings.Cut(ch, ":"); prefix {
	case redissonSemChan:
		return redissonCounter(named, Certain, "somebody waits for a semaphore of this name")
	case redissonChannel:
		// A fair lock's waiters have channels of their own: <lock>:<uuid>:<thread>.
		if at := strings.LastIndexByte(named, ':'); at > 37 && named[at-37] == ':' && isUUID(named[at-36:at]) && isInt(named[at+1:]) {
			named = named[:at-37]
		}
		return partOf(redissonLockOf(named), Certain, "somebody waits for a lock of this name")
	case redissonRWChan:
		return partOf(redissonLockOf(named), Certain, "somebody waits for a read/write lock of this name")
	}
	if named, ok := strings.CutPrefix(ch, redissonCDLChan); ok && strings.HasPrefix(named, "{") && strings.HasSuffix(named, "}") {
		return partOf(named[1:len(named)-1], Certain, "somebody waits for a latch of this name")
	}
	return nil
}

// mostHolds bounds the per-hold timeouts that are read of one read/write lock.
const mostHolds = 64

func redissonReads(c Claim, main *Sample) Reads {
	lock := main.Key
	switch main.Type {
	case Hash:
		r := Reads{Channels: []string{redissonName(redissonChannel, lock), redissonName(redissonRWChan, lock)}}
		if _, rw := main.Get("mode"); rw {
			r.Keys = redissonHoldKeys(main)
			return r
		}
		r.Keys = []string{redissonName(redissonToken, lock), redissonName(redissonQueue, lock), redissonName(redissonTimeout, lock)}
		return r
	case String:
		r := Reads{
			Keys:     []string{redissonPermits(lock)},
			Channels: []string{redissonName(redissonSemChan, lock), redissonCDLChan + "{" + lock + "}"},
		}
		if twin := redissonTwin(lock); twin != "" {
			r.Keys = append(r.Keys, twin)
		}
		return r
	default:
		r := Reads{
			Keys: []string{redissonName(redissonQueue, lock), redissonName(redissonTimeout, lock), redissonPermits(lock)},
			Channels: []string{redissonName(redissonChannel, lock), redissonName(redissonRWChan, lock),
				redissonName(redissonSemChan, lock)},
		}
		if !strings.Contains(lock, "{") {
			r.Keys = append(r.Keys, "{"+lock+"}") // the companions may be this lock's
		}
		return r
	}
}

func redissonDecode(f *Facts) Reading {
	switch {
	case f.Main.Type == None:
		return redissonDecodeOrphan(f)
	case f.Main.Type == String:
		return redissonDecodeCounter(f)
	case f.Main.Type != Hash:
		r := redissonDecodeOrphan(f)
		r.warn(WrongType, "waiters queue for a lock at this key, but the key is "+article(f.Main.Type)+": their calls fail")
		return r
	}
	if _, rw := f.Main.Get("mode"); rw {
		return redissonDecodeRW(f)
	}
	for _, p := range f.Main.Pairs {
		if redissonItemField(p.A) {
			return redissonDecodeItems(f)
		}
	}
	return redissonDecodeMutex(f)
}

// redissonNote is what follows a force-release of any of the locks.
const redissonNote = "the holder is not told: its renewal stops at the next turn, its thread works on until unlock() fails"

func redissonHolderOf(id string, count int64) Holder {
	h := Holder{ID: wire.Raw(id), Count: count}
	if at := strings.LastIndexByte(strings.TrimSuffix(id, ":write"), ':'); at > 0 {
		h.Label = "thread " + strings.TrimSuffix(id, ":write")[at+1:]
	}
	return h
}
