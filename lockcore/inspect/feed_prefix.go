package inspect

import (
	"slices"
	"strings"
)

// mostPrefixes is how many prefixes tracking is asked for. A server compares
// every write with each of them.
const mostPrefixes = 64

// usualPrefixes are followed though no lock of such a name is known yet, so that
// the first one shows at once. They are few: see mostPrefixes.
var usualPrefixes = []string{"lock", "Lock", "mutex", "redlock", "redisson_lock", "lease", "leader", "semaphore"}

// prefixesFor are the prefixes under which changes are to be told: the literal
// beginnings of the patterns, where all have one; else those of the names of
// known locks, and the usual ones. They are never empty (that would be every key
// of the server) and none begins another. known are all keys of known locks,
// companions too. ok is false where there would be too many.
func prefixesFor(match []string, known func(yield func(string) bool)) (prefixes []string, ok bool) {
	literal := true
	var out []string
	for _, m := range match {
		p := literalPrefix(m)
		literal = literal && p != ""
		out = append(out, p)
	}
	if !literal || len(match) == 0 {
		out = slices.Clone(usualPrefixes)
	}
	set := newPrefixSet(out)
	for key := range known {
		if set.add(key, literal && len(match) > 0) > mostPrefixes {
			return nil, false
		}
	}
	out = set.list()
	return out, len(out) <= mostPrefixes
}

// literalPrefix is what a glob's matches all begin with.
func literalPrefix(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '*', '?', '[':
			return b.String()
		case '\\':
			if i+1 < len(glob) {
				i++
			}
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

// namespace is the beginning of a key that its neighbours share: up to its first
// colon, slash or the like, which is not its first letter.
func namespace(key string) string {
	at := strings.IndexAny(key[min(1, len(key)):], ":/|#") // not - _ . which stand within words
	if at < 0 {
		return key
	}
	return key[:at+2]
}

// prefixSet is a set of prefixes of which none begins another.
type prefixSet map[string]bool

func newPrefixSet(list []string) prefixSet {
	s := prefixSet{}
	for _, p := range list {
		s.put(p)
	}
	return s
}

// put adds a prefix, and drops those that it makes needless.
func (s prefixSet) put(p string) {
	if p == "" || s.covers(p) {
		return
	}
	for q := range s {
		if strings.HasPrefix(q, p) {
			delete(s, q)
		}
	}
	s[p] = true
}

// covers reports whether a key is under one of the prefixes.
func (s prefixSet) covers(key string) bool {
	for n := 1; n <= len(key); n++ {
		if s[key[:n]] {
			return true
		}
	}
	return false
}

// add makes the set cover a key, and returns how large it is. exact: only the
// key itself, since the operator's patterns say what else is wanted.
func (s prefixSet) add(key string, exact bool) int {
	if key == "" || s.covers(key) {
		return len(s)
	}
	if exact {
		s.put(key)
	} else {
		s.put(namespace(key))
	}
	return len(s)
}

// list returns the prefixes in order.
func (s prefixSet) list() []string {
	out := make([]string, 0, len(s))
	for p := range s {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
