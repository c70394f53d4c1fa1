package family

import (
	"fencepost/lockcore/wire"
)

// symfonyWrite is the member that marks an exclusive lock.
const symfonyWrite = "__write__"

// symfony: a sorted set whose members are the holders' tokens, 32 random bytes
// in base64, with the moment in milliseconds until which each may keep it as
// score; __write__ is a member too while one of them has it alone. Before 5.2 a
// plain string with one token. Source: symfony/lock Store/RedisStore (save,
// saveRead, delete), LockFactory (300 s).
func symfony() *Family {
	return &Family{
		ID:      "symfony",
		Label:   "Symfony Lock",
		Types:   []Type{ZSet, String},
		Looks:   "a sorted set of 44-character base64 tokens (and __write__) with deadlines in milliseconds, or a string with one such token",
		Match:   symfonyMatch,
		Decode:  symfonyDecode,
		Release: symfonyRelease,
	}
}

// symfonyToken reports whether s is a Symfony key's token.
func symfonyToken(s string) bool { return isBase64(s, 32) }

func symfonyMatch(s *Sample) []Claim {
	if s.Type == String {
		if !symfonyToken(s.Value) || s.Len != 44 {
			return nil
		}
		return nearUnique(s, "a token of 32 bytes in base64, as Symfony before 5.2 wrote it")
	}
	write := false
	for _, p := range s.Pairs {
		if _, isTime := epochMS(p.B); !isTime || p.A != symfonyWrite && !symfonyToken(p.A) {
			return nil
		}
		write = write || p.A == symfonyWrite
	}
	switch {
	case write && len(s.Pairs) > 1:
		return sure("tokens and __write__ with deadlines in milliseconds")
	case len(s.Pairs) > 0 && !write:
		return likely("tokens of 32 bytes with deadlines in milliseconds: readers")
	}
	return nil
}

func symfonyDecode(f *Facts) Reading {
	if f.Main.Type == String {
		r := token(f, Mutex)
		r.Label = "Symfony Lock (before 5.2)"
		return r
	}
	r := Reading{Kind: RWLock, State: Held}
	mode := "read"
	if _, ok := f.Main.Get(symfonyWrite); ok {
		mode = "write"
	}
	for _, p := range f.Main.Pairs {
		ms, ok := epochMS(p.B)
		if !ok || p.A == symfonyWrite {
			continue
		}
		h := Holder{ID: wire.Raw(p.A), Mode: mode}
		h.until(f, ms)
		r.Holders = append(r.Holders, h)
	}
	if len(r.Holders) == 0 {
		return Reading{NoRow: true}
	}
	r.expireTogether(f)
	return r
}

// symfonyRelease takes the tokens out, and the mark of an exclusive lock with
// them; the key then expires with the last reader, as RedisStore.delete has it.
func symfonyRelease(t *Target) []Step {
	m := t.Facts.Main
	if m.Type == String {
		return releaseValue(t)
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	members := wire.Members{Seen: holderIDs(t.Holders), Deadlines: true}
	if _, ok := m.Get(symfonyWrite); ok {
		members.Also = []string{symfonyWrite}
	}
	return []Step{{r.Members(members), "take these tokens out of the lock"}}
}

// holderIDs are the raw ids of holders.
func holderIDs(hs []Holder) []string {
	out := make([]string, len(hs))
	for i, h := range hs {
		out[i] = string(h.ID)
	}
	return out
}
