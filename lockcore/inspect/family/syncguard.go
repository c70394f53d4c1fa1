package family

import (
	"encoding/json"
	"strings"

	"fencepost/lockcore/wire"
)

// syncguard: a JSON record with the holder's id, its times and its fence; the
// id leads back to the key at <prefix>:id:<id>, and <prefix>:fence:<key> counts
// the fences. Source: kriasoft/syncguard redis/scripts.ts (ACQUIRE_SCRIPT,
// RELEASE_SCRIPT), common/crypto.ts (makeStorageKey); before fences the times
// were expiresAt and createdAt.
func syncguard() *Family {
	return oneString(Family{
		ID: "syncguard", Label: "SyncGuard",
		Looks: `a JSON string with lockId and expiresAtMs, or syncguard:id:… and syncguard:fence:… beside one`,
		Marks: []string{"syncguard"},
		Match: syncguardMatch,
		Reads: func(c Claim, main *Sample) Reads {
			v, ok := syncguardValue(main.Value)
			if !ok {
				return Reads{}
			}
			return Reads{Keys: syncguardCompanions(main.Key, v)}
		},
		Decode:  syncguardDecode,
		Release: syncguardRelease,
	})
}

// syncguardRecord is the value of a lock.
type syncguardRecord struct {
	LockID       string `json:"lockId"`
	ExpiresAtMS  int64  `json:"expiresAtMs"`
	AcquiredAtMS int64  `json:"acquiredAtMs"`
	ExpiresAt    int64  `json:"expiresAt"`
	CreatedAt    int64  `json:"createdAt"`
	Key          string `json:"key"`
	Fence        string `json:"fence"`
}

func syncguardValue(v string) (syncguardRecord, bool) {
	if !strings.HasPrefix(v, "{") || !strings.Contains(v, `"lockId"`) {
		return syncguardRecord{}, false
	}
	return syncguardParse(v)
}

func syncguardParse(v string) (rec syncguardRecord, ok bool) {
	err := json.Unmarshal([]byte(v), &rec)
	if rec.ExpiresAtMS == 0 {
		rec.ExpiresAtMS, rec.AcquiredAtMS = rec.ExpiresAt, rec.CreatedAt
	}
	return rec, err == nil && rec.LockID != "" && rec.ExpiresAtMS > 0
}

const (
	syncguardID    = "syncguard:id:"
	syncguardFence = "syncguard:fence:"
)

func syncguardMatch(s *Sample) []Claim {
	if _, ok := syncguardValue(s.Value); ok {
		return sure("a record with lockId and a deadline")
	}
	if at := strings.Index(s.Key, syncguardID); at >= 0 && short(s) {
		return partOf(s.Value, Certain, "the way back from a holder's id to its lock")
	}
	if at := strings.Index(s.Key, syncguardFence); at >= 0 && isDigits(s.Value) {
		return partOf(s.Key[:at]+"syncguard:"+s.Key[at+len(syncguardFence):], Certain, "a fence counter")
	}
	return nil
}

// syncguardPrefix is what stands before the lock's own name, with its colon.
func syncguardPrefix(key string, rec syncguardRecord) string {
	if prefix, ok := strings.CutSuffix(key, rec.Key); ok && rec.Key != "" {
		return prefix
	}
	return "syncguard:"
}

// syncguardCompanions are the index and the fence counter of a lock.
func syncguardCompanions(key string, rec syncguardRecord) []string {
	prefix := syncguardPrefix(key, rec)
	return []string{prefix + "id:" + rec.LockID, prefix + "fence:" + strings.TrimPrefix(key, prefix)}
}

func syncguardDecode(f *Facts) Reading {
	rec, ok := syncguardValue(f.Main.Value)
	if !ok {
		return Reading{NoRow: true}
	}
	h := Holder{ID: wire.Raw(rec.LockID)}
	if rec.AcquiredAtMS > 0 {
		h.Since = at(rec.AcquiredAtMS)
	}
	r := single(Mutex, h)
	r.endsAt(f, rec.ExpiresAtMS)
	r.Resource = rec.Key
	keys := syncguardCompanions(f.Main.Key, rec)
	r.have(f, keys...)
	if isDigits(rec.Fence) {
		r.Fence = strings.TrimLeft(rec.Fence, "0")
		if r.Fence == "" {
			r.Fence = "0"
		}
		r.FenceKey = keys[1]
	}
	return r
}

// syncguardRelease deletes the lock and the way back to it, and keeps the fence.
func syncguardRelease(t *Target) []Step {
	rec, ok := syncguardValue(t.Facts.Main.Value)
	if !ok || !t.Facts.Main.Whole || len(t.Holders) == 0 {
		return nil
	}
	r := wire.Release{Lock: t.Facts.Main.Key, Guard: t.Guard}
	call := r.StringWith(t.Facts.Main.Value, syncguardCompanions(t.Facts.Main.Key, rec)[0])
	return []Step{{call, "delete the lock and its index if it still holds this record; the fence counter stays"}}
}
