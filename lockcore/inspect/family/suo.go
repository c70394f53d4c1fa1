package family

import (
	"encoding/binary"
	"math"

	"fencepost/lockcore/wire"
)

// suo keeps all holders of a lock in one string: a MessagePack array of pairs of
// the second at which the token was taken or refreshed, and the token
// (lib/suo/client/base.rb). The string never expires; tokens older than the
// client's stale_lock_expiration are dropped by whoever asks next, but how old
// that is does not stand in Redis.
func suo() *Family {
	f := oneString(Family{
		ID: "suo", Label: "suo",
		Looks: "a MessagePack array of [time, token]",
		Match: func(s *Sample) []Claim {
			held, ok := unpackSuo(s)
			if !ok || len(held) == 0 {
				return nil
			}
			for _, h := range held {
				if !isBase64(h.token, 16) { // an application's own token
					return nearUnique(s, "a MessagePack array of times and texts")
				}
			}
			return sure("a MessagePack array of times and tokens")
		},
		Decode: func(f *Facts) Reading {
			held, _ := unpackSuo(f.Main)
			r := Reading{Kind: Mutex, State: Held, ByDesign: true,
				Note: "a holder that refreshes its token puts it back; the others do not notice"}
			if len(held) > 1 {
				r.Kind = Semaphore
			}
			for _, h := range held {
				r.Holders = append(r.Holders, Holder{ID: wire.Raw(h.token), Since: sinceMS(f, h.ms)})
			}
			r.NoRow = len(held) == 0
			return r
		},
	})
	f.Release = suoRelease
	return f
}

// suoHeld is one entry: when it was taken, its token, and where it stands.
type suoHeld struct {
	ms       int64
	token    string
	from, to int
}

// unpackSuo reads the array; false for anything else.
func unpackSuo(s *Sample) (out []suoHeld, ok bool) {
	v := s.Value
	if !s.Whole || len(v) < 1 {
		return nil, false
	}
	var n int
	pos := 1
	switch {
	case v[0]&0xf0 == 0x90:
		n = int(v[0] & 0x0f)
	case v[0] == 0xdc && len(v) >= 3:
		n, pos = int(binary.BigEndian.Uint16([]byte(v[1:3]))), 3
	default:
		return nil, false
	}
	for range n {
		h, ok := unpackSuoEntry(v, pos)
		if !ok || !near(s, h.ms, saneAge) {
			return nil, false
		}
		out, pos = append(out, h), h.to
	}
	return out, pos == len(v)
}

// unpackSuoEntry reads a pair of a 64-bit float and a short string at pos.
func unpackSuoEntry(v string, pos int) (suoHeld, bool) {
	const head = 1 + 9 // the pair, the float
	if len(v) < pos+head+1 || v[pos] != 0x92 || v[pos+1] != 0xcb {
		return suoHeld{}, false
	}
	secs := math.Float64frombits(binary.BigEndian.Uint64([]byte(v[pos+2 : pos+10])))
	var size int
	at := pos + head
	switch c := v[at]; {
	case c&0xe0 == 0xa0:
		size, at = int(c&0x1f), at+1
	case c == 0xd9 && len(v) > at+1, c == 0xc4 && len(v) > at+1:
		size, at = int(v[at+1]), at+2
	default:
		return suoHeld{}, false
	}
	ms := secs * 1000
	if len(v) < at+size || !(ms >= float64(firstMS) && ms < float64(lastMS)) {
		return suoHeld{}, false
	}
	return suoHeld{int64(ms), v[at : at+size], pos, at + size}, true
}

// suoRelease writes the string without the tokens, as suo's unlock does, or
// deletes it with the last.
func suoRelease(t *Target) []Step {
	held, ok := unpackSuo(t.Facts.Main)
	if !ok || len(t.Holders) == 0 {
		return nil
	}
	if t.All() {
		return releaseValue(t)
	}
	gone := map[string]bool{}
	for _, h := range t.Holders {
		gone[string(h.ID)] = true
	}
	v, kept, n := t.Facts.Main.Value, "", 0
	for _, h := range held {
		if !gone[h.token] {
			kept += v[h.from:h.to]
			n++
		}
	}
	head := string([]byte{0x90 | byte(n)})
	if n > 15 {
		head = string([]byte{0xdc, byte(n >> 8), byte(n)})
	}
	r := wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}
	return []Step{{r.Slice(v, head+kept), "write the lock without these tokens if nothing else in it has changed"}}
}
