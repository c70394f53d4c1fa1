package family

import "fencepost/lockcore/wire"

// rq elects one scheduler for each queue, rq:scheduler-lock:QUEUE, whose value
// is the scheduler's name, or its process id in older versions (rq/scheduler.py),
// and lets one worker clean the registries, rq:clean_registries:QUEUE (rq/queue.py).
func rq() *Family {
	const leader, gate = "rq:scheduler-lock:", "rq:clean_registries:"
	return oneString(Family{
		ID: "rq", Label: "rq lock",
		Looks: "the names rq:scheduler-lock: and rq:clean_registries:",
		Marks: []string{leader, gate},
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, leader); ok && short(s) {
				return sure("the name rq:scheduler-lock:")
			}
			if _, _, ok := after(s.Key, gate); ok && s.Value == "1" {
				return sure("the name rq:clean_registries:, and 1")
			}
			return nil
		},
		Reads: func(_ Claim, main *Sample) Reads {
			if !isHex(main.Value, 32) {
				return Reads{}
			}
			key := "rq:scheduler:" + main.Value
			return Reads{Fields: []FieldRef{{key, "hostname"}, {key, "pid"}}}
		},
		Decode: func(f *Facts) Reading {
			if _, queue, ok := after(f.Main.Key, gate); ok {
				r := flagged(Lease)
				r.Label, r.Resource = "rq maintenance lock", queue
				r.Note = "another worker may clean the queue's registries too"
				return r
			}
			r := token(f, Lease)
			r.Label, r.Resource = "rq scheduler lock", rest(f.Main.Key, leader)
			r.Note = "another scheduler takes the queue; this one goes on scheduling it too"
			h := &r.Holders[0]
			if pid, ok := parseInt(f.Main.Value); ok {
				h.PID, h.Label = pid, "process "+f.Main.Value
			}
			key := "rq:scheduler:" + f.Main.Value
			h.Host = wire.Clean(f.Fields[FieldRef{key, "hostname"}])
			if pid, ok := parseInt(f.Fields[FieldRef{key, "pid"}]); ok {
				h.PID = pid
			}
			return r
		},
	})
}
