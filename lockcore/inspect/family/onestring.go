package family

// oneString completes a family whose lock is one string key: it looks at
// strings only, shows nothing once the key is gone, and releases by deleting
// the key if it still holds the value that was seen.
func oneString(f Family) *Family {
	f.Types = []Type{String}
	if f.Release == nil && f.NoRelease == "" {
		f.Release = releaseValue
	}
	decode := f.Decode
	f.Decode = func(facts *Facts) Reading {
		if facts.Main.Type != String {
			return Reading{NoRow: true}
		}
		return decode(facts)
	}
	return &f
}

// shapeFamily is a family of which nothing but the shape of its token tells.
func shapeFamily(id, label, looks string, shape func(value string) bool, note string) *Family {
	return oneString(Family{
		ID: id, Label: label, Looks: looks,
		Match: func(s *Sample) []Claim {
			if !shape(s.Value) {
				return nil
			}
			return shapeOnly(s, id, looks)
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Note = note
			return r
		},
	})
}

// nameless is the reading of a lock whose value names nobody: a flag, a time.
func nameless(kind Kind) Reading { return single(kind, Holder{}) }

// flagged is nameless where every holder writes the same value, so that only
// the deadline tells one acquisition from the next.
func flagged(kind Kind) Reading {
	r := nameless(kind)
	r.Weak = true
	return r
}
