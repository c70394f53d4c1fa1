package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// A job's lock in Bull and BullMQ is a string prefix:queue:id:lock beside the
// job's hash, of the same name without :lock. Bull writes one UUID for each
// Queue object, BullMQ the worker's UUID and a number that grows with each job
// it takes (bull lib/commands, bullmq src/commands; both 30 s, renewed at 15).

const bullNote = "the worker goes on with the job; the next checks for stalled jobs put it back into the queue, so that it runs a second time, and the first worker cannot complete it any more"

// bull claims only keys that name it: its token is a bare UUID.
func bull() *Family {
	return bullFamily(Family{
		ID: "bull", Label: "Bull job",
		Looks: "a random UUID under bull:queue:id:lock",
		Match: func(s *Sample) []Claim {
			if !isUUID4(s.Value) || !bullKey(s.Key) {
				return nil
			}
			if _, _, ok := after(s.Key, "bull:"); !ok && !strings.Contains(s.Key, "{bull}:") {
				return nil
			}
			return sure("bull, :lock, and a UUID")
		},
	})
}

// bullMQ has a token that nothing else has at such a key.
func bullMQ() *Family {
	return bullFamily(Family{
		ID: "bullmq", Label: "BullMQ job",
		Looks: "a random UUID, a colon and a small number under prefix:queue:id:lock",
		Match: func(s *Sample) []Claim {
			if len(s.Value) < 38 || len(s.Value) > 36+1+10 || s.Value[36] != ':' ||
				!isUUID4(s.Value[:36]) || !isDigits(s.Value[37:]) || !bullKey(s.Key) {
				return nil
			}
			return sure(":lock, and a worker's UUID and number")
		},
	})
}

// bullKey reports whether a key has the form prefix:queue:id:lock.
func bullKey(key string) bool {
	job, ok := strings.CutSuffix(key, ":lock")
	return ok && strings.Count(job, ":") >= 2
}

func bullFamily(fam Family) *Family {
	fam.Reads = func(_ Claim, main *Sample) Reads {
		job := strings.TrimSuffix(main.Key, ":lock")
		var r Reads
		for _, name := range [...]string{"name", "processedOn", "pb"} {
			r.Fields = append(r.Fields, FieldRef{job, name})
		}
		return r
	}
	fam.Decode = func(f *Facts) Reading {
		job := strings.TrimSuffix(f.Main.Key, ":lock")
		r := token(f, Lease)
		r.Resource, r.Note = job, bullNote
		h := &r.Holders[0]
		var words []string
		if worker := f.Fields[FieldRef{job, "pb"}]; worker != "" {
			words = append(words, "worker "+wire.Clean(worker))
		}
		if name := f.Fields[FieldRef{job, "name"}]; name != "" {
			words = append(words, "job "+wire.Clean(name))
		}
		h.Label = strings.Join(words, ", ")
		if ms, ok := epochMS(f.Fields[FieldRef{job, "processedOn"}]); ok {
			h.Since = sinceMS(f, ms)
		}
		return r
	}
	return oneString(fam)
}
