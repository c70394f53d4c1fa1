package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// huey: a field <app>.lock.<name> in the hash of all results, or with the
// expiring storage a string of its own. The value is the same for every holder,
// there is no expiry, and any process may end it. Source: huey/api.py
// (TaskLock), huey/storage.py (RedisStorage, RedisExpireStorage).
func huey() *Family {
	return &Family{
		ID:      "huey",
		Label:   "huey TaskLock",
		Types:   []Type{Hash, String},
		Looks:   "a field <app>.lock.<name> in a hash huey.results.<app>, or a string huey.r.<app>.<app>.lock.<name>",
		Marks:   []string{"huey.r"},
		Fields:  hueyFields,
		Match:   hueyMatch,
		Decode:  hueyDecode,
		Release: hueyRelease,
	}
}

const (
	hueyResults = "huey.results."
	hueyExpire  = "huey.r."
	hueyLock    = ".lock."
)

func hueyFields(key string) string {
	if strings.Contains(key, hueyResults) {
		return "*" + hueyLock + "*"
	}
	return ""
}

func hueyMatch(s *Sample) []Claim {
	if s.Type == String {
		if at := strings.Index(s.Key, hueyExpire); at < 0 || !strings.Contains(s.Key[at+len(hueyExpire):], hueyLock) {
			return nil
		}
		return sure("a task lock among huey's results")
	}
	if !strings.Contains(s.Key, hueyResults) {
		return nil
	}
	var out []Claim
	for _, p := range s.Pairs {
		if at := strings.Index(p.A, hueyLock); at > 0 && at+len(hueyLock) < len(p.A) {
			out = append(out, Claim{Field: p.A, Confidence: Certain, Why: "the field " + wire.Escape(p.A) + " is a task lock among huey's results"})
		}
	}
	return out
}

func hueyDecode(f *Facts) Reading {
	name := f.Field
	if f.Main.Type == Hash {
		if _, ok := f.Main.Get(f.Field); !ok {
			return Reading{NoRow: true}
		}
	} else {
		name = f.Main.Key
	}
	r := single(Mutex, Holder{})
	r.Weak, r.ByDesign = true, true
	r.NoTTL = f.Main.Type == Hash
	if at := strings.Index(name, hueyLock); at >= 0 {
		r.Resource = name[at+len(hueyLock):]
	}
	r.Note = "huey asks nobody who owns it: the task that has it works on, and deletes the next holder's lock when it ends"
	return r
}

func hueyRelease(t *Target) []Step {
	m := t.Facts.Main
	if m.Type == String {
		return releaseValue(t)
	}
	value, ok := m.Get(t.Facts.Field)
	if !ok {
		return nil
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard}
	call := r.HashFields([]wire.Field{{Name: t.Facts.Field, Value: value, Exact: true}})
	return []Step{{call, "delete the field if it still holds this value"}}
}
