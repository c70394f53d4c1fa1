package family

import "strings"

// beeQueue has no locks on jobs, only a gate that keeps all but one from
// looking for stalled jobs: bq:QUEUE:stallBlock (lib/lua/checkStalledJobs.lua).
func beeQueue() *Family {
	const mark = ":stallBlock"
	return oneString(Family{
		ID: "bee-queue", Label: "Bee-Queue stall check",
		Looks: "1 under a key that ends in :stallBlock",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			if s.Value != "1" || !strings.HasSuffix(s.Key, mark) {
				return nil
			}
			return sure(":stallBlock and 1")
		},
		Decode: func(f *Facts) Reading {
			r := flagged(Lease)
			r.Resource = strings.TrimSuffix(f.Main.Key, mark)
			r.Note = "harmless: the next check for stalled jobs may come a little sooner"
			return r
		},
	})
}
