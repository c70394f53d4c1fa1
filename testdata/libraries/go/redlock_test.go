package libraries

import (
	"slices"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// redlockPace is the longest that a redlock waiter sleeps between two tries by
// default: 200 ms and up to 100 more (200 more in the fork).
const redlockPace = 400 * time.Millisecond

// redlock for Node locks two resources under one token, which nothing tells
// from other tokens of 32 hexadecimal digits: its library stands among the
// candidates, and the two rows name each other. A release of one of them leaves
// the waiter where it is; a release of both wakes it.
func TestRedlockNode(t *testing.T) {
	for _, library := range []string{"redlock", "redlock5", "@sesamecare-oss/redlock"} {
		t.Run(library, func(t *testing.T) { redlockStory(t, library) })
	}
}

func redlockStory(t *testing.T, library string) {
	const from, to, ttl = "lock:account:1", "lock:account:2", 12 * time.Second
	s := redistest.Start(t)
	settings := map[string]any{"library": library, "keys": []string{from, to}, "ttl": ttl.Milliseconds()}
	if library == "redlock" {
		settings["ttl"] = time.Minute.Milliseconds() // nothing extends a lock of version 4
	}
	first := drive(t, s, "redlock.js", settings)
	first.next("held")
	w := want{
		key: from, resource: "account:1", family: "unknown", kind: "mutex", typ: "string", rows: 2,
		candidates: []string{"node-redlock"}, holders: []string{s.Do("GET", from).(string)}, ttl: time.Minute,
	}
	firstID := w.holders[0]
	r := w.sees(t, s)
	if !slices.Equal(r.Peers, []string{"0/" + to}) || r.Relation == nil {
		t.Errorf("peers are %v, relation %v: want the other resource", r.Peers, r.Relation)
	}
	mustContain(t, "the row's note", r.Note, "all keys with this token")

	heard := hearRemovals(t, s, to)
	settings["retryCount"] = -1
	second := (*driver)(nil)
	whileTrying(s, func() { second = drive(t, s, "redlock.js", settings) })
	release(t, s, from, firstID).ends(t, "RELEASED", 0)
	time.Sleep(2 * redlockPace)
	second.silent()
	release(t, s, to, firstID).ends(t, "RELEASED", 0)
	heard.woken(t, second.next("held").at, redlockPace)
	w.holders = []string{s.Do("GET", from).(string)}
	w.sees(t, s)
	redlockLoss(t, library, first)
	changedHands(t, s, from, firstID)
	second.says("release")
	second.next("released")
	gone(t, s, to, w.holders[0])
}

// redlockLoss checks how the old holder learns of it: at its next extension,
// and when it releases.
func redlockLoss(t *testing.T, library string, d *driver) {
	t.Helper()
	if library == "redlock" {
		d.says("extend")
		mustContain(t, "the old holder's extend", d.next("extend-failed").Error, "LockError")
	} else {
		mustContain(t, "the old holder's signal", d.next("lost").Error, "ExecutionError")
	}
	d.says("release")
	mustContain(t, "the old holder's release", d.next("release-failed").Error, "Error")
}
