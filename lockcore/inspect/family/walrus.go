package family

import (
	"unicode/utf8"

	"fencepost/lockcore/wire"
)

// walrus holds 32 raw random bytes under lock:NAME; who waits blocks on the list
// lock.event:NAME, which always keeps one element of the last release (walrus/
// lock.py, scripts/lock_*.lua).
func walrus() *Family {
	return &Family{
		ID: "walrus", Label: "walrus Lock", Types: []Type{String, List},
		Looks: "32 raw bytes under lock:, or the list lock.event: beside it",
		Part:  beside("lock.event:"),
		Match: func(s *Sample) []Claim {
			if s.Type == List {
				if prefix, name, ok := after(s.Key, "lock.event:"); ok {
					return partOf(prefix+"lock:"+name, Certain, "the list that wakes who waits")
				}
				return nil
			}
			if len(s.Value) != 32 || utf8.ValidString(s.Value) {
				return nil
			}
			if _, _, ok := after(s.Key, "lock:"); !ok {
				return nil
			}
			return sure("lock: and 32 raw bytes")
		},
		Reads: func(_ Claim, main *Sample) Reads { return Reads{Keys: []string{eventOf(main.Key)}} },
		Decode: func(f *Facts) Reading {
			if f.Main.Type != String {
				return Reading{NoRow: true} // the last release left its element
			}
			r := token(f, Mutex)
			r.ByDesign = true
			r.Resource = rest(f.Main.Key, "lock:")
			r.Note = "the holder works on; its release finds that the lock is another's and does nothing"
			r.have(f, eventOf(f.Main.Key))
			return r
		},
		Release: func(t *Target) []Step {
			wake := wire.Wake{Verb: wire.WakeReset, Target: eventOf(t.Facts.Main.Key), Message: "1"}
			return releaseValueWith(t, wake, "delete the key if it still holds these bytes, and put one element on the list that the waiters block on")
		},
	}
}

func eventOf(key string) string {
	prefix, name, _ := after(key, "lock:")
	return prefix + "lock.event:" + name
}
