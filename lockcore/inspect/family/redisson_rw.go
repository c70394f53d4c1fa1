package family

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"fencepost/lockcore/wire"
)

// redissonHoldKeys are the timeouts of the single holds of a read lock.
func redissonHoldKeys(main *Sample) []string {
	var keys []string
	for _, p := range main.Pairs {
		id, write, ok := redissonHolder(p.A)
		if !ok || write {
			continue
		}
		n, _ := parseInt(p.B)
		for i := int64(1); i <= n && len(keys) < mostHolds; i++ {
			keys = append(keys, redissonHoldKey(main.Key, id, i))
		}
	}
	return keys
}

func redissonHoldKey(lock, id string, n int64) string {
	return redissonSuffix(lock, id) + redissonHold + strconv.FormatInt(n, 10)
}

func redissonDecodeRW(f *Facts) Reading {
	r := Reading{
		Label: "RReadWriteLock", Kind: RWLock, State: Held, Weak: true, Note: redissonNote,
		Waiters: redissonSubscribers(f, redissonRWChan),
	}
	for _, p := range f.Main.Pairs {
		id, write, ok := redissonHolder(p.A)
		if !ok {
			continue
		}
		n, _ := parseInt(p.B)
		h := redissonHolderOf(p.A, n)
		if h.Mode = "read"; write {
			h.Mode = "write"
		} else {
			redissonHoldTTL(f, &r, &h, id)
		}
		r.Holders = append(r.Holders, h)
	}
	if len(r.Holders) == 0 {
		return Reading{NoRow: true}
	}
	slices.SortStableFunc(r.Holders, func(a, b Holder) int { return -cmp.Compare(a.Mode, b.Mode) }) // the writer first
	return r
}

// redissonHoldTTL is a reader's own remaining time: that of its longest hold.
func redissonHoldTTL(f *Facts, r *Reading, h *Holder, id string) {
	for i := int64(1); i <= min(h.Count, mostHolds); i++ {
		s := f.Key(redissonHoldKey(f.Main.Key, id, i))
		if s.Type == None {
			continue
		}
		r.have(f, s.Key)
		if s.PTTL >= 0 {
			h.TTL, h.HasTTL = max(h.TTL, s.PTTL), true
		}
	}
}

// The item fields of RedissonFasterMultiLock: <item> holds the holder, and two
// more fields are named after both.
const (
	redissonExpire = ":expire_time"
	redissonCount  = ":lock_count"
)

// redissonItemField reports whether a field is the deadline of an item.
func redissonItemField(field string) bool {
	_, _, ok := redissonSplitItem(field, redissonExpire)
	return ok
}

// redissonSplitItem takes <item>:<uuid>:<thread><suffix> apart.
func redissonSplitItem(field, suffix string) (item, holder string, ok bool) {
	head, ok := strings.CutSuffix(field, suffix)
	if !ok {
		return "", "", false
	}
	at := strings.LastIndexByte(head, ':')
	if at < 38 || head[at-37] != ':' || !isUUID(head[at-36:at]) || !isInt(head[at+1:]) {
		return "", "", false
	}
	return head[:at-37], head[at-36:], true
}

// redissonDecodeItems is one hash for many items, each with a holder and a
// deadline of its own. An item past its deadline stays until somebody wants it.
func redissonDecodeItems(f *Facts) Reading {
	r := Reading{
		Label: "RedissonFasterMultiLock", Kind: Mutex, State: Held, Weak: true, Note: redissonNote,
		Waiters: redissonSubscribers(f, redissonChannel),
	}
	for _, p := range f.Main.Pairs {
		item, id, ok := redissonSplitItem(p.A, redissonExpire)
		if owner, there := f.Main.Get(item); !ok || !there || owner != id {
			continue
		}
		count, _ := f.Main.Get(item + ":" + id + redissonCount)
		n, _ := parseInt(count)
		redissonAddItem(f, &r, id, item, n, p.B)
	}
	r.expireTogether(f)
	return r
}

// redissonAddItem adds an item to its holder, who is one however many it has.
func redissonAddItem(f *Facts, r *Reading, id, item string, n int64, deadline string) {
	i := slices.IndexFunc(r.Holders, func(h Holder) bool { return h.ID == wire.Raw(id) })
	if i < 0 {
		h := redissonHolderOf(id, 1)
		h.Label += ", item " + item
		r.Holders = append(r.Holders, h)
		i = len(r.Holders) - 1
	} else if h := &r.Holders[i]; len(h.Label) < 120 {
		h.Label += ", " + item
	}
	h := &r.Holders[i]
	h.Count = max(h.Count, n)
	if ms, ok := epochMS(deadline); ok {
		left := ms - f.NowMS()
		if !h.HasTTL || left > h.TTL {
			h.until(f, ms)
		}
	}
}
