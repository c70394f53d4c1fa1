package family

import "strings"

// celerySingleton keeps one task of its kind: SINGLETONLOCK_ and an MD5; the
// value is the task's id (celery_singleton/util.py). It has no expiry unless
// lock_expiry is set.
func celerySingleton() *Family {
	const mark = "SINGLETONLOCK_"
	return oneString(Family{
		ID: "celery-singleton", Label: "celery-singleton task",
		Looks: "a task id (a UUID) under SINGLETONLOCK_ and 32 hexadecimal digits",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			i := strings.Index(s.Key, mark)
			if i < 0 || !isHex(s.Key[i+len(mark):], 32) || !short(s) {
				return nil
			}
			if !isUUID(s.Value) {
				return likely("SINGLETONLOCK_ and an MD5")
			}
			return sure("SINGLETONLOCK_, an MD5 and a task id")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Lease)
			r.Holders[0].Label = "task " + f.Main.Value
			r.ByDesign = true
			r.Note = "the task itself stays queued or goes on; another one of its kind may start beside it"
			return r
		},
	})
}
