package wire

import (
	"errors"
	"strconv"
	"strings"
)

// TokenLen is the length of a token that lockcore makes: 16 random bytes in
// base64 for URLs, without padding.
const TokenLen = 22

// DefaultPrefix stands before every key of lockcore, unless its user chose
// another.
const DefaultPrefix = "lock:"

// ErrName says that a name or a prefix cannot be made into keys that share a
// slot of a Cluster.
var ErrName = errors.New("wire: a lock's name must not be empty nor begin with }, its prefix must hold no braces")

// Keys are the keys of one lock. All have the name between braces, so that a
// Cluster keeps them in one slot.
type Keys struct {
	Lock    string // a string: the lock's value (see Value); gone when nobody holds it
	Counter string // the last fencing number given; never expires by default
	Queue   string // fair mode: a sorted set of the waiters' tokens
	Alive   string // fair mode: a hash, token to "<deadline ms>:<about>"
}

// NewKeys returns the keys of the lock with this name; ErrName where the braces
// would not hold them together.
func NewKeys(prefix, name string) (Keys, error) {
	if name == "" || name[0] == '}' || strings.ContainsAny(prefix, "{}") {
		return Keys{}, ErrName
	}
	lock := prefix + "{" + name + "}"
	return Keys{Lock: lock, Counter: lock + ":fence", Queue: lock + ":queue", Alive: lock + ":alive"}, nil
}

// Tombstone is the key that forbids a token for good. It lives for seconds.
func (k Keys) Tombstone(token string) string { return k.Lock + ":dead:" + token }

// Channel is where a release is told. Channels know no database, so its number
// stands in the name.
func (k Keys) Channel(db int) string { return k.Lock + ":wake:" + strconv.Itoa(db) }

// Part says what a key of lockcore is to its lock.
type Part string

// The parts of a lock. PartDead keys are tombstones.
const (
	PartLock    Part = "lock"
	PartCounter Part = "fence"
	PartQueue   Part = "queue"
	PartAlive   Part = "alive"
	PartDead    Part = "dead"
)

// SplitKey takes a key apart that NewKeys may have made. ok is false when no
// lock has such a key.
func SplitKey(key string) (prefix, name string, part Part, ok bool) {
	open := strings.IndexByte(key, '{')
	end := strings.LastIndexByte(key, '}')
	if open < 0 || end < open+2 || key[open+1] == '}' {
		return "", "", "", false
	}
	prefix, name = key[:open], key[open+1:end]
	switch rest := key[end+1:]; {
	case strings.IndexByte(prefix, '}') >= 0:
		return "", "", "", false
	case rest == "":
		part = PartLock
	case rest == ":fence":
		part = PartCounter
	case rest == ":queue":
		part = PartQueue
	case rest == ":alive":
		part = PartAlive
	case strings.HasPrefix(rest, ":dead:"):
		part = PartDead
	default:
		return "", "", "", false
	}
	return prefix, name, part, true
}

// LessFence orders fencing numbers, which are decimal without leading zeros:
// the shorter is the smaller, then the digits decide. It is exact at any size.
func LessFence(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// ValidFence reports whether s is a fencing number as the scripts give it.
func ValidFence(s string) bool {
	if s == "" || (s[0] == '0' && len(s) > 1) {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
