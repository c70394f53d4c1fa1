package family

// activeJobUniqueness is built on redlock-rb: activejob_uniqueness:job_class:
// and the MD5 of the arguments, or no_arguments (lib/active_job/uniqueness/lock_key.rb).
func activeJobUniqueness() *Family {
	const mark = "activejob_uniqueness:"
	return oneString(Family{
		ID: "activejob-uniqueness", Label: "activejob-uniqueness",
		Looks: "a UUID under activejob_uniqueness:",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || !isUUID(s.Value) {
				return nil
			}
			return sure("activejob_uniqueness: and a UUID")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Lease)
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "the job stays queued or goes on; the same job can be queued beside it"
			return r
		},
	})
}
