package family

import (
	"slices"
	"strings"

	"fencepost/lockcore/wire"
)

// bottleneck counts running jobs over eight keys: the hash b_ID_settings says
// how many may run and do, b_ID_job_weights and b_ID_job_clients which jobs
// these are and whose, b_ID_job_expirations until when at most. A job that has
// no expiration runs until its client says so. A limiter without maxConcurrent
// limits a rate, and is no lock (src/redis/*.lua, src/Scripts.coffee).
func bottleneck() *Family {
	return &Family{
		ID: "bottleneck", Label: "Bottleneck limiter", Types: []Type{Hash, ZSet},
		Looks: "a hash b_ID_settings with maxConcurrent and running, and the seven keys beside it",
		Marks: []string{"b_"},
		Named: func(key string) bool { return bottleneckBase(key) != "" },
		Match: func(s *Sample) []Claim {
			base := bottleneckBase(s.Key)
			if base == "" {
				return nil
			}
			if s.Key != base+bottleneckSettings {
				return partOf(base+bottleneckSettings, Certain, "a part of a limiter")
			}
			for _, name := range [...]string{"maxConcurrent", "running", "version"} {
				if _, ok := s.Get(name); !ok {
					return nil
				}
			}
			return sure("the settings of a limiter")
		},
		Reads: func(_ Claim, main *Sample) Reads {
			base := strings.TrimSuffix(main.Key, bottleneckSettings)
			r := Reads{}
			for _, part := range bottleneckParts {
				r.Keys = append(r.Keys, base+part)
			}
			return r
		},
		Decode:  bottleneckRead,
		Release: bottleneckRelease,
	}
}

const (
	bottleneckSettings = "_settings"
	bottleneckWeights  = "_job_weights"
	bottleneckClients  = "_job_clients"
	bottleneckEnds     = "_job_expirations"
	bottleneckQueued   = "_client_num_queued"
	bottleneckRunning  = "_client_running"
)

// bottleneckParts are the keys beside the settings.
var bottleneckParts = [...]string{bottleneckWeights, bottleneckClients, bottleneckEnds, bottleneckQueued,
	bottleneckRunning, "_client_last_registered", "_client_last_seen"}

// bottleneckBase is the key of a limiter without its last part, or "".
func bottleneckBase(key string) string {
	if _, _, ok := after(key, "b_"); !ok {
		return ""
	}
	if base, ok := strings.CutSuffix(key, bottleneckSettings); ok {
		return base
	}
	for _, part := range bottleneckParts {
		if base, ok := strings.CutSuffix(key, part); ok {
			return base
		}
	}
	return ""
}

func bottleneckRead(f *Facts) Reading {
	limit, _ := f.Main.Get("maxConcurrent")
	n, ok := parseInt(limit)
	if f.Main.Type != Hash || !ok {
		return Reading{NoRow: true}
	}
	base := strings.TrimSuffix(f.Main.Key, bottleneckSettings)
	r := Reading{Kind: Semaphore, State: Held, ByDesign: true, Resource: rest(base, "b_"),
		Note: "the job goes on; the limiter lets another one run beside it"}
	weights, clients, ends := f.Key(base+bottleneckWeights), f.Key(base+bottleneckClients), f.Key(base+bottleneckEnds)
	var running int64
	for _, p := range weights.Pairs {
		weight, _ := parseInt(p.B)
		running += weight
		client, _ := clients.Get(p.A)
		h := Holder{Label: bottleneckJob(p.A, client), Count: weight}
		if score, ok := ends.Get(p.A); ok {
			if ms, ok := parseDecimal(score); ok {
				h.until(f, ms/1000)
			}
		}
		r.Holders = append(r.Holders, h)
	}
	slices.SortFunc(r.Holders, func(a, b Holder) int { return strings.Compare(a.Label, b.Label) })
	r.Permits = &Permits{Free: max(n-running, 0), Limit: n}
	r.Waiters = bottleneckWaiters(f.Key(base + bottleneckQueued))
	for _, part := range bottleneckParts {
		r.have(f, base+part)
	}
	r.expireTogether(f)
	if len(r.Holders) == 0 {
		r.State = Free
		r.NoRow = r.Waiters == nil
	}
	return r
}

// bottleneckWaiters sums up the jobs that wait in the memory of the clients.
func bottleneckWaiters(queued *Sample) *Waiters {
	var sum int64
	for _, p := range queued.Pairs {
		if n, ok := parseInt(p.B); ok && n > 0 {
			sum += n
		}
	}
	if sum == 0 {
		return nil
	}
	return &Waiters{Count: sum, How: "counter"}
}

// bottleneckJob is what a running job is called: who holds its permit is not
// recorded beyond the number of a client.
func bottleneckJob(job, client string) string {
	return "job " + wire.Clean(job) + " of client " + wire.Clean(client)
}

func bottleneckRelease(t *Target) []Step {
	base := strings.TrimSuffix(t.Facts.Main.Key, bottleneckSettings)
	clients := t.Facts.Key(base + bottleneckClients)
	var ids []string
	for _, p := range t.Facts.Key(base + bottleneckWeights).Pairs {
		client, _ := clients.Get(p.A)
		if slices.ContainsFunc(t.Holders, func(h Holder) bool { return h.Label == bottleneckJob(p.A, client) }) {
			ids = append(ids, p.A)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	r := wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}
	if id, ok := t.Facts.Main.Get("id"); ok {
		r.Wake = wire.Wake{Verb: wire.WakePublish, Target: "b_" + id}
	}
	l := wire.Limiter{Weights: base + bottleneckWeights, Clients: base + bottleneckClients,
		Deadlines: base + bottleneckEnds, Running: base + bottleneckRunning}
	return []Step{{r.Jobs(l, ids...), "take the jobs off the limiter, and tell its clients what is free"}}
}
