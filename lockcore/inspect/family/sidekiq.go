package family

import (
	"encoding/json"
	"strings"

	"fencepost/lockcore/wire"
)

// sidekiqUnique is sidekiq-unique-jobs. Its lock is a hash digest:LOCKED of job
// ids; up to version 8 with the time of locking as value and, beside it, the
// digest itself (the job queued last), the lists :QUEUED and :PRIMED of those
// that wait and :INFO; since 9 with a JSON text as value and nothing beside it.
// A while-executing lock has :RUN in its digest. Sources: lua/lock.lua,
// lua/unlock.lua, lua/delete.lua at 8.1, lua/lock.lua at 9.
func sidekiqUnique() *Family {
	return &Family{
		ID: "sidekiq-unique-jobs", Label: "sidekiq-unique-jobs",
		Types: []Type{Hash, String, List, ZSet},
		Looks: "a hash of job ids under uniquejobs:…:LOCKED, and the keys :QUEUED, :PRIMED and :INFO around it",
		Marks: []string{sidekiqPrefix, sidekiqLocked},
		Match: func(s *Sample) []Claim {
			switch s.Type {
			case Hash:
				return sidekiqHash(s)
			case ZSet:
				return sidekiqRegistry(s)
			}
			return sidekiqAround(s)
		},
		Reads:   sidekiqReads,
		Decode:  sidekiqRead,
		Release: sidekiqRelease,
	}
}

const (
	sidekiqPrefix = "uniquejobs:"
	sidekiqLocked = ":LOCKED"
	// sidekiqExpired is the lock type that nothing ends but its TTL.
	sidekiqExpired = "until_expired"
)

// sidekiqHash claims the lock itself. With a lock_prefix of the application's
// own, the digest and the values have to tell.
func sidekiqHash(s *Sample) []Claim {
	digest, ok := strings.CutSuffix(s.Key, sidekiqLocked)
	if !ok || len(s.Pairs) == 0 {
		return nil
	}
	for _, p := range s.Pairs {
		if _, isTime := epochS(p.B); !isTime && !strings.HasPrefix(p.B, "{") {
			return nil
		}
	}
	if strings.Contains(s.Key, sidekiqPrefix) {
		return sure("uniquejobs:, :LOCKED, and job ids")
	}
	digest = strings.TrimSuffix(digest, ":RUN")
	hex := digest[strings.LastIndexByte(digest, ':')+1:]
	if isHex(hex, 32) || isHex(hex, 64) {
		return sure("a digest, :LOCKED, and job ids")
	}
	return nil
}

// sidekiqAround claims the keys beside the lock.
func sidekiqAround(s *Sample) []Claim {
	_, rest, ok := after(s.Key, sidekiqPrefix)
	if !ok {
		return nil
	}
	digest := s.Key
	switch {
	case strings.HasSuffix(rest, ":QUEUED"), strings.HasSuffix(rest, ":PRIMED"), strings.HasSuffix(rest, ":INFO"):
		digest = s.Key[:strings.LastIndexByte(s.Key, ':')]
	case s.Type != String || !isHex(strings.TrimSuffix(rest, ":RUN"), len(strings.TrimSuffix(rest, ":RUN"))):
		return nil
	}
	return partOf(digest+sidekiqLocked, Certain, "a key beside a unique job's lock")
}

// sidekiqRegistry tells of the locks that the registries list: they are found
// there without a scan.
func sidekiqRegistry(s *Sample) []Claim {
	prefix, rest, ok := after(s.Key, sidekiqPrefix)
	if !ok || rest != "digests" && rest != "expiring_digests" {
		return nil
	}
	var out []Claim
	for _, p := range s.Pairs {
		out = append(out, partOf(prefix+p.A+sidekiqLocked, Certain, "listed in "+sidekiqPrefix+rest)...)
	}
	return out
}

// sidekiqParts are the keys of one lock. Under a namespace the registries hold
// digests without it.
type sidekiqParts struct {
	digest               string
	queued, primed, info string
	namespace, name      string
	digests, expiring    string
}

func sidekiqKeys(locked string) sidekiqParts {
	d := strings.TrimSuffix(locked, sidekiqLocked)
	p := sidekiqParts{digest: d, queued: d + ":QUEUED", primed: d + ":PRIMED", info: d + ":INFO", name: d}
	if ns, _, ok := after(d, sidekiqPrefix); ok {
		p.namespace, p.name = ns, d[len(ns):]
	}
	p.digests, p.expiring = p.namespace+sidekiqPrefix+"digests", p.namespace+sidekiqPrefix+"expiring_digests"
	return p
}

func (p *sidekiqParts) around() []string { return []string{p.digest, p.queued, p.primed, p.info} }

func sidekiqReads(c Claim, main *Sample) Reads {
	p := sidekiqKeys(main.Key)
	return Reads{Keys: p.around()}
}

// sidekiqInfo is what :INFO holds, and since version 9 the value of each job.
type sidekiqInfo struct {
	Worker string  `json:"worker"`
	Queue  string  `json:"queue"`
	Type   string  `json:"type"`
	Limit  int64   `json:"limit"`
	Time   float64 `json:"time"`
	At     float64 `json:"at"`
}

func parseSidekiqInfo(s string) (i sidekiqInfo) {
	if len(s) > 1<<16 || json.Unmarshal([]byte(s), &i) != nil {
		return sidekiqInfo{}
	}
	return i
}

func (i *sidekiqInfo) label() string {
	if i.Worker == "" {
		return ""
	}
	out := wire.Clean(i.Worker)
	if i.Queue != "" {
		out += " on " + wire.Clean(i.Queue)
	}
	return out
}

func sidekiqRead(f *Facts) Reading {
	p := sidekiqKeys(f.Main.Key)
	r := Reading{Kind: Lease, State: Held, ByDesign: true, Resource: strings.TrimPrefix(p.name, sidekiqPrefix),
		Note: "the job itself stays queued or goes on; the same job can be queued or run beside it. If the job is gone, the library's reaper removes the lock too"}
	info := parseSidekiqInfo(f.Key(p.info).Value)
	if f.Main.Type == Hash {
		for _, e := range f.Main.Pairs {
			h, own := sidekiqHolder(f, e, info)
			if own.Type != "" {
				info = own
			}
			r.Holders = append(r.Holders, h)
		}
	}
	r.have(f, p.around()...)
	r.Waiters = sidekiqWaiters(f, p)
	switch {
	case len(r.Holders) == 0 && r.Waiters == nil:
		return Reading{NoRow: true} // a registry's entry or a signal that was left
	case len(r.Holders) == 0:
		r.State = Free
	case info.Type == sidekiqExpired:
		r.State = Cooling
		r.Note = "this lock is meant to stay until it expires, whether the job still runs or not"
	}
	sidekiqLimit(f, &r, info, strings.HasSuffix(p.digest, ":RUN"))
	if info.Type != "" {
		r.Label = "sidekiq-unique-jobs " + wire.Clean(info.Type)
	}
	return r
}

// sidekiqLimit makes a semaphore of a lock that lets several jobs in: by its
// limit, by those that are in, and where that is not known because it counts
// those that run.
func sidekiqLimit(f *Facts, r *Reading, info sidekiqInfo, running bool) {
	if info.Limit > 1 || f.Main.Len > 1 || running && info.Limit == 0 {
		r.Kind, r.Permits = Semaphore, &Permits{Free: -1, Limit: -1}
	}
	if info.Limit > 1 {
		r.Permits = &Permits{Free: max(info.Limit-f.Main.Len, 0), Limit: info.Limit}
	}
}

// sidekiqHolder reads one job, and what its own value says since version 9.
func sidekiqHolder(f *Facts, e Pair, info sidekiqInfo) (Holder, sidekiqInfo) {
	h := Holder{ID: wire.Raw(e.A), Label: info.label()}
	if ms, ok := epochS(e.B); ok {
		h.Since = sinceMS(f, ms)
		return h, sidekiqInfo{}
	}
	own := parseSidekiqInfo(e.B)
	h.Label = own.label()
	if ms := int64(max(own.Time, own.At) * 1000); ms >= firstMS && ms < lastMS {
		h.Since = sinceMS(f, ms)
	}
	return h, own
}

// sidekiqWaiters are the jobs in the two lists; a "1" among them is only the
// signal that a lock became free.
func sidekiqWaiters(f *Facts, p sidekiqParts) *Waiters {
	w := &Waiters{How: "list"}
	for _, key := range []string{p.queued, p.primed} {
		s := f.Key(key)
		if s.Type != List {
			continue
		}
		w.Count += s.Len
		for _, e := range s.Pairs {
			if e.A == "1" {
				w.Count--
				continue
			}
			w.IDs = append(w.IDs, wire.Raw(e.A))
		}
	}
	if w.Count <= 0 {
		return nil
	}
	return w
}

// sidekiqRelease does what unlocking the jobs would, and wakes who blocks on
// the queue; a while-executing lock of the same job is another lock and stays.
func sidekiqRelease(t *Target) []Step {
	p := sidekiqKeys(t.Facts.Main.Key)
	r := wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}
	says := "take the jobs out of the lock"
	for _, key := range p.around() {
		if t.Facts.Key(key).Type != None { // up to version 8
			r.Wake = wire.Wake{Verb: wire.WakePush, Target: p.queued, Message: "1", LifeMS: 5 * second}
			says += ", and wake who waits for it"
			break
		}
	}
	var jobs []wire.Pair
	for _, h := range t.Holders {
		value, ok := t.Facts.Main.Get(string(h.ID))
		if !ok {
			return nil
		}
		jobs = append(jobs, wire.Pair{Name: string(h.ID), Value: value})
	}
	if len(jobs) == 0 {
		return nil
	}
	d := wire.Digest{Name: p.name, Registries: [2]string{p.digests, p.expiring}, Around: p.around()}
	return []Step{{r.Digest(d, jobs...), says}}
}
