package family

import "strings"

// discourse is Discourse's DistributedMutex: the second at which it ends, under
// a key that begins with the site's database; the key expires one second later
// (lib/distributed_mutex.rb).
func discourse() *Family {
	return oneString(Family{
		ID: "discourse", Label: "Discourse DistributedMutex",
		Looks: "a second, one to two seconds before the key expires, under database:name",
		Match: func(s *Sample) []Claim {
			ms, ok := epochS(s.Value)
			if !ok || len(s.Value) != 10 || s.PTTL <= 0 || s.NowMS == 0 {
				return nil
			}
			db, name, ok := strings.Cut(s.Key, ":")
			over := s.PTTL - (ms - s.NowMS)
			switch {
			case !ok || db == "" || name == "":
				return nil
			case db == "default" && over > -second && over < 3*second:
				return likely("default: and the second before the key expires")
			case over < 800 || over > 2200:
				return nil
			}
			return nearUnique(s, "the second before the key expires")
		},
		Decode: func(f *Facts) Reading {
			r := nameless(Mutex)
			_, r.Resource, _ = strings.Cut(f.Main.Key, ":")
			r.Note = "the holder works on, and reports at its end that the mutex was taken over"
			if ms, ok := epochS(f.Main.Value); ok {
				r.endsAt(f, ms)
			}
			return r
		},
	})
}
