package family

import "strings"

// medusa is Medusa's locking-redis: medusa_lock: and a name; the value is the
// owner's id, or * for nobody in particular; newer versions also execute: and a UUID.
// Without a timeout there is no expiry (services/redis-lock).
func medusa() *Family {
	const mark = "medusa_lock:"
	return oneString(Family{
		ID: "medusa", Label: "Medusa lock",
		Looks: "an owner, or *, under medusa_lock:",
		Marks: []string{mark},
		Match: func(s *Sample) []Claim {
			if _, _, ok := after(s.Key, mark); !ok || !short(s) {
				return nil
			}
			return sure("the name medusa_lock:")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.ByDesign, r.Resource = true, rest(f.Main.Key, mark)
			r.Weak = !strings.HasPrefix(f.Main.Value, "execute:")
			if f.Main.Value == "*" {
				r.Holders[0].Label = "anonymous: any caller without an owner may release it"
			}
			r.Note = "the holder works on; its release does nothing"
			return r
		},
	})
}
