package family

// arq marks a job as being run: arq:in-progress:ID, which holds 1 (arq/worker.py).
func arq() *Family {
	const mark = "arq:in-progress:"
	return oneString(Family{
		ID: "arq", Label: "arq job in progress",
		Looks: "the name arq:in-progress:, and 1",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || s.Value != "1" {
				return nil
			}
			return sure("the name arq:in-progress:, and 1")
		},
		Decode: func(f *Facts) Reading {
			r := flagged(Lease)
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "the job may be run a second time while the first run goes on"
			return r
		},
	})
}
