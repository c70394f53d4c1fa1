package family

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// TestReleaseWakesAsTheLibraryWould: what is heard on every channel when a lock
// is released, and what is left of its keys.
func TestReleaseWakesAsTheLibraryWould(t *testing.T) {
	redistest.Need(t)
	s := redistest.Start(t)
	ear := s.Listen()
	now := time.Now().UnixMilli()
	for name, c := range wakings(now) {
		t.Run(name, func(t *testing.T) {
			restore(s, c.keys)
			ear.Heard()
			w := newWorld(c.keys, time.UnixMilli(now))
			rows := w.rows(c.keys)
			if len(rows) != 1 {
				t.Fatalf("%d rows", len(rows))
			}
			r := &rows[0]
			target := &Target{Facts: r.facts, Reading: r.Reading, Holders: r.Holders}
			if c.only != "" {
				target.Holders = slices.DeleteFunc(slices.Clone(r.Holders), func(h Holder) bool { return string(h.ID) != c.only })
			}
			for _, reply := range run(t, s, r.Found.Family.Release(target)) {
				if reply.Status != wire.ReleaseDone || reply.Err != "" {
					t.Fatalf("answered %+v", reply)
				}
			}
			if heard := ear.Heard(); !slices.Equal(heard, c.want) {
				t.Errorf("heard %v, not %v", heard, c.want)
			}
			var left []string
			for _, k := range look(t, s) {
				left = append(left, k.Key)
			}
			if !slices.Equal(left, c.left) {
				t.Errorf("left are %q, not %q", left, c.left)
			}
		})
	}
}

// decimal is a number as a value has it.
func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// waking is a world, the holder to remove ("" for all), and what that is to
// say on which channel and leave of the keys.
type waking struct {
	keys []*Sample
	only string // the holder to remove; "" all
	want []redistest.Message
	left []string // keys that must still be there, and no others
}

// wakings are looked at when the server's clock says now, in milliseconds.
func wakings(now int64) map[string]waking {
	at := func(after int64) string { return decimal(now + after) }
	return map[string]waking{
		"redisson lock": {
			keys: []*Sample{coll("job", Hash, 30000, idA+":38", "1"), text("redisson_lock_token:{job}", "7", NoTTL)},
			want: []redistest.Message{{Channel: "redisson_lock__channel:{job}", Payload: "0"}},
			left: []string{"redisson_lock_token:{job}"},
		},
		"redisson fair lock tells the first that still waits, on its own channel": {
			keys: []*Sample{
				coll("job", Hash, 30000, idA+":38", "1"),
				coll("redisson_lock_queue:{job}", List, NoTTL, idB+":1", idB+":2", idB+":3"),
				coll("redisson_lock_timeout:{job}", ZSet, NoTTL, idB+":1", at(-5000), idB+":2", at(60000), idB+":3", at(90000)),
			},
			want: []redistest.Message{{Channel: "redisson_lock__channel:{job}:" + idB + ":2", Payload: "0"}},
			left: []string{"redisson_lock_queue:{job}", "redisson_lock_timeout:{job}"},
		},
		"redisson queue without a holder is cleaned (A25)": {
			keys: []*Sample{
				coll("redisson_lock_queue:{job}", List, NoTTL, idB+":1", idB+":2"),
				coll("redisson_lock_timeout:{job}", ZSet, NoTTL, idB+":1", at(-5000), idB+":2", at(60000)),
			},
			want: []redistest.Message{{Channel: "redisson_lock__channel:{job}:" + idB + ":2", Payload: "0"}},
			left: []string{"redisson_lock_queue:{job}", "redisson_lock_timeout:{job}"},
		},
		"redisson queue of the dead is gone after it": {
			keys: []*Sample{
				coll("redisson_lock_queue:{job}", List, NoTTL, idB+":1", idB+":2"),
				coll("redisson_lock_timeout:{job}", ZSet, NoTTL, idB+":1", at(-5000), idB+":2", at(-4000)),
			},
		},
		"redisson writer": {
			keys: []*Sample{coll("{rw}a", Hash, 30000, "mode", "write", idA+":7:write", "1")},
			want: []redistest.Message{{Channel: "redisson_rwlock:{rw}a", Payload: "1"}},
		},
		"redisson readers, all": {
			keys: []*Sample{
				coll("rw", Hash, 30000, "mode", "read", idA+":7", "2", idB+":1", "1"),
				text("{rw}:"+idA+":7:rwlock_timeout:1", "1", 30000), text("{rw}:"+idA+":7:rwlock_timeout:2", "1", 30000),
				text("{rw}:"+idB+":1:rwlock_timeout:1", "1", 30000),
			},
			want: []redistest.Message{{Channel: "redisson_rwlock:{rw}", Payload: "0"}},
		},
		"redisson readers, one of two": {
			keys: []*Sample{coll("rw", Hash, 30000, "mode", "read", idA+":7", "2", idB+":1", "1")},
			only: idA + ":7",
			want: []redistest.Message{{Channel: "redisson_rwlock:{rw}", Payload: "0"}},
			left: []string{"rw"},
		},
		"redisson permit goes back, and the waiters learn how many are free": {
			keys: []*Sample{text("pool", "3", NoTTL), coll("{pool}:timeout", ZSet, NoTTL, hexID, at(60000))},
			want: []redistest.Message{{Channel: "redisson_sc:{pool}", Payload: "4"}},
			left: []string{"pool"},
		},
		"redisson items of one holder": {
			keys: []*Sample{coll("items", Hash, 30000,
				"a", idA+":1", "a:"+idA+":1:expire_time", at(9000), "a:"+idA+":1:lock_count", "1",
				"b", idB+":1", "b:"+idB+":1:expire_time", at(9000), "b:"+idB+":1:lock_count", "1")},
			only: idA + ":1",
			want: []redistest.Message{{Channel: "redisson_lock__channel:{items}", Payload: "0"}},
			left: []string{"items"},
		},
		"fencepost raises its fence": {
			keys: []*Sample{
				text("lock:{a}", "bq1TnEJm0zYw2xkR9sVfQA:34:since=2026-11-30T07:39:00.000Z host=web-1", 20000),
				text("lock:{a}:fence", "34", NoTTL),
			},
			want: []redistest.Message{{Channel: "lock:{a}:wake:0", Payload: wire.MessageFree}},
			left: []string{"lock:{a}:dead:bq1TnEJm0zYw2xkR9sVfQA", "lock:{a}:fence"},
		},
		"a Spring registry, should it be one": {
			keys: []*Sample{text("orders-lock:42", idA, 60000)},
			want: []redistest.Message{{Channel: "orders-lock-channel:orders-lock:42", Payload: "orders-lock:42"}},
		},
		"go-redislock leaves its queue": {
			keys: []*Sample{text("{res}", "req-1", 5000), coll("{res}:queue", ZSet, 5000, "req-1", sec(-2)+"000", "req-2", sec(-1)+"000")},
			left: []string{"{res}:queue"},
		},
		"rueidislock in all its keys": {
			keys: []*Sample{
				text("rueidislock:0:job", "abcdefghijklmnopqrstuvw\xff", 4000), text("rueidislock:2:job", "abcdefghijklmnopqrstuvw\xff", 3900),
				text("rueidislock:1:job", "ABCDEFGHIJKLMNOPQRSTUVW\xff", 4900),
			},
			left: []string{"rueidislock:1:job"},
		},
		"syncguard with its index": {
			keys: []*Sample{
				text("syncguard:pay", `{"lockId":"9Qw","expiresAtMs":`+at(20000)+`,"acquiredAtMs":`+at(-9)+`,"key":"pay","fence":"000000000000042"}`, 20000),
				text("syncguard:id:9Qw", "syncguard:pay", 20000), text("syncguard:fence:pay", "42", NoTTL),
			},
			left: []string{"syncguard:fence:pay"},
		},
		"rockscache entry becomes stale": {
			keys: []*Sample{coll("user:1", Hash, 9000, "value", "x", "lockUntil", decimal(now/1000+9), "lockOwner", "abc")},
			left: []string{"user:1"},
		},
		"gocraft pool": {
			keys: []*Sample{text("app:jobs:a:lock", "3", NoTTL), coll("app:jobs:a:lock_info", Hash, NoTTL, "p1", "2", "p2", "1")},
			only: "p1",
			left: []string{"app:jobs:a:lock", "app:jobs:a:lock_info"},
		},
	}
}
