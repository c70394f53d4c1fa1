package family

import (
	"slices"
	"strings"

	"fencepost/lockcore/wire"
)

// goRedislock (jefferyjob): a string at "{name}" with the holder's token and
// its hold count at "{name}:count:<token>"; in fair mode the sorted set
// "{name}:queue" of requests by the second of the server's clock, written in
// milliseconds, which expires once nobody asks any more; as a read/write
// lock a hash with mode, rcount, r:<owner>, writer and wcount. Source:
// go-redislock lua/reentrantLock, fairLock, fairUnlock, readLock, writeLock.
func goRedislock() *Family {
	return &Family{
		ID: "go-redislock", Label: "jefferyjob/go-redislock",
		Types: []Type{String, ZSet, Hash},
		Looks: "a string at a key in braces with {name}:count:<token> beside it, the sorted set {name}:queue, " +
			"or a hash with mode and rcount or writer",
		Named: func(key string) bool {
			return braced(key) || strings.HasPrefix(key, "{") && (strings.Contains(key, goRedislockCount) || strings.HasSuffix(key, "}"+goRedislockQueue))
		},
		Part: func(key string) bool {
			return strings.Index(key, goRedislockCount) > 1 && key[0] == '{' || strings.HasSuffix(key, "}"+goRedislockQueue)
		},
		Match:   goRedislockMatch,
		Reads:   goRedislockReads,
		Decode:  goRedislockDecode,
		Release: goRedislockRelease,
	}
}

const (
	goRedislockCount = "}:count:"
	goRedislockQueue = ":queue"
)

// braced reports whether a key is a name between braces, nothing else.
func braced(key string) bool {
	return len(key) > 2 && key[0] == '{' && strings.IndexByte(key, '}') == len(key)-1
}

func goRedislockMatch(s *Sample) []Claim {
	switch s.Type {
	case Hash:
		return goRedislockMatchRW(s)
	case ZSet:
		lock, ok := strings.CutSuffix(s.Key, goRedislockQueue)
		if !ok || !braced(lock) || len(s.Pairs) == 0 || s.PTTL <= 0 {
			return nil
		}
		for _, p := range s.Pairs {
			if ms, isTime := epochMS(p.B); !isTime || !isDigits(p.B) || ms%second != 0 {
				return nil
			}
		}
		return partOf(lock, Likely, "requests in the order of their second")
	}
	if at := strings.Index(s.Key, goRedislockCount); at > 1 && s.Key[0] == '{' && isDigits(s.Value) {
		return partOf(s.Key[:at+1], Certain, "how often a token holds the lock")
	}
	if !braced(s.Key) {
		return nil
	}
	if id, ok := strings.CutPrefix(s.Value, "lock_token:"); ok && isUUID(id) {
		return sure("a token of the form lock_token:<uuid>")
	}
	if s.PTTL > 0 && s.PTTL <= hour && short(s) {
		return possibly("a short value at a key in braces")
	}
	return nil
}

func goRedislockMatchRW(s *Sample) []Claim {
	mode, _ := s.Get("mode")
	_, readers := s.Get("rcount")
	_, writer := s.Get("writer")
	if mode != "read" && mode != "write" || !readers && !writer {
		return nil
	}
	for _, p := range s.Pairs {
		switch {
		case p.A == "mode", p.A == "writer":
		case p.A == "rcount", p.A == "wcount", strings.HasPrefix(p.A, "r:"):
			if !isInt(p.B) {
				return nil
			}
		default:
			return nil
		}
	}
	return sure("mode with rcount or writer: a read/write lock")
}

func goRedislockReads(_ Claim, main *Sample) Reads {
	if main.Type == Hash || !braced(main.Key) {
		return Reads{}
	}
	keys := []string{main.Key + goRedislockQueue}
	if main.Type == String {
		keys = append(keys, main.Key+goRedislockCount[1:]+main.Value)
	}
	return Reads{Keys: keys}
}

func goRedislockDecode(f *Facts) Reading {
	switch f.Main.Type {
	case Hash:
		return goRedislockRW(f)
	case String:
		r := token(f, Mutex)
		r.Resource = strings.Trim(f.Main.Key, "{}")
		r.Weak = !strings.HasPrefix(f.Main.Value, "lock_token:")
		count := f.Key(f.Main.Key + goRedislockCount[1:] + f.Main.Value)
		r.Holders[0].Count, _ = parseInt(count.Value)
		if count.Type == String {
			r.Confidence = Certain
		}
		r.have(f, count.Key)
		goRedislockWaiters(f, &r)
		return r
	case None:
		r := Reading{Kind: Mutex, State: Free, Resource: strings.Trim(f.Main.Key, "{}")}
		goRedislockWaiters(f, &r)
		if r.Waiters == nil {
			return Reading{NoRow: true}
		}
		r.TTLKey = f.Main.Key + goRedislockQueue
		return r
	}
	return Reading{NoRow: true}
}

// goRedislockWaiters adds the queue; the holder stands in it too, at its head.
func goRedislockWaiters(f *Facts, r *Reading) {
	q := f.Key(f.Main.Key + goRedislockQueue)
	if q.Type != ZSet {
		return
	}
	r.have(f, q.Key)
	w := &Waiters{Count: q.Len, How: "queue"}
	for _, p := range q.Pairs {
		if slices.ContainsFunc(r.Holders, func(h Holder) bool { return h.ID == wire.Raw(p.A) }) {
			w.Count--
			continue
		}
		w.IDs = append(w.IDs, wire.Raw(p.A))
	}
	if w.Count > 0 || len(r.Holders) > 0 {
		r.Waiters, r.Label = w, "jefferyjob/go-redislock, fair"
	}
}

func goRedislockRW(f *Facts) Reading {
	r := Reading{Label: "jefferyjob/go-redislock, read/write", Kind: RWLock, State: Held, Weak: true}
	if writer, ok := f.Main.Get("writer"); ok {
		count, _ := f.Main.Get("wcount")
		n, _ := parseInt(count)
		r.Holders = append(r.Holders, Holder{ID: wire.Raw(writer), Count: n, Mode: "write"})
	}
	for _, p := range f.Main.Pairs {
		if owner, ok := strings.CutPrefix(p.A, "r:"); ok {
			if n, _ := parseInt(p.B); n > 0 {
				r.Holders = append(r.Holders, Holder{ID: wire.Raw(owner), Count: n, Mode: "read"})
			}
		}
	}
	if len(r.Holders) == 0 {
		return Reading{NoRow: true}
	}
	return r
}

// goRedislockRelease deletes the string with its count, and takes the holder out
// of the queue; of a read/write lock only all holders can go at once, because
// the readers are counted in one field too.
func goRedislockRelease(t *Target) []Step {
	m := t.Facts.Main
	if len(t.Holders) == 0 {
		return nil
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	if m.Type == Hash {
		if !t.All() || !m.Whole {
			return nil
		}
		var fields []wire.Field
		for _, p := range m.Pairs {
			fields = append(fields, wire.Field{Name: p.A, Value: p.B, Exact: true})
		}
		return []Step{{r.HashKey(len(fields), fields), "delete the hash if exactly these hold it, as often"}}
	}
	if !m.Whole || m.Type != String {
		return nil
	}
	count := m.Key + goRedislockCount[1:] + m.Value
	if t.Facts.Key(m.Key+goRedislockQueue).Type == ZSet {
		call := r.StringQueued(m.Value, m.Key+goRedislockQueue, count)
		return []Step{{call, "delete the key if it still holds this token, and take the holder out of the queue"}}
	}
	return []Step{{r.StringWith(m.Value, count), "delete the key and the count of its holds if it still holds this token"}}
}
