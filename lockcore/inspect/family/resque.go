package family

import "strings"

// resque stands for the locks of Resque's plugins and of node-resque. All are
// strings: a job's or a queue's lock holds the second at which it ends, or true
// for never; a scheduler's leader lock holds host:pid. The Ruby ones have no
// TTL, node-resque's have. Sources: resque/plugins/lock.rb, lock_timeout.rb,
// resque-scheduler lib/resque/scheduler/lock, node-resque plugins/JobLock,
// plugins/QueueLock, core/queue (leaderKey).
func resque() *Family {
	return oneString(Family{
		ID: "resque", Label: "Resque lock",
		Looks: "a second, or true, under resque:lock:, resque:loner:lock: or workerslock:, or host:pid under resque_scheduler_master_lock",
		Marks: []string{"resque", "workerslock:"},
		Named: func(key string) bool { return resqueLeader(key) || resqueJob(key) != "" },
		Match: func(s *Sample) []Claim {
			if resqueLeader(s.Key) {
				if !short(s) {
					return nil
				}
				return sure("the name of the scheduler's leader lock")
			}
			if resqueJob(s.Key) == "" {
				return nil
			}
			if _, ok := epochS(s.Value); ok || s.Value == "true" {
				return sure("a job's lock among Resque's keys, and a time or true")
			}
			return nil
		},
		Decode: resqueRead,
	})
}

// resqueLeader reports whether the key is that of the one scheduler at work.
func resqueLeader(key string) bool {
	return strings.HasSuffix(key, "resque_scheduler_master_lock") || strings.HasSuffix(key, "resque_scheduler_leader_lock")
}

// resqueJob is the job in the key of a job's or queue's lock, or "".
func resqueJob(key string) string {
	if _, job, ok := after(key, "workerslock:"); ok {
		return job
	}
	i := strings.Index(key, "resque")
	if i < 0 {
		return ""
	}
	_, job, _ := after(key[i:], "lock:")
	return job
}

func resqueRead(f *Facts) Reading {
	if resqueLeader(f.Main.Key) {
		r := token(f, Lease)
		r.Label = "resque scheduler leader"
		if host, pid, ok := hostPID(f.Main.Value, ':'); ok {
			r.Holders[0].Host, r.Holders[0].PID = host, pid
		}
		r.Note = "another scheduler takes over; this one stops scheduling at its next look"
		return r
	}
	r := nameless(Lease)
	r.Label, r.Resource = "resque job lock", resqueJob(f.Main.Key)
	r.Note = "the job goes on or stays queued; another one like it may run beside it"
	ms, ok := epochS(f.Main.Value)
	switch {
	case !ok:
		r.Weak, r.ByDesign = true, true
	case f.Main.PTTL >= 0: // node-resque: the key goes a second before its value says
	default:
		r.ByDesign = true
		r.endsAt(f, ms)
	}
	return r
}
