package wire

import (
	_ "embed"
	"strconv"
)

// Release scripts for locks that are kept in a form of their own.
var (
	//go:embed scripts/release_digest.lua
	releaseDigest string
	//go:embed scripts/release_slots.lua
	releaseSlots string
	//go:embed scripts/release_slice.lua
	releaseSlice string
	//go:embed scripts/release_back.lua
	releaseBack string
	//go:embed scripts/release_job.lua
	releaseJob string

	scriptReleaseDigest = releaseScript("release_digest", releaseDigest)
	scriptReleaseSlots  = releaseScript("release_slots", releaseSlots)
	scriptReleaseSlice  = releaseScript("release_slice", releaseSlice)
	scriptReleaseBack   = releaseScript("release_back", releaseBack)
	scriptReleaseJob    = releaseScript("release_job", releaseJob)
)

// Digest is a unique job of sidekiq-unique-jobs, as its registries know it.
type Digest struct {
	Name       string    // the member of the registries
	Registries [2]string // digests, and those that end by themselves
	Around     []string  // keys that go with the last job
}

// Digest takes jobs out of the hash Lock; each must still be there with the
// value seen. With the last one the digest's other keys go, and its entries in
// the registries.
func (r Release) Digest(d Digest, jobs ...Pair) Call {
	keys := append(d.Registries[:], d.Around...)
	return r.call(scriptReleaseDigest, keys, pairArgs([]string{d.Name}, jobs)...)
}

// Pair is an entry of a hash, or a key and its value.
type Pair struct{ Name, Value string }

// pairArgs appends the number of pairs, and the pairs.
func pairArgs(args []string, pairs []Pair) []string {
	args = append(args, strconv.Itoa(len(pairs)))
	for _, p := range pairs {
		args = append(args, p.Name, p.Value)
	}
	return args
}

// Slots deletes string keys, if all of them hold the values seen: the permits of
// a semaphore, an owner and its expiry.
func (r Release) Slots(slots ...Pair) Call {
	var keys, tokens []string
	for _, s := range slots {
		keys, tokens = append(keys, s.Name), append(tokens, s.Value)
	}
	return r.call(scriptReleaseSlots, keys, tokens...)
}

// Slice writes a string that holds all holders without some of them, if it is
// still what was seen.
func (r Release) Slice(seen, without string) Call {
	return r.call(scriptReleaseSlice, nil, seen, without)
}

// Back takes permits out of the hash Lock, where each must still have the value
// seen, and pushes them onto the list free.
func (r Release) Back(free string, permits ...Pair) Call {
	return r.call(scriptReleaseBack, []string{free}, pairArgs(nil, permits)...)
}

// Limiter is where a Bottleneck limiter, whose settings are Lock, keeps its jobs.
type Limiter struct{ Weights, Clients, Deadlines, Running string }

// Jobs takes jobs off a Bottleneck limiter that counts them as running. The
// message that wakes is the limiter's own; Wake.Message is not used.
func (r Release) Jobs(l Limiter, jobs ...string) Call {
	return r.call(scriptReleaseJob, []string{l.Weights, l.Clients, l.Deadlines, l.Running}, jobs...)
}
