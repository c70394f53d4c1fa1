package inspect

import (
	"context"
	"errors"
	"strings"

	"fencepost/lockcore/inspect/family"
)

// fullRows is up to how many locks are kept with all that a plan is made from.
const fullRows = 2000

// slimmer makes large lists small: what many locks say alike is kept once, and
// beyond fullRows a lock is kept without what it was read from.
type slimmer struct {
	lists map[string][]string
	warns map[string][]family.Warning
	texts map[string]string
}

// mostAlike bounds what is kept to be shared.
const mostAlike = 1000

// take slims a lock that nobody else has yet.
func (s *slimmer) take(l *Lock, rows int) {
	if rows > fullRows {
		l.source = nil
	}
	l.Note = shared(&s.texts, l.Note, func() string { return l.Note })
	if len(l.Candidates) > 0 {
		l.Candidates = shared(&s.lists, strings.Join(l.Candidates, " "), func() []string { return l.Candidates })
	}
	if len(l.Warnings) > 0 {
		key := ""
		for _, w := range l.Warnings {
			key += w.Code + "\x00" + w.Text + "\x00"
		}
		l.Warnings = shared(&s.warns, key, func() []family.Warning { return l.Warnings })
	}
}

// shared returns the value that was first seen under a key.
func shared[T any](have *map[string]T, key string, value func() T) T {
	if v, ok := (*have)[key]; ok {
		return v
	}
	if *have == nil {
		*have = map[string]T{}
	}
	v := value()
	if len(*have) < mostAlike {
		(*have)[key] = v
	}
	return v
}

// ErrChanged says that a lock is not any more as it was seen.
var ErrChanged = errors.New("inspect: the lock has changed since it was seen")

// Whole returns a lock with all that a plan is made from. In a list of thousands
// that is read again now: if other holders hold it than the row says, the error
// is ErrChanged and the lock is as it is now; gone, it is an empty Lock.
func (f *Follower) Whole(ctx context.Context, in *Inspector, w *Watched) (Lock, error) {
	if w.source != nil {
		return w.Lock, nil
	}
	locks, err := in.Look(ctx, w.DB, string(w.Key))
	if err != nil {
		return Lock{}, err
	}
	for _, l := range locks {
		if l.Node != w.Node || l.Field != w.Field || l.HasField != w.HasField {
			continue
		}
		if !alike(&w.Lock, &l) {
			return l, ErrChanged
		}
		return l, nil
	}
	return Lock{}, ErrChanged
}

// alike reports whether two looks show the same holders, all of them.
func alike(a, b *Lock) bool {
	if len(a.Holders) != len(b.Holders) {
		return false
	}
	have := map[family.Holder]int{}
	for _, h := range a.Holders {
		have[family.Holder{ID: h.ID, Mode: h.Mode}]++
	}
	for _, h := range b.Holders {
		if have[family.Holder{ID: h.ID, Mode: h.Mode}]--; have[family.Holder{ID: h.ID, Mode: h.Mode}] < 0 {
			return false
		}
	}
	return true
}
