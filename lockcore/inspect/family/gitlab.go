package family

import "strings"

// gitlab is GitLab's ExclusiveLease: gitlab:exclusive_lease: and a UUID. Many
// are never cancelled: they keep work from being repeated too soon, those of
// el:throttle: always (lib/gitlab/exclusive_lease.rb).
func gitlab() *Family {
	const mark = "gitlab:exclusive_lease:"
	return oneString(Family{
		ID: "gitlab", Label: "GitLab ExclusiveLease",
		Looks: "a UUID under gitlab:exclusive_lease:",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || !isUUID(s.Value) {
				return nil
			}
			return sure("gitlab:exclusive_lease: and a UUID")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, mark)
			r.Note = "work that this lease keeps apart, or keeps from being repeated, may be done twice"
			if strings.Contains(r.Resource, "el:throttle:") {
				r.Kind, r.State = Lease, Cooling
			}
			return r
		},
	})
}
