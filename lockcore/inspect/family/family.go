// Package family knows what lock libraries leave in Redis: one small file for
// each library, pure (no I/O, no clock), each a Family value.
//
// # To add a family
//
//  1. Copy a file that is like yours: redsync.go (one string key), huey.go (a
//     field of an ordinary hash), symfony.go (members with their own deadlines),
//     redisson.go (companion keys and channels).
//  2. Write Match: from one bounded look at one key, say whether it is yours and
//     how sure that is. A companion key (a queue, a counter) is claimed too, for
//     the lock that it belongs to, so that it is never a row of its own.
//  3. Write Decode: from the facts, say who holds it, in which state it is and
//     what its TTL means. Never guess: what the data does not say stays empty.
//  4. Write Release: the steps that compare what was seen, remove it and wake
//     the waiters as the library itself would (see wire.Release…).
//  5. Say in Looks what Match looks for: `inspect --explain` prints it.
//  6. Add it to its language's list (registry_….go), specific families before
//     general ones, and put a capture of a real lock into the root
//     testdata/corpus: corpus_test.go then holds it to what it should say.
//
// Where only the shape of a token fits, claim it by shapeOnly: if several
// families do so, the lock is shown as unknown, with all of them as candidates.
// Read adds the warnings that every lock may deserve (lint.go), so that a family
// warns of its own matters only.
package family

import (
	"time"

	"fencepost/lockcore/wire"
)

// Type is the type of a Redis key, as TYPE names it.
type Type string

// The types that locks are made of. None is the answer for a missing key.
const (
	None   Type = "none"
	String Type = "string"
	Hash   Type = "hash"
	ZSet   Type = "zset"
	Set    Type = "set"
	List   Type = "list"
)

// NoTTL is the PTTL of a key without expiry; Gone of one that is not there.
const (
	NoTTL int64 = -1
	Gone  int64 = -2
)

// Sample is one bounded look at one key. Strings are raw bytes.
type Sample struct {
	Key   string
	Type  Type   // None when the key does not exist
	Len   int64  // of all of it: bytes of a string, entries of the others
	Value string // String: its first bytes
	Pairs []Pair // the others: a bounded number of entries, in no order but ZSet's and List's
	Whole bool   // Value or Pairs hold all of it
	PTTL  int64  // milliseconds, NoTTL or Gone
	NowMS int64  // the server's clock when it answered, milliseconds since 1970; 0 not known
	DB    int    // the database that it is in, once that matters: when what belongs to it is named

	// Idle is for how many seconds nobody had read or written the key before
	// this look; HasIdle is false where it was not asked, or the server keeps none.
	Idle    int64
	HasIdle bool
}

// Pair is one entry: field and value of a hash, member and score of a sorted
// set; of sets and lists only A is used.
type Pair struct{ A, B string }

// Get returns the value of a hash's field, or the score of a member.
func (s *Sample) Get(a string) (string, bool) {
	for _, p := range s.Pairs {
		if p.A == a {
			return p.B, true
		}
	}
	return "", false
}

// Confidence says how sure a recognition is.
type Confidence int

// Possible means that the shape fits and ordinary data may have it too; Likely
// that name and shape fit; Certain that only this library writes such a key.
const (
	Unlikely Confidence = iota
	Possible
	Likely
	Certain
)

func (c Confidence) String() string {
	return [...]string{"unlikely", "possible", "likely", "certain"}[c]
}

// Claim is what a family says of a key: it is the lock Lock (or the field Field
// of it), or, where Companion is set, something that belongs to that lock.
type Claim struct {
	Lock       string // the lock's main key; "" for the key that was looked at
	Field      string // the hash field, where the lock is a field of a hash that is not itself the lock
	Companion  bool
	Confidence Confidence
	Candidates []string // where only the shape fits: the families that it may be
	Why        string   // for --explain: which rule matched
}

// Reads names what else has to be read before a lock can be decoded.
type Reads struct {
	Keys     []string   // companion keys, each sampled as the main key was
	Fields   []FieldRef // single fields of hashes that may be large
	Channels []string   // subscribers are counted
}

// FieldRef is one field of one hash.
type FieldRef struct{ Key, Field string }

// Facts is all that was read of one lock, at one moment.
type Facts struct {
	Main   *Sample // Type None where only companions are left
	Field  string  // as in the Claim
	Claim  Claim
	Keys   map[string]*Sample
	Fields map[FieldRef]string // present only where the field exists
	Subs   map[string]int64    // subscribers of a channel; absent where they could not be counted
	Now    time.Time           // the server's clock when it answered
	Unread map[string]string   // companion keys that could not be read, and why
	DB     int                 // the database; channels know none, so its number may be in their names
}

// Cannot notes that a companion key could not be read: it is not known whether it
// is there. why is safe to print.
func (f *Facts) Cannot(key, why string) {
	if f.Unread == nil {
		f.Unread = map[string]string{}
	}
	f.Unread[key] = why
}

// Key returns the sample of a companion, or one of Type None.
func (f *Facts) Key(key string) *Sample {
	if s := f.Keys[key]; s != nil {
		return s
	}
	return &Sample{Key: key, Type: None, PTTL: Gone}
}

// NowMS is the server's time in milliseconds since 1970.
func (f *Facts) NowMS() int64 { return f.Now.UnixMilli() }

// Kind is what sort of lock it is.
type Kind string

// The kinds of contract.md. A re-entrant or fair lock is a Mutex.
const (
	Mutex     Kind = "mutex"
	RWLock    Kind = "rwlock"
	Semaphore Kind = "semaphore"
	Latch     Kind = "latch"
	Lease     Kind = "lease"
)

// ForWork reports whether such a lock is held while something is done, and given
// up at its end. A lease may be kept for ever, or left to expire, on purpose.
func (k Kind) ForWork() bool { return k == Mutex || k == RWLock || k == Semaphore }

// State is what the lock's own library would say of it now.
type State string

// Held: somebody holds it. Lapsed: the key is there, but its library would
// ignore it. Free: nobody holds it, but waiters or remains are there. Cooling:
// kept on purpose after the work was done.
const (
	Held    State = "held"
	Lapsed  State = "lapsed"
	Free    State = "free"
	Cooling State = "cooling"
)

// Holder is one holder, as the library names it.
type Holder struct {
	ID    wire.Raw // may be empty: some locks name nobody
	Count int64    // re-entrancy, or permits; at least 1
	Mode  string   // "read", "write" or ""
	Label string   // what a person would call it: "thread 38"
	Host  string
	PID   int64     // 0 when unknown
	Since time.Time // zero when unknown
	// TTL is this holder's own remaining time in milliseconds, HasTTL whether it
	// has one. At 0 or below its library would ignore it.
	TTL    int64
	HasTTL bool
	// Beat is when it last said that it lives, by a clock of its own, where the data
	// say so: a TTL that is worked out from what others did may move without it.
	Beat time.Time
}

// Waiters is what the server shows of who waits.
type Waiters struct {
	Count int64 // -1 when only their existence shows
	How   string
	IDs   []wire.Raw
}

// Warning is something that an operator should know of a lock.
type Warning struct {
	Code string // stable, as "no-expiry"
	Text string
}

// Reading is what a family makes of the facts.
type Reading struct {
	Label      string // the library's own name of this lock type: "RFencedLock"
	Kind       Kind
	State      State
	Resource   string // raw: what is locked, without the library's prefix
	Holders    []Holder
	Waiters    *Waiters   // nil when the family leaves no trace of them
	Fence      string     // decimal, or ""
	Companions []string   // raw keys that exist and belong to the lock
	Confidence Confidence // Unlikely: keep the claim's
	Candidates []string   // nil: keep the claim's
	// TTLKey is the key whose TTL is the lock's, where it is not the main key.
	TTLKey string
	// NoTTL says that no key's TTL bears on the lock, though the key may have
	// one: a field of a cached hash.
	NoTTL bool
	// Deadline is the moment, by the server's clock, at which the library takes
	// the lock for free, where that stands in a value or a score. Zero: the TTL.
	Deadline time.Time
	// ByDesign says that the lock has no expiry because its library gives none.
	ByDesign bool
	// Weak says that the holder's id does not identify one acquisition: a
	// constant, a thread id, a host. A release then also compares the deadline.
	Weak     bool
	Warnings []Warning
	Note     string // what happens after a force-release: "the holder puts it back"
	NoRow    bool   // there is nothing here to show

	// Family is the id of the family that the facts show, where companions tell
	// more than the key itself did; "": the one that claimed the key.
	Family string
	// FenceKey is the counter that Fence was read from, or that belongs to it;
	// "" where there is none.
	FenceKey string
	// Permits is set for semaphores that tell how many permits there are.
	Permits *Permits
	// NoRelease says why this very lock cannot be released, where others of its
	// family can.
	NoRelease string
}

// Permits of a semaphore; -1 where it is not known.
type Permits struct{ Free, Limit int64 }

// Target is what a release is to remove.
type Target struct {
	Facts   *Facts
	Reading Reading
	Holders []Holder // those to be removed: all of them, or one
	Guard   wire.Guard
	// Split says that keys without a common hash tag cannot be in one script: a
	// Cluster. A lock in several such keys then takes a step for each.
	Split bool
}

// All reports whether every holder is to be removed.
func (t *Target) All() bool { return len(t.Holders) == len(t.Reading.Holders) }

// Step is one command of a plan and what it does, in words.
type Step struct {
	Call wire.Call
	Says string
}

// Family is one lock library, or one shape that several share.
type Family struct {
	ID    string // as in families.tsv: what --family takes
	Label string // for people
	Types []Type // of the keys that Match can say anything of
	Looks string // what Match looks for, in words
	// WhyNot says why Match does not claim a key of a type that it knows. Nil:
	// Looks says what it missed.
	WhyNot func(s *Sample) string
	// Marks and Named tell which names alone make a key worth a look, when only
	// names are looked at, beside those with a word like lock. Marks are texts, of
	// two bytes or more, that are looked for in all names at once: where Named is
	// nil a name with one of them is worth a look, else Named is asked. Without
	// marks Named is asked for every key, and has to be quick.
	Marks []string
	Named func(key string) bool
	// Part knows the names of keys beside a lock that are never one themselves,
	// whatever they hold. Nil: no name says that alone.
	Part  func(key string) bool
	Match func(s *Sample) []Claim
	// Fields is set where a lock is a field of an ordinary hash that may be
	// large: for a hash of this name, the glob of the fields that may be locks,
	// "" if it is none of this family's. A large hash is then searched for them.
	Fields func(key string) string
	// Channels are the globs of the channels that only this family subscribes
	// to, and FromChannel the locks that such a channel tells of: some locks
	// show nowhere else.
	Channels    []string
	FromChannel func(channel string) []Claim
	// Reads may be nil. main is of Type None when only companions were seen.
	Reads  func(c Claim, main *Sample) Reads
	Decode func(f *Facts) Reading
	// Release may be nil: then the lock can be looked at only, and NoRelease
	// says why.
	Release   func(t *Target) []Step
	NoRelease string
}
