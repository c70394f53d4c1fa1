package family

import (
	"slices"
	"strconv"
	"strings"

	"fencepost/lockcore/wire"
)

// Redis::funnel takes NAME1 to NAMEn, one string for each permit that is taken,
// 20 random letters and digits (Illuminate Redis/Limiters/ConcurrencyLimiter).
// How many there may be is not stored. The lock is that of the first slot.

// laravelSlot claims one slot.
func laravelSlot(s *Sample) []Claim {
	base, n := funnelSlot(s.Key)
	if n == 0 || s.PTTL < 0 || laravelPrefix(s.Key) > Unlikely || !isAlnum(s.Value, 20) || !looksRandom(s.Value) {
		return nil
	}
	c := Claim{Lock: base + "1", Companion: n != 1, Confidence: Possible, Why: "20 random letters and digits, and the number of a slot"}
	if low := strings.ToLower(base); strings.Contains(low, "laravel") || strings.Contains(low, "database") {
		c.Confidence = Likely
	}
	return []Claim{c}
}

// laravelFunnel reports whether the lock at a key is a funnel's.
func laravelFunnel(main *Sample) bool {
	_, n := funnelSlot(main.Key)
	return n == 1 && laravelPrefix(main.Key) == Unlikely && laravelUse(main.Key).label == "" &&
		(main.Type == None || isAlnum(main.Value, 20))
}

func laravelFunnelRead(f *Facts) Reading {
	r := Reading{Label: "Laravel Redis::funnel", Kind: Semaphore, State: Held, Note: "the holder works on; its release does nothing"}
	r.Resource = strings.TrimSuffix(f.Main.Key, "1")
	var longest int64 = -1
	for _, s := range funnelTaken(f) {
		r.Holders = append(r.Holders, Holder{ID: wire.Raw(s.Value), Label: "slot " + s.Key[len(r.Resource):],
			TTL: s.PTTL, HasTTL: s.PTTL >= 0})
		if s != f.Main {
			r.Companions = append(r.Companions, s.Key)
		}
		if s.PTTL > longest {
			longest, r.TTLKey = s.PTTL, s.Key
		}
	}
	r.NoRow = len(r.Holders) == 0
	return r
}

func laravelFunnelRelease(t *Target) []Step {
	var slots []wire.Pair
	for _, s := range funnelTaken(t.Facts) {
		if slices.ContainsFunc(t.Holders, func(h Holder) bool { return string(h.ID) == s.Value }) {
			slots = append(slots, wire.Pair{Name: s.Key, Value: s.Value})
		}
	}
	if len(slots) == 0 {
		return nil
	}
	r := wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}
	return []Step{{r.Slots(slots...), "delete the slots if they still hold these tokens"}}
}

// maxFunnel is how many slots of a funnel are looked at.
const maxFunnel = 32

// funnelSlot splits the number of a slot off a key; 0 where there is none.
func funnelSlot(key string) (base string, n int64) {
	i := len(key)
	for i > 0 && len(key)-i < 2 && key[i-1] >= '0' && key[i-1] <= '9' {
		i--
	}
	if i == len(key) || i == 0 || key[i] == '0' {
		return "", 0
	}
	n, _ = parseInt(key[i:])
	if n > maxFunnel {
		return "", 0
	}
	return key[:i], n
}

// funnelKeys are the keys of a funnel, by that of its first slot.
func funnelKeys(first string) []string {
	base := strings.TrimSuffix(first, "1")
	out := make([]string, maxFunnel)
	for i := range out {
		out[i] = base + strconv.Itoa(i+1)
	}
	return out
}

// funnelTaken are the slots of a funnel that somebody has.
func funnelTaken(f *Facts) []*Sample {
	out := []*Sample{f.Main}
	for _, key := range funnelKeys(f.Main.Key)[1:] {
		out = append(out, f.Key(key))
	}
	return slices.DeleteFunc(out, func(s *Sample) bool { return s.Type != String || !isAlnum(s.Value, 20) })
}
