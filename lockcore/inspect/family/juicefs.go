package family

import (
	"encoding/binary"
	"strconv"
	"strings"

	"fencepost/lockcore/wire"
)

// juicefs: file locks. lockf<inode> is a hash of <session>_<owner> to R or W
// (flock); lockp<inode> one of the same fields to packed ranges (fcntl);
// locked<session> is the set of keys in which a session holds any. Source:
// juicefs pkg/meta/redis_lock.go (Flock, Setlk, lastLockOfSession), utils.go.
func juicefs() *Family {
	return &Family{
		ID: "juicefs", Label: "JuiceFS",
		Types: []Type{Hash, Set},
		Looks: "a hash lockf<inode> or lockp<inode> with fields <session>_<owner>, or a set locked<session> of such keys",
		Marks: []string{"lock"},
		Named: func(key string) bool {
			return juicefsNumber(key, "lockf") || juicefsNumber(key, "lockp") || juicefsNumber(key, "locked")
		},
		Match: juicefsMatch,
		Decode: func(f *Facts) Reading {
			// A session's list may name a file whose locks are gone.
			if len(juicefsMatch(f.Main)) == 0 || f.Main.Type != Hash {
				return Reading{NoRow: true}
			}
			return juicefsDecode(f)
		},
		Release: juicefsRelease,
	}
}

// juicefsNumber reports whether a key is the mark and a number, behind the
// hash tag that a Cluster wants, if any.
func juicefsNumber(key, mark string) bool {
	at := strings.LastIndexByte(key, '}') + 1
	return strings.HasPrefix(key[at:], mark) && isDigits(key[at+len(mark):])
}

func juicefsMatch(s *Sample) []Claim {
	if s.Type == Set {
		return juicefsMatchIndex(s)
	}
	ranges := juicefsNumber(s.Key, "lockp")
	if !ranges && !juicefsNumber(s.Key, "lockf") || len(s.Pairs) == 0 {
		return nil
	}
	for _, p := range s.Pairs {
		session, owner, ok := strings.Cut(p.A, "_")
		if !ok || !isDigits(session) || owner == "" || len(owner) > 32 {
			return nil
		}
		if ranges && (len(p.B) == 0 || len(p.B)%juicefsRecord != 0) || !ranges && p.B != "R" && p.B != "W" {
			return nil
		}
	}
	return sure("sessions and owners that lock a file")
}

func juicefsMatchIndex(s *Sample) []Claim {
	if !juicefsNumber(s.Key, "locked") {
		return nil
	}
	var out []Claim
	for _, p := range s.Pairs {
		if !juicefsNumber(p.A, "lockf") && !juicefsNumber(p.A, "lockp") {
			return nil
		}
		out = append(out, partOf(p.A, Certain, "the session's list of files that it locks")...)
	}
	return out
}

// juicefsRecord is the size of one locked range: type, process, start, end.
const juicefsRecord = 24

func juicefsDecode(f *Facts) Reading {
	r := Reading{
		Label: "JuiceFS flock", Kind: RWLock, State: Held, ByDesign: true, Weak: true,
		Note: "the mount that holds it is not told; locks of sessions that died are removed by JuiceFS itself",
	}
	ranges := juicefsNumber(f.Main.Key, "lockp")
	if ranges {
		r.Label = "JuiceFS range lock"
	}
	r.Resource = "inode " + strings.TrimLeft(f.Main.Key[strings.LastIndex(f.Main.Key, "lock")+4:], "fp")
	for _, p := range f.Main.Pairs {
		session, _, _ := strings.Cut(p.A, "_")
		h := Holder{ID: wire.Raw(p.A), Mode: "read", Label: "session " + session}
		if ranges {
			h.Mode, h.PID = juicefsRanges(p.B)
		} else if p.B == "W" {
			h.Mode = "write"
		}
		r.Holders = append(r.Holders, h)
	}
	return r
}

// juicefsRanges reads packed ranges: whether any is locked for writing, and the
// process that locked the first.
func juicefsRanges(packed string) (mode string, pid int64) {
	mode = "read"
	for b := []byte(packed); len(b) >= juicefsRecord; b = b[juicefsRecord:] {
		if binary.BigEndian.Uint32(b) == 1 {
			mode = "write"
		}
		if pid == 0 {
			pid = int64(binary.BigEndian.Uint32(b[4:]))
		}
	}
	return mode, pid
}

func juicefsRelease(t *Target) []Step {
	r := wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}
	var fields []wire.Field
	for _, h := range t.Holders {
		if v, ok := t.Facts.Main.Get(string(h.ID)); ok {
			fields = append(fields, wire.Field{Name: string(h.ID), Value: v, Exact: true})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	n := strconv.Itoa(len(fields))
	return []Step{{r.HashFields(fields), "take these " + n + " owners out of the hash if they still hold the same"}}
}
