package family

import (
	"slices"
	"strings"

	"fencepost/lockcore/wire"
)

// rubySemaphore is dv's redis-semaphore: SEMAPHORE:NAME:GRABBED is a hash of the
// permits in use with the times they were taken, :AVAILABLE the list of those
// that are free, on which who waits blocks, :EXISTS and :VERSION say that it was
// set up. Under redis-namespace the prefix SEMAPHORE: is missing. Who has a
// permit is not recorded (lib/redis/semaphore.rb).
func rubySemaphore() *Family {
	return &Family{
		ID: "redis-semaphore-ruby", Label: "redis-semaphore (Ruby)", Types: []Type{Hash, List, String},
		Looks: "a hash NAME:GRABBED of permit numbers and times, with NAME:AVAILABLE, NAME:EXISTS and NAME:VERSION",
		Marks: []string{"SEMAPHORE:", ":GRABBED"},
		Part:  func(key string) bool { return len(rubySemaphorePart(&Sample{Key: key})) > 0 },
		Match: func(s *Sample) []Claim {
			if s.Type != Hash {
				return rubySemaphorePart(s)
			}
			if !strings.HasSuffix(s.Key, ":GRABBED") || len(s.Pairs) == 0 {
				return nil
			}
			for _, p := range s.Pairs {
				if _, ok := epochS(p.B); !ok {
					return nil
				}
			}
			return sure("GRABBED, and permits with times")
		},
		Reads: func(_ Claim, main *Sample) Reads {
			base := strings.TrimSuffix(main.Key, ":GRABBED")
			return Reads{Keys: []string{base + ":AVAILABLE", base + ":EXISTS", base + ":VERSION"}}
		},
		Decode:  rubySemaphoreRead,
		Release: rubySemaphoreRelease,
	}
}

func rubySemaphorePart(s *Sample) []Claim {
	for _, part := range [...]string{":AVAILABLE", ":EXISTS", ":VERSION"} {
		if base, ok := strings.CutSuffix(s.Key, part); ok && strings.Contains(base, "SEMAPHORE:") {
			return partOf(base+":GRABBED", Certain, "a part of a semaphore")
		}
	}
	return nil
}

func rubySemaphoreRead(f *Facts) Reading {
	base := strings.TrimSuffix(f.Main.Key, ":GRABBED")
	if f.Main.Type != Hash {
		return Reading{NoRow: true} // set up, and all permits free
	}
	free := f.Key(base + ":AVAILABLE").Len
	r := Reading{Kind: Semaphore, State: Held, ByDesign: true, Resource: rest(base, "SEMAPHORE:"),
		Permits: &Permits{Free: free, Limit: free + f.Main.Len},
		Note:    "the holder works on and gives its permit back a second time at its end: then there is one too many"}
	for _, p := range f.Main.Pairs {
		h := Holder{Label: rubyPermit(p.A)}
		if ms, ok := epochS(p.B); ok {
			h.Since = sinceMS(f, ms)
		}
		r.Holders = append(r.Holders, h)
	}
	r.have(f, base+":AVAILABLE", base+":EXISTS", base+":VERSION")
	return r
}

// rubyPermit is what a holder is called, of whom nothing but the permit is known.
func rubyPermit(number string) string { return "permit " + wire.Escape(number) }

func rubySemaphoreRelease(t *Target) []Step {
	m := t.Facts.Main
	var permits []wire.Pair
	for _, p := range m.Pairs {
		if slices.ContainsFunc(t.Holders, func(h Holder) bool { return h.Label == rubyPermit(p.A) }) {
			permits = append(permits, wire.Pair{Name: p.A, Value: p.B})
		}
	}
	if len(permits) == 0 {
		return nil
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	free := strings.TrimSuffix(m.Key, ":GRABBED") + ":AVAILABLE"
	return []Step{{r.Back(free, permits...), "put the permits back onto the list that the waiters block on"}}
}
