package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// rowAt is the row of a key; it fails the test where there is none.
func rowAt(t *testing.T, doc listDoc, key string) lockDoc {
	t.Helper()
	for _, d := range doc.Locks {
		if d.Key == key {
			return d
		}
	}
	t.Fatalf("%s is not listed: %+v", key, doc.Locks)
	return lockDoc{}
}

// What no name and no shape gives away shows by who waits for it: a Redisson
// semaphore is an ordinary number until somebody listens on its channel.
func TestListFindsLocksByTheirChannels(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Do("set", "orders", "0")
	if doc := listJSON(t, s, "--possible"); len(doc.Locks) != 0 {
		t.Fatalf("a number is listed: %+v", doc.Locks)
	}
	sub := s.Client().Subscribe(t.Context(), "redisson_sc:{orders}")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, depth := range []string{"--deep", "--names"} {
		d := rowAt(t, listJSON(t, s, depth), "orders")
		if d.Family != "redisson" || d.Kind != "semaphore" || d.Waiters == nil || d.Waiters.Count == nil || *d.Waiters.Count != 1 || d.Waiters.How != "pubsub" {
			t.Errorf("%s: %+v", depth, d)
		}
	}
}

// sidekiq-unique-jobs lists its digests in a sorted set: their locks are found
// also where their names say nothing.
func TestListFindsLocksByTheirRegistry(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	digest, job := "billing:8d777f385d3dfec8815d20f7496026dc", "1a2b3c4d5e6f7a8b9c0d1e2f"
	s.Do("zadd", "uniquejobs:digests", time.Now().Unix(), digest)
	s.Do("hset", digest+":LOCKED", job, fmt.Sprintf("%d.5", time.Now().Unix()))
	for _, depth := range []string{"--deep", "--names"} {
		d := rowAt(t, listJSON(t, s, depth), digest+":LOCKED")
		if d.Family != "sidekiq-unique-jobs" || len(d.Holders) != 1 || d.Holders[0].ID != job {
			t.Errorf("%s: %+v", depth, d)
		}
	}
}

// A lock that is a field of a hash with other things in it: the row names the
// field, also where the hash is large, and the other fields are no locks.
func TestListFindsLocksInFields(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Do("hset", "huey.results.app", "r:1", "x", "app.lock.flush", "1")
	for from := 0; from < 4000; from += 500 {
		args := []any{"hset", "huey.results.large"}
		for i := range 500 {
			args = append(args, fmt.Sprint("r:", from+i), "x")
		}
		s.Do(args...)
	}
	s.Do("hset", "huey.results.large", "large.lock.nightly", "1")
	s.Do("hset", "sess_u8f2", "data", "x", "lock", "1", "pid", "web-1|42", "wait", "2")
	s.Do("hset", "sess_free", "data", "x", "lock", "0", "pid", "web-1|42")
	doc := listJSON(t, s)
	if len(doc.Locks) != 3 {
		t.Errorf("%+v", doc.Locks)
	}
	for key, field := range map[string]string{"huey.results.app": "app.lock.flush", "huey.results.large": "large.lock.nightly", "sess_u8f2": "lock"} {
		d := rowAt(t, doc, key)
		if d.Field == nil || *d.Field != field || d.RowID != "0/"+key+"#"+field {
			t.Errorf("%+v", d)
		}
	}
	if d := rowAt(t, doc, "sess_u8f2"); d.Waiters == nil || *d.Waiters.Count != 2 || d.Holders[0].ID != "web-1|42" {
		t.Errorf("%+v", d)
	}
}

// A fair queue whose holder is gone is a row of its own, free with waiters; the
// queue's keys are no rows.
func TestListFindsOrphanQueues(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	now := time.Now()
	s.Do("rpush", "redisson_lock_queue:{fair}", threadA, threadB)
	s.Do("zadd", "redisson_lock_timeout:{fair}", now.Add(time.Minute).UnixMilli(), threadA, now.Add(2*time.Minute).UnixMilli(), threadB)
	for _, depth := range []string{"--deep", "--names"} {
		doc := listJSON(t, s, depth)
		d := rowAt(t, doc, "fair")
		if len(doc.Locks) != 1 || d.Family != "redisson" || d.State != "free" || len(d.Holders) != 0 || d.Waiters == nil || *d.Waiters.Count != 2 || len(d.Companions) != 2 {
			t.Errorf("%s: %+v", depth, doc.Locks)
		}
	}
	r := run(t, nil, append([]string{"inspect", "fair"}, port(s)...)...)
	r.has(t, "inspect", exitOK, "free", threadA)
	if strings.Contains(r.out, "there is no such key") {
		t.Error(r.out)
	}
}
