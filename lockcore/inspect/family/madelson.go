package family

import (
	"slices"
	"strings"

	"fencepost/lockcore/wire"
)

// madelson: DistributedLock.Redis. A holder is <machine>_<process>_<32 hex>. A
// mutex is a string; a read/write lock the set <name>.readers and the string
// <name>.writer, in which a writer that waits puts its id with a suffix; a
// semaphore a sorted set with deadlines in milliseconds. Source: DistributedLock
// RedLockHelper (CreateLockId), Primitives/*.cs, RedLockHandle.
func madelson() *Family {
	return &Family{
		ID: "madelson", Label: "DistributedLock.Redis",
		Types: []Type{String, Set, ZSet},
		Looks: "ids <machine>_<process>_<32 hex> in a string, in a set <name>.readers, or with deadlines in a sorted set",
		Marks: []string{madelsonReaders, madelsonWriter},
		Named: func(key string) bool {
			return strings.HasSuffix(key, madelsonReaders) || strings.HasSuffix(key, madelsonWriter)
		},
		Match:   madelsonMatch,
		Reads:   madelsonReads,
		Decode:  madelsonDecode,
		Release: madelsonRelease,
	}
}

const (
	madelsonReaders = ".readers"
	madelsonWriter  = ".writer"
	madelsonWaiting = "_WRITERWAITING"
)

// madelsonID takes <machine>_<process>_<32 hex> apart.
func madelsonID(id string) (host string, pid int64, ok bool) {
	n := len(id)
	if n < 36 || n > 400 || id[n-33] != '_' || !isHex(id[n-32:], 32) {
		return "", 0, false
	}
	head := id[:n-33]
	at := strings.LastIndexByte(head, '_')
	if at <= 0 {
		return "", 0, false
	}
	pid, ok = parseInt(head[at+1:])
	return head[:at], pid, ok && pid >= 0
}

func madelsonHolder(id, mode string) Holder {
	host, pid, _ := madelsonID(id)
	return Holder{ID: wire.Raw(id), Host: host, PID: pid, Mode: mode}
}

func madelsonMatch(s *Sample) []Claim {
	if s.Type == String {
		id, waiting := strings.CutSuffix(s.Value, madelsonWaiting)
		if _, _, ok := madelsonID(id); !ok {
			return nil
		}
		if base, ok := strings.CutSuffix(s.Key, madelsonWriter); ok && waiting {
			return partOf(base+madelsonReaders, Certain, "a writer that waits for the readers")
		}
		const why = "<machine>_<process>_<32 hex>"
		switch {
		case waiting, s.PTTL > 0 && s.PTTL <= hour, SmellsLikeLock(s.Key):
			return sure(why)
		case nameHint(s.Key) == neutral:
			return likely(why)
		}
		return possibly(why)
	}
	for _, p := range s.Pairs {
		if _, _, ok := madelsonID(p.A); !ok {
			return nil
		}
		if _, isTime := epochMS(p.B); s.Type == ZSet && !isTime {
			return nil
		}
	}
	if len(s.Pairs) == 0 || s.Type == Set && !strings.HasSuffix(s.Key, madelsonReaders) {
		return nil
	}
	return sure("members <machine>_<process>_<32 hex>")
}

func madelsonReads(_ Claim, main *Sample) Reads {
	if base, ok := strings.CutSuffix(main.Key, madelsonReaders); ok {
		return Reads{Keys: []string{base + madelsonWriter}}
	}
	return Reads{}
}

func madelsonDecode(f *Facts) Reading {
	r := Reading{Kind: Mutex, State: Held, Note: "its holder learns at its next renewal, within a third of the lease: HandleLostToken is signalled"}
	base, readers := strings.CutSuffix(f.Main.Key, madelsonReaders)
	switch {
	case f.Main.Type == ZSet:
		return madelsonSemaphore(f, r)
	case readers:
		return madelsonReadersOf(f, r, base)
	case f.Main.Type != String:
		return Reading{NoRow: true}
	}
	r.Holders = []Holder{madelsonHolder(f.Main.Value, "")}
	if name, ok := strings.CutSuffix(f.Main.Key, madelsonWriter); ok {
		r.Label, r.Kind, r.Resource = "DistributedLock.Redis read/write", RWLock, name
		r.Holders[0].Mode = "write"
	}
	return r
}

func madelsonReadersOf(f *Facts, r Reading, base string) Reading {
	r.Label, r.Kind, r.Resource = "DistributedLock.Redis read/write", RWLock, base
	for _, p := range f.Main.Pairs {
		r.Holders = append(r.Holders, madelsonHolder(p.A, "read"))
	}
	r.Waiters = &Waiters{How: "key"}
	writer := f.Key(base + madelsonWriter)
	if id, waiting := strings.CutSuffix(writer.Value, madelsonWaiting); waiting {
		r.Waiters.Count, r.Waiters.IDs = 1, []wire.Raw{wire.Raw(id)}
		r.have(f, writer.Key)
	}
	switch {
	case len(r.Holders) > 0:
	case r.Waiters.Count > 0:
		r.State, r.TTLKey = Free, writer.Key
	default:
		return Reading{NoRow: true}
	}
	return r
}

func madelsonSemaphore(f *Facts, r Reading) Reading {
	r.Label, r.Kind = "DistributedLock.Redis semaphore", Semaphore
	for _, p := range f.Main.Pairs {
		h := madelsonHolder(p.A, "")
		if ms, ok := epochMS(p.B); ok {
			h.until(f, ms)
		}
		r.Holders = append(r.Holders, h)
	}
	r.expireTogether(f)
	return r
}

func madelsonRelease(t *Target) []Step {
	m := t.Facts.Main
	if m.Type == String || len(t.Holders) == 0 {
		return releaseValue(t)
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	call := r.Members(wire.Members{Set: m.Type == Set, Seen: holderIDs(slices.Clone(t.Holders))})
	return []Step{{call, "take these holders out"}}
}
