package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// gocraftWork: how many jobs of a kind run is counted in <ns>:jobs:<job>:lock,
// and which worker pool runs how many in the hash beside it; a unique job has
// "1" at <ns>:unique:<job>:<arguments>. Source: gocraft/work redis.go
// (redisKeyJobsLock, redisKeyJobsLockInfo, redisLuaReapStaleLocks,
// redisLuaEnqueueUnique: a day).
func gocraftWork() *Family {
	return &Family{
		ID: "gocraft-work", Label: "gocraft/work",
		Types: []Type{String, Hash},
		Looks: "a counter <ns>:jobs:<job>:lock and the hash …:lock_info beside it, or 1 at <ns>:unique:<job>:<arguments>",
		Marks: []string{":jobs:", gocraftUnique},
		Named: func(key string) bool {
			return strings.Contains(key, ":jobs:") && strings.Contains(key, gocraftLock) || strings.Contains(key, gocraftUnique)
		},
		Match:   gocraftMatch,
		Reads:   gocraftReads,
		Decode:  gocraftDecode,
		Release: gocraftRelease,
	}
}

const (
	gocraftLock   = ":lock"
	gocraftInfo   = ":lock_info"
	gocraftLimit  = ":max_concurrency"
	gocraftUnique = ":unique:"
)

func gocraftMatch(s *Sample) []Claim {
	if base, ok := strings.CutSuffix(s.Key, gocraftInfo); ok && strings.Contains(base, ":jobs:") && s.Type == Hash {
		return partOf(base+gocraftLock, Certain, "which worker pool runs how many jobs")
	}
	if s.Type != String {
		return nil
	}
	if base, ok := strings.CutSuffix(s.Key, gocraftLock); ok && strings.Contains(base, ":jobs:") && isInt(s.Value) {
		return likely("a count of running jobs")
	}
	if base, ok := strings.CutSuffix(s.Key, gocraftLimit); ok && strings.Contains(base, ":jobs:") && isInt(s.Value) {
		return partOf(base+gocraftLock, Likely, "how many jobs may run at once")
	}
	if at := strings.Index(s.Key, gocraftUnique); at > 0 && s.Value == "1" && s.PTTL <= day && s.PTTL > 0 {
		if args := s.Key[at+len(gocraftUnique):]; strings.HasSuffix(args, "\n") {
			return sure("a unique job: its arguments in JSON and a line end in the key")
		} else if name, _, ok := strings.Cut(args, ":"); ok && name != "" {
			return possibly("1 at a key with :unique:")
		}
	}
	return nil
}

func gocraftReads(_ Claim, main *Sample) Reads {
	base, ok := strings.CutSuffix(main.Key, gocraftLock)
	if !ok {
		return Reads{}
	}
	return Reads{Keys: []string{base + gocraftInfo, base + gocraftLimit}}
}

func gocraftDecode(f *Facts) Reading {
	if f.Main.Type != String {
		return Reading{NoRow: true}
	}
	base, counter := strings.CutSuffix(f.Main.Key, gocraftLock)
	if !counter {
		r := flagged(Lease)
		r.Label = "gocraft/work unique job"
		_, r.Resource, _ = strings.Cut(f.Main.Key, gocraftUnique)
		r.Note = "another job like it may be queued beside it"
		return r
	}
	n, _ := parseInt(f.Main.Value)
	if n <= 0 {
		return Reading{NoRow: true} // the counter of a job that does not run stays
	}
	info := f.Key(base + gocraftInfo)
	r := Reading{
		Label: "gocraft/work concurrency", Kind: Semaphore, State: Held, ByDesign: true, Weak: true,
		Note: "the pool works on, and counts its jobs down once more when they end",
	}
	if info.Type == Hash {
		r.Confidence = Certain
	}
	_, r.Resource, _ = strings.Cut(base, ":jobs:")
	r.have(f, info.Key, base+gocraftLimit)
	if limit, ok := parseInt(f.Key(base + gocraftLimit).Value); ok {
		r.Permits = &Permits{Free: max(0, limit-n), Limit: limit}
	}
	for _, p := range info.Pairs {
		if c, ok := parseInt(p.B); ok && c > 0 {
			r.Holders = append(r.Holders, Holder{ID: wire.Raw(p.A), Count: c, Label: "pool"})
		}
	}
	return r
}

// gocraftRelease does for one pool what the library's reaper does for a dead one.
func gocraftRelease(t *Target) []Step {
	base, counter := strings.CutSuffix(t.Facts.Main.Key, gocraftLock)
	if !counter {
		return releaseValue(t)
	}
	var steps []Step
	for _, h := range t.Holders {
		r := wire.Release{Lock: base + gocraftInfo}
		steps = append(steps, Step{
			r.Share(string(h.ID), h.Count, t.Facts.Main.Key),
			"take this pool's jobs off the count if it still has as many",
		})
	}
	return steps
}
