package family

import (
	"slices"
	"strings"

	"fencepost/lockcore/wire"
)

// Fence counters beside hand-made locks: fence:NAME beside lock:NAME, or
// NAME:fence beside NAME.

// fenceWords are the last parts of such a counter's name.
var fenceWords = []string{"fence", "fencing", "fencing_token", "fence_token", "fencing-token"}

// fenceMatch claims a number that is a fence counter by its name. Whether there
// is such a lock shows when it is read.
func fenceMatch(s *Sample) []Claim {
	if !strings.Contains(s.Key, "fenc") || !isDigits(s.Value) {
		return nil
	}
	var out []Claim
	add := func(lock string) {
		c := Possible
		if SmellsLikeLock(lock) {
			c = Likely
		}
		out = append(out, partOf(lock, c, "a number at a key named as a fence")...)
	}
	for _, word := range fenceWords {
		if base, ok := strings.CutSuffix(s.Key, word); ok && len(base) > 1 && !alnum(base[len(base)-1]) {
			sep := base[len(base)-1:]
			base = base[:len(base)-1]
			add(base)
			if !SmellsLikeLock(base) {
				add(base + sep + "lock")
			}
			return out
		}
	}
	if prefix, name, ok := after(s.Key, "fence:"); ok {
		if add(prefix + "lock:" + name); SmellsLikeLock(name) {
			add(prefix + name)
		}
	}
	return out
}

// fenceKeys are the keys at which a lock's fence counter may stand.
func fenceKeys(lock string) []string {
	sep := ":"
	if at := strings.LastIndexAny(lock, ":./|-_"); at >= 0 {
		sep = lock[at : at+1]
	}
	keys := []string{lock + ":fence", lock + ":fencing_token", "fence:" + lock}
	if sep != ":" {
		keys = append(keys, lock+sep+"fence")
	}
	if prefix, name, ok := after(lock, "lock:"); ok {
		keys = append(keys, prefix+"fence:"+name)
	}
	if base, ok := strings.CutSuffix(lock, sep+"lock"); ok && base != "" {
		keys = append(keys, base+sep+"fence")
	}
	return keys
}

// homegrownFence adds the fence counter that stands beside a lock.
func homegrownFence(f *Facts, r *Reading) {
	for _, k := range fenceKeys(f.Main.Key) {
		s := f.Key(k)
		if s.Type != String || !wire.ValidFence(s.Value) {
			continue
		}
		r.have(f, k)
		r.FenceKey = k
		if r.Fence == "" {
			r.Fence = s.Value
		}
		return
	}
}

// busyName reports whether a key's name says that something is under way, or
// that places are taken.
func busyName(key string) bool {
	return containsFold(key, "in_progress", "inprogress", "in-progress", "processing", "running", "exclusive", "singleton",
		"single_instance", "master", "primary", "guard") || slotsName(key)
}

// slotsName reports whether a key's name says that places are counted.
func slotsName(key string) bool { return containsFold(key, "concurrency", "slots", "permits") }

func containsFold(key string, words ...string) bool {
	low := strings.ToLower(key)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
}

// withoutLockWord is a key without the lock: before or the :lock behind its name.
func withoutLockWord(key string) string {
	for _, word := range [...]string{"lock", "locks", "mutex", "semaphore", "lease"} {
		for _, sep := range [...]string{":", "_", "-", ".", "/"} {
			if name, ok := strings.CutPrefix(key, word+sep); ok && name != "" {
				return name
			}
			if name, ok := strings.CutSuffix(key, sep+word); ok && name != "" {
				return name
			}
		}
	}
	return key
}
