package family

import "strings"

// hint is what a key's name promises.
type hint int

const (
	ordinary hint = iota - 1 // a word of everyday data: session, etag
	neutral
	lockish // a word like lock
)

// SmellsLikeLock reports whether a word of the key says lock, mutex, lease,
// leader or semaphore, or a common variant. Words end at anything that is no
// letter and at a change of case, so that neither block nor unlock nor
// padlocks count, but orderLock and order_lock:42 do. The lock files of package
// managers and what describes a thing that can be locked (door:lock:state) do
// not.
func SmellsLikeLock(key string) bool { return nameHint(key) == lockish }

// name is what the words of a key tell.
type name struct {
	hint
	edge bool // the word stands first or last: the key is named a lock, not of one
	kind Kind // as the word has it: a leader's is a Lease
}

// nameHint judges a key by its words.
func nameHint(key string) hint { return nameOf(key).hint }

func nameOf(key string) name {
	n := name{kind: Mutex}
	var first, last, lockAt int
	lockEnd, words, found, data := 0, 0, false, false
	for start, end := nextWord(key, 0); start < end; start, end = nextWord(key, end) {
		if words == 0 {
			first = start
		}
		words++
		last = start
		switch h, kind := wordKind(key[start:end]); h {
		case lockish:
			if !found {
				lockAt = start
			}
			found = true
			n.edge = n.edge || start == first
			if kind != Mutex {
				n.kind = kind
			}
			lockEnd = start
		case ordinary:
			data = true
		}
	}
	switch {
	case found && (lockFile(key) || lockAt > first && last > lockAt && attribute(key[last:])):
		n.hint = ordinary
	case found:
		n.hint = lockish
		n.edge = n.edge || lockEnd == last
	case data:
		n.hint = ordinary
	}
	return n
}

// nextWord finds the next run of letters from from on; it also ends where a
// capital follows a small letter, or a capital starts a word after capitals.
// It returns an empty range at the end.
func nextWord(s string, from int) (start, end int) {
	for from < len(s) && !letter(s[from]) {
		from++
	}
	end = from
	for end < len(s) && letter(s[end]) {
		if end > from && upper(s[end]) && (!upper(s[end-1]) || end+1 < len(s) && letter(s[end+1]) && !upper(s[end+1])) {
			break
		}
		end++
	}
	return from, end
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// longestWord bounds the words that are looked up.
const longestWord = 16

func wordKind(word string) (hint, Kind) {
	if len(word) < 2 || len(word) > longestWord {
		return neutral, ""
	}
	var buf [longestWord]byte
	for i := range len(word) {
		buf[i] = word[i] | 0x20
	}
	switch string(buf[:len(word)]) {
	case "lock", "locks", "locking", "lockkey", "lockname", "mutex", "mutexes", "mtx", "rwmutex",
		"dlock", "distlock", "distributedlock", "redlock", "redislock", "rlock", "wlock", "rwlock", "spinlock",
		"globallock", "readlock", "writelock", "runlock", "keylock",
		"synclock", "filelock", "userlock", "orderlock", "cachelock", "processlock", "mylock":
		return lockish, Mutex
	case "lease", "leases", "leader", "leaders", "leadership", "election", "leaderelection",
		"joblock", "tasklock", "cronlock", "schedulerlock":
		return lockish, Lease
	case "semaphore", "semaphores":
		return lockish, Semaphore
	case "session", "sessions", "sess", "csrf", "xsrf", "nonce", "otp", "etag", "checksum", "hash", "sha", "md", "password",
		"passwd", "verify", "verification", "invite", "apikey", "secret", "cookie", "cookies", "refresh", "oauth", "jwt",
		"signature", "fingerprint", "token", "tokens", "idempotency", "dedupe", "dedup", "ratelimit", "limiter", "cart",
		"captcha", "avatar", "cache", "cached":
		return ordinary, ""
	}
	return neutral, ""
}

// attribute reports whether the rest of a key is one word for a property of a
// thing, which is then not a lock but something that has one.
func attribute(rest string) bool {
	switch strings.ToLower(rest) {
	case "state", "status", "battery", "etag", "sha", "hash", "checksum", "url", "photo", "image", "size", "version",
		"config", "settings", "type", "history", "log", "logs", "stats", "info", "meta", "count", "total", "enabled",
		"firmware", "model", "color", "description", "title", "updated", "name", "price":
		return true
	}
	return false
}

// lockFile reports whether the key names the lock file of a package manager.
func lockFile(key string) bool {
	at := strings.Index(strings.ToLower(key), "lock")
	if at < 0 {
		return false
	}
	low := strings.ToLower(key)
	for _, name := range [...]string{
		"package-lock.json", "pnpm-lock", "packages.lock.json", "yarn.lock", "composer.lock", "gemfile.lock", "cargo.lock",
		"poetry.lock", "pipfile.lock", "podfile.lock", "mix.lock", "pubspec.lock", "flake.lock", "uv.lock", "bun.lock",
		"pdm.lock", "deno.lock", "conda-lock", "chart.lock", "terraform.lock", "package.resolved", "apk.lock", "dpkg/lock",
	} {
		if strings.Contains(low, name) {
			return true
		}
	}
	return false
}

// shapeOnly is the claim of a family whose token has a shape that others share:
// likely if the name says lock, possible while it has a TTL such as locks have:
// up to a day, up to ten minutes under the name of something else.
// Several such claims on one key become the family unknown, with all of them as
// candidates.
func shapeOnly(s *Sample, id, why string) []Claim {
	c := Claim{Candidates: []string{id}, Why: why}
	switch h := nameHint(s.Key); {
	case h == lockish:
		c.Confidence = Likely
	case s.PTTL > 0 && (s.PTTL <= 10*minute || h == neutral && s.PTTL <= day):
		c.Confidence = Possible
	default:
		return nil
	}
	return []Claim{c}
}

// nearUnique is the claim of a family whose token hardly any other lock has,
// but ordinary data may (a checksum in base64, a token for a form): likely if
// the name says lock, or says nothing and the TTL is short.
func nearUnique(s *Sample, why string) []Claim {
	c := Claim{Confidence: Possible, Why: why}
	short := s.PTTL > 0 && s.PTTL <= 10*minute
	switch h := nameHint(s.Key); {
	case h == lockish, h == neutral && short:
		c.Confidence = Likely
	case h == ordinary && !short:
		return nil
	}
	return []Claim{c}
}

// sure is the claim of a family that no other writes like.
func sure(why string) []Claim { return []Claim{{Confidence: Certain, Why: why}} }

// likely is the claim where name and shape fit.
func likely(why string) []Claim { return []Claim{{Confidence: Likely, Why: why}} }

// possibly is the claim where ordinary data may look the same.
func possibly(why string) []Claim { return []Claim{{Confidence: Possible, Why: why}} }

// partOf is the claim on a companion: a key that belongs to a lock.
func partOf(lock string, c Confidence, why string) []Claim {
	return []Claim{{Lock: lock, Companion: true, Confidence: c, Why: why}}
}
