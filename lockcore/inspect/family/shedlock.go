package family

import (
	"strings"
	"time"

	"fencepost/lockcore/wire"
)

// shedlock: a string ADDED:<time>@<host>, and since 2025 :<uuid> behind it, at
// job-lock:<environment>:<job>. When the job is done the same value stays until
// lockAtLeastFor is over, so that a finished job looks like a running one.
// Source: ShedLock InternalRedisLockProvider (buildKey, buildValue, doUnlock).
func shedlock() *Family {
	return oneString(Family{
		ID: "shedlock", Label: "ShedLock",
		Looks: "a string ADDED:<time>@<host> or ADDED:<time>@<host>:<uuid>",
		Marks: []string{"job-lock:"},
		Match: func(s *Sample) []Claim {
			if _, _, ok := shedlockValue(s.Value); !ok {
				return nil
			}
			return sure("ADDED:<time>@<host>")
		},
		Decode: shedlockDecode,
	})
}

// shedlockValue takes the time and the rest out of a value.
func shedlockValue(v string) (since time.Time, host string, ok bool) {
	v, ok = strings.CutPrefix(v, "ADDED:")
	if !ok || len(v) > 400 {
		return time.Time{}, "", false
	}
	stamp, host, ok := strings.Cut(v, "@")
	if !ok {
		return time.Time{}, "", false
	}
	since, err := time.Parse(time.RFC3339Nano, stamp)
	return since.UTC(), host, err == nil
}

func shedlockDecode(f *Facts) Reading {
	since, host, ok := shedlockValue(f.Main.Value)
	if !ok {
		return Reading{NoRow: true}
	}
	h := Holder{ID: wire.Raw(f.Main.Value), Since: since, Host: host}
	if n := len(host); n > 37 && host[n-37] == ':' && isUUID(host[n-36:]) {
		h.Host = host[:n-37]
	}
	r := single(Lease, h)
	if _, job, ok := after(f.Main.Key, "job-lock:"); ok {
		r.Resource = job
		if _, name, ok := strings.Cut(job, ":"); ok {
			r.Resource = name
		}
	}
	r.Note = "the job may be done already: ShedLock keeps the key until lockAtLeastFor is over. A running job goes on, and another host may start it too"
	return r
}
