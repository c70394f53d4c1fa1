package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// asynq: a unique task has its id in a string, asynq:{queue}:unique:<type>:
// <md5 of the payload>; running tasks have deadlines in seconds in the sorted
// set asynq:{queue}:lease. Source: asynq internal/base (UniqueKey, LeaseKey),
// internal/rdb (enqueueUniqueCmd, doneUniqueCmd, LeaseDuration).
func asynq() *Family {
	return &Family{
		ID: "asynq", Label: "asynq",
		Types: []Type{String, ZSet},
		Looks: "a string asynq:{queue}:unique:<type>:<md5>, or the sorted set asynq:{queue}:lease",
		Marks: []string{"asynq:{"},
		Named: func(key string) bool {
			return strings.Contains(key, "asynq:{") && (strings.Contains(key, "}:unique:") || strings.HasSuffix(key, "}:lease"))
		},
		Match:   asynqMatch,
		Decode:  asynqDecode,
		Release: asynqRelease,
	}
}

func asynqMatch(s *Sample) []Claim {
	_, key, ok := strings.Cut(s.Key, "asynq:{")
	if !ok {
		return nil
	}
	switch {
	case s.Type == String && strings.Contains(key, "}:unique:"):
		return sure("the id of a task that must be the only one of its kind")
	case s.Type == ZSet && strings.HasSuffix(key, "}:lease") && len(s.Pairs) > 0:
		return sure("running tasks and their deadlines")
	}
	return nil
}

func asynqDecode(f *Facts) Reading {
	if f.Main.Type == ZSet {
		return asynqLease(f)
	}
	if f.Main.Type != String {
		return Reading{NoRow: true}
	}
	r := token(f, Lease)
	r.Label = "asynq unique task"
	r.Holders[0].Label = "task " + wire.Clean(firstBytes(f.Main.Value, 80))
	_, r.Resource, _ = strings.Cut(f.Main.Key, "}:unique:")
	r.Note = "the task runs all the same; another one like it may be queued beside it"
	return r
}

func asynqLease(f *Facts) Reading {
	r := Reading{
		Label: "asynq running tasks", Kind: Lease, State: Held, ByDesign: true,
		NoRelease: "these are running tasks: asynq takes back the ones whose lease ends; cancel a task with asynq's own tools",
	}
	for _, p := range f.Main.Pairs {
		ms, ok := epochS(p.B)
		if !ok {
			continue
		}
		h := Holder{ID: wire.Raw(p.A), Label: "task"}
		h.until(f, ms)
		r.Holders = append(r.Holders, h)
	}
	if len(r.Holders) == 0 {
		return Reading{NoRow: true}
	}
	r.expireTogether(f)
	return r
}

func asynqRelease(t *Target) []Step {
	if t.Facts.Main.Type != String {
		return nil
	}
	return releaseValue(t)
}
