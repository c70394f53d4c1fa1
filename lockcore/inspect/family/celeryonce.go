package family

// celeryOnce keeps a task from being queued twice: qo_task_name-value…
// (celery_once/helpers.py, queue_once_key). Up to version 2 the value was the
// time at which the lock ends.
func celeryOnce() *Family {
	return oneString(Family{
		ID: "celery-once", Label: "celery-once task",
		Looks: "a redis-py token, or a time, under qo_ and a task's name",
		Marks: []string{"qo_"},
		Named: onceKey,
		Match: func(s *Sample) []Claim {
			switch {
			case !onceKey(s.Key):
			case redisPyToken(s):
				return sure("qo_ and a redis-py token")
			case onceUntil(s):
				return likely("qo_ and a time near the end of the TTL")
			}
			return nil
		},
		Decode: func(f *Facts) Reading {
			r := redisPyRead(f, Lease, "celery-once task")
			if ms, ok := epochS(f.Main.Value); ok {
				r = nameless(Lease)
				r.endsAt(f, ms)
			}
			r.Resource = rest(f.Main.Key, "qo_")
			r.Note = "the task stays queued or goes on; it can be queued a second time. The library itself deletes without looking at the owner"
			return r
		},
	})
}

func onceKey(key string) bool {
	_, _, ok := after(key, "qo_")
	return ok
}

// onceUntil reports whether the value is the moment at which the key expires.
func onceUntil(s *Sample) bool {
	ms, ok := epochS(s.Value)
	return ok && len(s.Value) == 10 && s.PTTL > 0 && (s.NowMS == 0 || abs(ms-s.NowMS-s.PTTL) <= 2*second)
}

func abs(n int64) int64 { return max(n, -n) }
