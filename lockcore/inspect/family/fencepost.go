package family

import (
	"slices"
	"strings"

	"fencepost/lockcore/wire"
)

// fencepost: this project's own lock (lockcore). Everything about it is known:
// wire has its keys, its value and its scripts.
func fencepost() *Family {
	return &Family{
		ID: "fencepost", Label: "fencepost",
		Types: []Type{String, ZSet, Hash},
		Looks: "a string <token>:<fence>:since=… at <prefix>{<name>}, and the keys :fence, :queue, :alive and :dead:… beside it",
		Marks: []string{wire.DefaultPrefix, "}:fence", "}:queue", "}:alive", "}:dead:"},
		Named: func(key string) bool {
			_, _, part, ok := wire.SplitKey(key)
			return ok && (part != wire.PartLock || strings.HasPrefix(key, wire.DefaultPrefix))
		},
		Part: func(key string) bool {
			_, _, part, ok := wire.SplitKey(key)
			return ok && part != wire.PartLock
		},
		Match:   fencepostMatch,
		Reads:   fencepostReads,
		Decode:  fencepostDecode,
		Release: fencepostRelease,
	}
}

// The times that a force-release of our own lock needs: how long an evicted
// token stays forbidden, and how long the waiter that is called has to come.
const (
	fencepostDeadMS   = 60_000
	fencepostWindowMS = 2_000
)

func fencepostMatch(s *Sample) []Claim {
	prefix, name, part, ok := wire.SplitKey(s.Key)
	if !ok {
		return nil
	}
	lock := prefix + "{" + name + "}"
	switch {
	case part == wire.PartLock && s.Type == String:
		if _, ok := wire.ParseValue(s.Value); ok || !s.Whole && strings.Contains(s.Value, ":since=") {
			return sure("a value that lockcore writes")
		}
	case part == wire.PartCounter && s.Type == String && wire.ValidFence(s.Value):
		return partOf(lock, Likely, "a fence counter")
	case part == wire.PartQueue && s.Type == ZSet && fencepostTokens(s):
		return partOf(lock, Likely, "the tokens of those who wait")
	case part == wire.PartAlive && s.Type == Hash && fencepostTokens(s):
		return partOf(lock, Certain, "until when each waiter is waited for")
	case part == wire.PartDead && s.Type == String && (s.Value == "0" || s.Value == "1" || s.Value == "-1"):
		return partOf(lock, Certain, "a token that is forbidden")
	}
	return nil
}

// fencepostTokens reports whether the entries are lockcore's tokens, and in a
// hash their deadlines.
func fencepostTokens(s *Sample) bool {
	for _, p := range s.Pairs {
		if s.Type == Hash {
			if _, _, ok := wire.ParseWaiter(p.B); !ok {
				return false
			}
		} else if !isDigits(p.B) || len(p.A) != wire.TokenLen {
			return false
		}
	}
	return len(s.Pairs) > 0
}

// fencepostKeys are the keys of the lock at this key.
func fencepostKeys(key string) (wire.Keys, bool) {
	prefix, name, _, ok := wire.SplitKey(key)
	if !ok {
		return wire.Keys{}, false
	}
	k, err := wire.NewKeys(prefix, name)
	return k, err == nil
}

func fencepostReads(_ Claim, main *Sample) Reads {
	k, ok := fencepostKeys(main.Key)
	if !ok {
		return Reads{}
	}
	return Reads{Keys: []string{k.Counter, k.Queue, k.Alive}, Channels: []string{k.Channel(main.DB)}}
}

func fencepostDecode(f *Facts) Reading {
	k, ok := fencepostKeys(f.Main.Key)
	if !ok {
		return Reading{NoRow: true}
	}
	r := Reading{Kind: Mutex, State: Free, FenceKey: k.Counter}
	if v, ok := wire.ParseValue(f.Main.Value); ok && f.Main.Type == String {
		r = single(Mutex, Holder{
			ID: wire.Raw(v.Token), Label: wire.Clean(v.Label), Host: wire.Clean(v.Host), PID: v.PID, Since: v.Since,
		})
		r.Fence, r.FenceKey = v.Fence, k.Counter
		r.Note = "the evicted holder is behind the fence from now on: guarded writes refuse it, and its lease ends at its next renewal"
	}
	_, r.Resource, _, _ = wire.SplitKey(f.Main.Key)
	r.have(f, k.Counter, k.Queue, k.Alive)
	fencepostQueue(f, &r, k)
	if n, ok := f.Subs[k.Channel(f.DB)]; ok && r.Waiters == nil && r.State == Held {
		r.Waiters = &Waiters{Count: n, How: "pubsub"} // one for each process in which somebody waits
	}
	switch {
	case r.State == Held:
	case r.Waiters == nil:
		return Reading{NoRow: true}
	default:
		r.FenceKey, r.TTLKey = "", k.Queue
		r.NoRelease = "nobody holds it"
	}
	return r
}

// fencepostQueue adds the queue of a fair lock, without those whose time is
// over: they are passed over.
func fencepostQueue(f *Facts, r *Reading, k wire.Keys) {
	queue, alive := f.Key(k.Queue), f.Key(k.Alive)
	if queue.Type != ZSet {
		return
	}
	w := &Waiters{How: "queue"}
	for _, p := range queue.Pairs {
		entry, there := alive.Get(p.A)
		deadline, _, ok := wire.ParseWaiter(entry)
		if there && ok && deadline.Before(f.Now) {
			continue
		}
		w.IDs = append(w.IDs, wire.Raw(p.A))
	}
	w.Count = int64(len(w.IDs)) + max(0, queue.Len-int64(len(queue.Pairs)))
	if w.Count > 0 {
		r.Waiters = w
	}
}

// fencepostRelease ends the lock, forbids its token, and raises the fence above
// the evicted holder's: the one library whose counter may be touched, because
// it is made for that.
func fencepostRelease(t *Target) []Step {
	k, ok1 := fencepostKeys(t.Facts.Main.Key)
	v, ok2 := wire.ParseValue(t.Facts.Main.Value)
	if !ok1 || !ok2 || len(t.Holders) == 0 || !slices.Contains(holderIDs(t.Holders), v.Token) {
		return nil
	}
	r := wire.Release{Guard: t.Guard}
	call := r.ForceRelease(k, v, wire.Fair{WindowMS: fencepostWindowMS, Channel: k.Channel(t.Facts.DB)}, fencepostDeadMS)
	return []Step{{call, "delete the lock if this token still has it, forbid the token, raise the fence above it, tell the next waiter"}}
}
