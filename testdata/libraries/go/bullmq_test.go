package libraries

import (
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// A BullMQ job's lock: its row names the worker and the job. A release does not
// stop the worker: the next checks for stalled jobs put the job back, another
// worker runs it again, and the first cannot complete it any more. That is what
// the row's note says beforehand.
func TestBullMQ(t *testing.T) {
	const key, stalled = "bull:video:1:lock", time.Second
	s := redistest.Start(t)
	work := func(worker string, add bool) *driver {
		return drive(t, s, "bullmq.js", map[string]any{
			"queue": "video", "worker": worker, "add": add, "stalledInterval": stalled.Milliseconds(),
		})
	}
	first := work("worker-a", true)
	firstID := first.next("held").ID
	w := want{key: key, resource: "bull:video:1", family: "bullmq", kind: "lease", typ: "string", holders: []string{firstID}, ttl: 30 * time.Second}
	r := w.sees(t, s)
	if label := r.Holders[0].Label; label == nil {
		t.Error("neither worker nor job is shown")
	} else {
		mustContain(t, "the holder's label", *label, "worker worker-a", "job resize")
	}
	mustContain(t, "the row's note", r.Note, "runs a second time")

	second := work("worker-b", false)
	heard := hearRemovals(t, s, key)
	release(t, s, key, firstID).ends(t, "RELEASED", 0)
	again := second.until("held")
	heard.woken(t, again.at, 2*stalled)
	if again.Job != "1" || again.ID == firstID {
		t.Errorf("the other worker runs job %q as %q", again.Job, again.ID)
	}
	w.holders = []string{again.ID}
	mustContain(t, "the holder's label", *w.sees(t, s).Holders[0].Label, "worker worker-b")

	first.says("finish")
	mustContain(t, "the first worker's end", first.until("error").Error, "Lock mismatch for job 1")
	// The workers look for stalled jobs all the time, whoever holds what.
	changedHands(t, s, key, firstID, "bull:video:marker", "bull:video:stalled", "bull:video:stalled-check")
	second.says("finish")
	second.until("completed")
	gone(t, s, key, again.ID)
	if stalls := s.Do("HGET", "bull:video:1", "stc"); stalls != "1" {
		t.Errorf("the job counts %v stalls, want 1", stalls)
	}
}
