package family

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// moment is when the hand-written keys of these tests are looked at.
var moment = time.Date(2026, 11, 30, 7, 40, 0, 0, time.UTC)

// ms is the moment and some milliseconds, as a score or a value has it.
func ms(after int64) string { return fmt.Sprint(moment.UnixMilli() + after) }

// sec is the same in seconds.
func sec(after int64) string { return fmt.Sprint(moment.Unix() + after) }

func text(key, value string, pttl int64) *Sample {
	return &Sample{Key: key, Type: String, Value: value, Len: int64(len(value)), Whole: true, PTTL: pttl}
}

// coll is a collection: its entries as a, b, a, b for hashes and sorted sets.
func coll(key string, kind Type, pttl int64, entries ...string) *Sample {
	s := &Sample{Key: key, Type: kind, Whole: true, PTTL: pttl}
	for i := 0; i < len(entries); i++ {
		p := Pair{A: entries[i]}
		if kind == Hash || kind == ZSet {
			i++
			p.B = entries[i]
		}
		s.Pairs = append(s.Pairs, p)
	}
	s.Len = int64(len(s.Pairs))
	return s
}

// show is one row in a line: all that a reader of a list would want to see.
func show(r *row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %s", r.Key, r.Reading.Family, r.Kind, r.State)
	if r.Confidence < Certain {
		fmt.Fprintf(&b, " (%s)", r.Confidence)
	}
	if len(r.Candidates) > 0 {
		fmt.Fprintf(&b, " maybe %s", strings.Join(r.Candidates, "|"))
	}
	for _, h := range r.Holders {
		fmt.Fprintf(&b, "; %s", cmp.Or(h.ID.String(), "?"))
		if h.Count > 1 {
			fmt.Fprintf(&b, " x%d", h.Count)
		}
		if h.Mode != "" {
			fmt.Fprintf(&b, " %s", h.Mode)
		}
		if h.Host != "" || h.PID != 0 {
			fmt.Fprintf(&b, " at %s/%d", h.Host, h.PID)
		}
		if !h.Since.IsZero() {
			fmt.Fprintf(&b, " since %s", h.Since.Sub(moment))
		}
		if h.HasTTL {
			fmt.Fprintf(&b, " for %dms", h.TTL)
		}
	}
	if r.Waiters != nil && r.Waiters.Count != 0 {
		fmt.Fprintf(&b, "; %d wait by %s", r.Waiters.Count, r.Waiters.How)
	}
	if r.Fence != "" {
		fmt.Fprintf(&b, "; fence %s", r.Fence)
	}
	if r.Permits != nil {
		fmt.Fprintf(&b, "; %d of %d free", r.Permits.Free, r.Permits.Limit)
	}
	if ttl, ok := r.TTL(r.facts); ok {
		fmt.Fprintf(&b, "; ttl %d", ttl)
	}
	if !r.Deadline.IsZero() {
		fmt.Fprintf(&b, "; until %s", r.Deadline.Sub(moment))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, " !%s", w.Code)
	}
	if len(r.Companions) > 0 {
		fmt.Fprintf(&b, " +%s", strings.Join(r.Companions, " +"))
	}
	return b.String()
}

const (
	idA   = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	idB   = "1ff31903-128b-42f2-8384-c34281ee02f2"
	hexID = "6cf44ab3b43c47a9b1c9c5981ff16a0f"
	b32   = "TrNUEJsbT880Cvq08j3apUzhwZi6VQbUjlHN7MLW/6A="
)

// TestReadings are locks without a capture, and the odd states of those that
// have one. Each case is all keys of a small world, and what is listed of it.
func TestReadings(t *testing.T) {
	for name, c := range readings {
		t.Run(name, func(t *testing.T) {
			for _, s := range c.keys {
				s.NowMS = moment.UnixMilli()
			}
			w := newWorld(c.keys, moment)
			w.subs = c.subs
			var got []string
			for _, r := range w.rows(c.keys) {
				got = append(got, show(&r))
			}
			slices.Sort(got)
			if got, want := strings.Join(got, "\n"), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

type reading struct {
	keys []*Sample
	subs map[string]int64
	want []string
}

var readings = map[string]reading{
	"redisson semaphore with permits that expire": {
		keys: []*Sample{
			text("pool", "3", NoTTL),
			coll("{pool}:timeout", ZSet, NoTTL, "0123456789abcdeF", ms(5000), "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", redissonNever),
		},
		want: []string{`pool redisson semaphore held; 0123456789abcdeF for 5000ms; \x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f; 3 of 5 free !no-expiry-by-design +{pool}:timeout`},
	},
	"redisson semaphore with braces in its name": {
		keys: []*Sample{text("{pool}", "3", NoTTL), coll("{pool}:timeout", ZSet, NoTTL, hexID, ms(5000))},
		want: []string{`{pool} redisson semaphore held; 6cf44ab3b43c47a9b1c9c5981ff16a0f for 5000ms; 3 of 4 free; until 5s +{pool}:timeout`},
	},
	"redisson semaphore with braces in its name that is waited for": {
		keys: []*Sample{text("{pool}", "0", NoTTL)},
		subs: map[string]int64{"redisson_sc:{pool}": 1},
		want: []string{`{pool} redisson semaphore held; 1 wait by pubsub; 0 of -1 free !no-expiry-by-design`},
	},
	"redisson permits all past": {
		keys: []*Sample{text("pool", "0", NoTTL), coll("{pool}:timeout", ZSet, NoTTL, hexID, ms(-5000))},
		want: []string{`pool redisson semaphore lapsed; 6cf44ab3b43c47a9b1c9c5981ff16a0f for -5000ms; 0 of 1 free; until -5s !deadline-passed +{pool}:timeout`},
	},
	"redisson latch with a waiter": {
		keys: []*Sample{text("start", "2", NoTTL)},
		subs: map[string]int64{"redisson_countdownlatch__channel__{start}": 3},
		want: []string{`start redisson latch held; 3 wait by pubsub; 2 of -1 free !no-expiry-by-design`},
	},
	"redisson lock whose name has braces": {
		keys: []*Sample{
			coll("{orders}:lock:9", Hash, 29000, idA+":38", "1"),
			text("redisson_lock_token:{orders}:lock:9", "7", NoTTL),
			coll("redisson_lock_queue:{orders}:lock:9", List, NoTTL, idB+":1"),
		},
		want: []string{`{orders}:lock:9 redisson mutex held; 8743c9c0-0795-4907-87fd-6c719a6b4586:38; 1 wait by queue; fence 7; ttl 29000 +redisson_lock_token:{orders}:lock:9 +redisson_lock_queue:{orders}:lock:9`},
	},
	"redisson lock named in braces keeps its queue": {
		keys: []*Sample{
			coll("{orders}", Hash, 29000, idA+":38", "1"),
			coll("redisson_lock_queue:{orders}", List, NoTTL, idB+":1"),
			coll("redisson_lock_timeout:{orders}", ZSet, NoTTL, idB+":1", ms(300000)),
		},
		want: []string{`{orders} redisson mutex held; 8743c9c0-0795-4907-87fd-6c719a6b4586:38; 1 wait by queue; ttl 29000 +redisson_lock_queue:{orders} +redisson_lock_timeout:{orders}`},
	},
	"redisson queue without a holder, its head overdue (A25)": {
		keys: []*Sample{
			coll("redisson_lock_queue:{fair}", List, NoTTL, "dead0000-0000-4000-8000-000000000001:11", "dead0000-0000-4000-8000-000000000001:12"),
			coll("redisson_lock_timeout:{fair}", ZSet, NoTTL,
				"dead0000-0000-4000-8000-000000000001:11", "1600000000000", "dead0000-0000-4000-8000-000000000001:12", "1600000300000"),
		},
		want: []string{`fair redisson mutex free; 2 wait by queue !waiter-overdue +redisson_lock_queue:{fair} +redisson_lock_timeout:{fair}`},
	},
	"redisson writer that reads too": {
		keys: []*Sample{
			coll("rw", Hash, 29000, "mode", "write", idA+":7:write", "1", idA+":7", "1"),
			text("{rw}:"+idA+":7:rwlock_timeout:1", "1", 12000),
		},
		subs: map[string]int64{"redisson_rwlock:{rw}": 2},
		want: []string{`rw redisson rwlock held; 8743c9c0-0795-4907-87fd-6c719a6b4586:7:write write; 8743c9c0-0795-4907-87fd-6c719a6b4586:7 read for 12000ms; 2 wait by pubsub; ttl 29000 +{rw}:8743c9c0-0795-4907-87fd-6c719a6b4586:7:rwlock_timeout:1`},
	},
	"redisson residue is no lock": {
		keys: []*Sample{
			text("redisson_lock_token:{gone}", "7", NoTTL),
			text("redisson_unlock_latch:{gone}:7fcc625fb1273c7764ef55776b6d8409", "1", 300),
			text("{gone}:"+idA+":7:rwlock_timeout:1", "1", 12000),
		},
	},
	"redisson lock that lost its expiry (A01)": {
		keys: []*Sample{coll("immortal", Hash, NoTTL, idA+":42", "1")},
		want: []string{`immortal redisson mutex held; 8743c9c0-0795-4907-87fd-6c719a6b4586:42 !no-expiry`},
	},
	"redisson items past their deadline": {
		keys: []*Sample{coll("items", Hash, 30000,
			"YQ==", idA+":1", "YQ==:"+idA+":1:expire_time", ms(-1000), "YQ==:"+idA+":1:lock_count", "2",
			"Yg==", idA+":1", "Yg==:"+idA+":1:expire_time", ms(-500), "Yg==:"+idA+":1:lock_count", "1")},
		want: []string{`items redisson mutex lapsed; 8743c9c0-0795-4907-87fd-6c719a6b4586:1 x2 for -500ms; ttl 30000; until -500ms !deadline-passed`},
	},
	"a name that Redisson and another library share": {
		keys: []*Sample{
			text("lock:x", "web-1:42", 5000),
			coll("redisson_lock_queue:{lock:x}", List, NoTTL, idB+":1"),
		},
		want: []string{`lock:x home-grown mutex held (likely); web-1:42 at web-1/42; ttl 5000 !shared-name`},
	},
	"symfony exclusive past its deadline": {
		keys: []*Sample{coll("report", ZSet, 3000, b32, ms(-1), "__write__", ms(-1))},
		want: []string{`report symfony rwlock lapsed; TrNUEJsbT880Cvq08j3apUzhwZi6VQbUjlHN7MLW/6A= write for -1ms; ttl 3000; until -1ms !deadline-passed`},
	},
	"symfony before 5.2": {keys: []*Sample{text("report", b32, 300000)}, want: []string{`report symfony mutex held (likely); TrNUEJsbT880Cvq08j3apUzhwZi6VQbUjlHN7MLW/6A=; ttl 300000`}},
	"symfony semaphore": {
		keys: []*Sample{
			coll("{pool}:time", ZSet, 70000, b32, sec(60)),
			coll("{pool}:weight", ZSet, 70000, b32, "2"),
		},
		want: []string{`{pool}:time symfony-semaphore semaphore held; TrNUEJsbT880Cvq08j3apUzhwZi6VQbUjlHN7MLW/6A= x2 for 60000ms; ttl 70000; until 1m0s +{pool}:weight`},
	},
	"huey in the expiring storage": {keys: []*Sample{text("huey.r.app.app.lock.sync", "1", NoTTL)}, want: []string{`huey.r.app.app.lock.sync huey mutex held; ? !no-expiry-by-design !constant-value`}},
	"huey among many results": {
		keys: []*Sample{coll("huey.results.app", Hash, NoTTL, "a1", "x", "app.lock.nightly", "1", "app.lock.hourly", "1")},
		want: []string{
			`huey.results.app huey mutex held; ? !no-expiry-by-design !constant-value`,
			`huey.results.app huey mutex held; ? !no-expiry-by-design !constant-value`,
		},
	},
	"rueidislock with one key of three": {
		keys: []*Sample{text("rueidislock:1:job", "abcdefghijklmnopqrstuvw\xff", 4000)},
		want: []string{`rueidislock:0:job rueidislock mutex lapsed; abcdefghijklmnopqrstuvw\xff; ttl 4000 !partial +rueidislock:1:job`},
	},
	"rueidislock with two of three": {
		keys: []*Sample{
			text("rueidislock:0:job", "abcdefghijklmnopqrstuvw\xff", 4000), text("rueidislock:2:job", "abcdefghijklmnopqrstuvw\xff", 3900),
			text("rueidislock:1:job", "ABCDEFGHIJKLMNOPQRSTUVW\xff", 4900),
		},
		want: []string{`rueidislock:0:job rueidislock mutex held; abcdefghijklmnopqrstuvw\xff; ttl 4000 +rueidislock:1:job +rueidislock:2:job`},
	},
	"fencepost held, with waiters": {
		keys: []*Sample{
			text("lock:{orders}", `bq1TnEJm0zYw2xkR9sVfQA:34:since=2026-11-30T07:39:00.000Z host=web-1 pid=4242 label=nightly`, 20000),
			text("lock:{orders}:fence", "34", NoTTL),
			coll("lock:{orders}:queue", ZSet, 60000, "0000000000000000000001", "1", "0000000000000000000002", "2"),
			coll("lock:{orders}:alive", Hash, 60000, "0000000000000000000001", ms(-10)+":", "0000000000000000000002", ms(5000)+":host=web-2"),
			text("lock:{orders}:dead:0000000000000000000009", "0", 9000),
		},
		want: []string{`lock:{orders} fencepost mutex held; bq1TnEJm0zYw2xkR9sVfQA at web-1/4242 since -1m0s; 1 wait by queue; fence 34; ttl 20000 +lock:{orders}:fence +lock:{orders}:queue +lock:{orders}:alive`},
	},
	"fencepost with a counter that expires and is behind": {
		keys: []*Sample{
			text("lock:{a}", `bq1TnEJm0zYw2xkR9sVfQA:34:since=2026-11-30T07:39:00.000Z host=web-1`, 20000),
			text("lock:{a}:fence", "9", 5000),
		},
		want: []string{`lock:{a} fencepost mutex held; bq1TnEJm0zYw2xkR9sVfQA at web-1/0 since -1m0s; fence 34; ttl 20000 !fence-ttl +lock:{a}:fence`},
	},
	"fencepost without a counter": {
		keys: []*Sample{text("lock:{a}", `bq1TnEJm0zYw2xkR9sVfQA:34:since=2026-11-30T07:39:00.000Z host=web-1`, 20000)},
		want: []string{`lock:{a} fencepost mutex held; bq1TnEJm0zYw2xkR9sVfQA at web-1/0 since -1m0s; fence 34; ttl 20000 !fence-missing`},
	},
	"fencepost free, somebody waits": {
		keys: []*Sample{
			text("lock:{a}:fence", "9", NoTTL),
			coll("lock:{a}:queue", ZSet, 60000, "0000000000000000000002", "2"),
			coll("lock:{a}:alive", Hash, 60000, "0000000000000000000002", ms(5000)+":host=web-2"),
		},
		want: []string{`lock:{a} fencepost mutex free; 1 wait by queue; ttl 60000 +lock:{a}:fence +lock:{a}:queue +lock:{a}:alive`},
	},
	"fencepost residue": {keys: []*Sample{text("lock:{a}:fence", "9", NoTTL)}},
	"go-redislock by its own token": {
		keys: []*Sample{text("{res}", "lock_token:"+idA, 5000), text("{res}:count:lock_token:"+idA, "3", 5000)},
		want: []string{`{res} go-redislock mutex held; lock_token:8743c9c0-0795-4907-87fd-6c719a6b4586 x3; ttl 5000 +{res}:count:lock_token:8743c9c0-0795-4907-87fd-6c719a6b4586`},
	},
	"go-redislock fair, the holder in its own queue": {
		keys: []*Sample{
			text("{res}", "req-1", 5000),
			coll("{res}:queue", ZSet, 5000, "req-1", sec(-2)+"000", "req-2", sec(-1)+"000"),
		},
		want: []string{`{res} go-redislock mutex held (likely); req-1; 1 wait by queue; ttl 5000 +{res}:queue`},
	},
	"go-redislock readers": {
		keys: []*Sample{coll("cfg", Hash, 5000, "mode", "read", "rcount", "3", "r:a", "2", "r:b", "1")},
		want: []string{`cfg go-redislock rwlock held; a x2 read; b read; ttl 5000`},
	},
	"go-redislock writer that reads": {
		keys: []*Sample{coll("cfg", Hash, 5000, "mode", "write", "writer", "a", "wcount", "2", "rcount", "1", "r:a", "1")},
		want: []string{`cfg go-redislock rwlock held; a x2 write; a read; ttl 5000`},
	},
	"asynq unique and running tasks": {
		keys: []*Sample{
			text("asynq:{default}:unique:email:send:"+hexID, idA, 60000),
			coll("asynq:{default}:lease", ZSet, NoTTL, idA, sec(20), idB, sec(-5)),
		},
		want: []string{
			`asynq:{default}:lease asynq lease held; 8743c9c0-0795-4907-87fd-6c719a6b4586 for 20000ms; 1ff31903-128b-42f2-8384-c34281ee02f2 for -5000ms; until 20s`,
			`asynq:{default}:unique:email:send:6cf44ab3b43c47a9b1c9c5981ff16a0f asynq lease held; 8743c9c0-0795-4907-87fd-6c719a6b4586; ttl 60000`,
		},
	},
	"asynq with all leases over": {
		keys: []*Sample{coll("asynq:{low}:lease", ZSet, NoTTL, idB, sec(-5))},
		want: []string{`asynq:{low}:lease asynq lease lapsed; 1ff31903-128b-42f2-8384-c34281ee02f2 for -5000ms; until -5s !deadline-passed`},
	},
	"gocraft idle": {keys: []*Sample{text("app:jobs:resize:lock", "0", NoTTL), coll("app:jobs:resize:lock_info", Hash, NoTTL, "7e11", "0")}},
	"dapr":         {keys: []*Sample{text("lock||orders||invoice-7", "pod-3", 60000)}, want: []string{`lock||orders||invoice-7 dapr mutex held; pod-3; ttl 60000`}},
	"shedlock with the host only": {
		keys: []*Sample{text("job-lock:prod:nightly", "ADDED:2026-11-30T07:39:00Z@web-1", 60000)},
		want: []string{`job-lock:prod:nightly shedlock lease held; ADDED:2026-11-30T07:39:00Z@web-1 at web-1/0 since -1m0s; ttl 60000`},
	},
	"jedis-lock past its deadline": {keys: []*Sample{text("sync", idA+":"+ms(-1000), NoTTL)}, want: []string{`sync jedis-lock mutex lapsed; 8743c9c0-0795-4907-87fd-6c719a6b4586; until -1s !deadline-passed`}},
	"jedis-lock":                   {keys: []*Sample{text("sync", idA+":"+ms(9000), NoTTL)}, want: []string{`sync jedis-lock mutex held; 8743c9c0-0795-4907-87fd-6c719a6b4586; until 9s`}},
	"spring registry":              {keys: []*Sample{text("orders-lock:42", idA, 60000)}, want: []string{`orders-lock:42 unknown mutex held (likely) maybe spring-integration|aioredlock|sherlock|mastodon|redlock-rb|murlock|stackexchange-redis|home-grown; 8743c9c0-0795-4907-87fd-6c719a6b4586; ttl 60000`}},
	"hangfire":                     {keys: []*Sample{text("{hangfire}:lock:daily", idA, 30000)}, want: []string{`{hangfire}:lock:daily hangfire mutex held; 8743c9c0-0795-4907-87fd-6c719a6b4586; ttl 30000`}},
	"freeredis":                    {keys: []*Sample{text("RedisClientLock:pay", idA, 30000)}, want: []string{`RedisClientLock:pay freeredis mutex held; 8743c9c0-0795-4907-87fd-6c719a6b4586; ttl 30000`}},
	"servicestack for a year": {
		keys: []*Sample{text("invoices", ms(364*day), NoTTL), text("last_sync", ms(-100), NoTTL)},
		want: []string{`invoices servicestack mutex held (possible); ?; until 8736h0m0s`},
	},
	"servicestack or the old recipe":  {keys: []*Sample{text("lock:invoices", ms(9000), NoTTL)}, want: []string{`lock:invoices unknown mutex held (likely) maybe servicestack|home-grown; ?; until 9s`}},
	"foundatio or laravel or go-zero": {keys: []*Sample{text("lock:invoices", "aB3dE6gH9jK2mN5p", 1200000)}, want: []string{`lock:invoices unknown mutex held (likely) maybe laravel|go-zero|foundatio|home-grown; aB3dE6gH9jK2mN5p; ttl 1200000`}},
	"madelson writer":                 {keys: []*Sample{text("doc.writer", "WEB_01_77_"+hexID, 30000)}, want: []string{`doc.writer madelson rwlock held; WEB_01_77_6cf44ab3b43c47a9b1c9c5981ff16a0f write at WEB_01/77; ttl 30000`}},
	"madelson writer waiting for nobody": {
		keys: []*Sample{text("doc.writer", "WEB01_77_"+hexID+"_WRITERWAITING", 30000)},
		want: []string{`doc.readers madelson rwlock free; 1 wait by key; ttl 30000 +doc.writer`},
	},
	"madelson semaphore": {
		keys: []*Sample{coll("pool", ZSet, 90000, "WEB01_77_"+hexID, ms(9000)+".25", "WEB02_78_"+hexID, ms(-1)+".5")},
		want: []string{`pool madelson semaphore held; WEB01_77_6cf44ab3b43c47a9b1c9c5981ff16a0f at WEB01/77 for 9000ms; WEB02_78_6cf44ab3b43c47a9b1c9c5981ff16a0f at WEB02/78 for -1ms; ttl 90000; until 9s`},
	},
	"syncguard": {
		keys: []*Sample{
			text("syncguard:pay", `{"lockId":"9Qw","expiresAtMs":`+ms(20000)+`,"acquiredAtMs":`+ms(-1000)+`,"key":"pay","fence":"000000000000042"}`, 20000),
			text("syncguard:id:9Qw", "syncguard:pay", 20000), text("syncguard:fence:pay", "42", NoTTL),
		},
		want: []string{`syncguard:pay syncguard mutex held; 9Qw since -1s; fence 42; ttl 20000; until 20s +syncguard:id:9Qw +syncguard:fence:pay`},
	},
	"syncguard residue": {keys: []*Sample{text("syncguard:fence:pay", "42", NoTTL)}},
	"juicefs ranges":    {keys: []*Sample{coll("{1}lockp9", Hash, NoTTL, "4_FF", strings.Repeat("\x00", 24))}, want: []string{`{1}lockp9 juicefs rwlock held; 4_FF read !no-expiry-by-design`}},
	"rockscache stale": {
		keys: []*Sample{coll("user:1", Hash, 9000, "value", "x", "lockUntil", "0")},
	},
	"rockscache whose filler is late": {
		keys: []*Sample{coll("user:1", Hash, 9000, "value", "x", "lockUntil", sec(-3), "lockOwner", "abc")},
		want: []string{`user:1 rockscache mutex lapsed; abc; until -3s !deadline-passed`},
	},
	"machinery":                         {keys: []*Sample{text("machinery_lock_sum", ms(5000)+"000001", 5000)}, want: []string{`machinery_lock_sum machinery lease held; ?; ttl 5000; until 5s`}},
	"redis-py like checksum of nothing": {keys: []*Sample{text("etag:page", "d41d8cd98f00b204e9800998ecf8427e", 60000)}, want: []string{`etag:page unknown mutex held (possible) maybe redlock-universal|node-redlock; d41d8cd98f00b204e9800998ecf8427e; ttl 60000`}},
	"hand-made with a fence before the name": {
		keys: []*Sample{text("lock:orders", idA, 30000), text("fence:orders", "42", NoTTL)},
		want: []string{`lock:orders home-grown mutex held (likely); 8743c9c0-0795-4907-87fd-6c719a6b4586; fence 42; ttl 30000 +fence:orders`},
	},
	"hand-made with a fence behind the name": {
		keys: []*Sample{text("lock:orders", "XeUUf1PowB9ITDGRRCRCJQ==", 30000), text("lock:orders:fence", "42", 5000)},
		want: []string{`lock:orders home-grown mutex held (likely); XeUUf1PowB9ITDGRRCRCJQ==; fence 42; ttl 30000 !fence-ttl +lock:orders:fence`},
	},
	"hand-made fence beside a lock of another form": {
		keys: []*Sample{text("orders:lock", "worker-7", 30000), text("orders:fence", "3", NoTTL)},
		want: []string{`orders:lock home-grown mutex held (likely); worker-7; fence 3; ttl 30000 +orders:fence`},
	},
	"hand-made fence left over": {keys: []*Sample{text("fence:orders", "42", NoTTL)}},
	"hand-made by a shell, which adds an end of line": {
		keys: []*Sample{text("lock:deploy", idA+"\n", 30000), text("lock:job", "web-1:42\r\n", 30000), text("lock:note", "two\nlines\n", 30000)},
		want: []string{
			`lock:deploy home-grown mutex held (likely); 8743c9c0-0795-4907-87fd-6c719a6b4586\n; ttl 30000`,
			`lock:job home-grown mutex held (likely); web-1:42\r\n at web-1/42; ttl 30000`,
		},
	},
	"hand-made with an owner's name": {keys: []*Sample{text("mutex:sync", "worker-7", 30000)}, want: []string{`mutex:sync home-grown mutex held (likely); worker-7; ttl 30000`}},
	"hand-made with a process":       {keys: []*Sample{text("lock:sync", "48213", 30000)}, want: []string{`lock:sync home-grown mutex held (likely); 48213; ttl 30000`}},
	"hand-made with JSON": {
		keys: []*Sample{text("lock:sync", `{"owner":"w1","host":"web-1","pid":4242,"acquired_at":"2026-11-30T07:39:30Z","fencing_token":7}`, 30000)},
		want: []string{`lock:sync home-grown mutex held (likely); {"owner":"w1","host":"web-1","pid":4242,"acquired_at":"2026-11-30T07:39:30Z","fencing_token":7} at web-1/4242 since -30s; fence 7; ttl 30000`},
	},
	"SETNX without an expiry":              {keys: []*Sample{text("lock:sync", "1", NoTTL)}, want: []string{`lock:sync home-grown mutex held (likely); ? !no-expiry !constant-value`}},
	"SETNX with a time that has passed":    {keys: []*Sample{text("lock:sync", sec(-90), NoTTL)}, want: []string{`lock:sync home-grown mutex held (likely); ? !deadline-passed !no-expiry`}},
	"SETNX with a time ahead":              {keys: []*Sample{text("lock:sync", sec(90)+".25", NoTTL)}, want: []string{`lock:sync home-grown mutex held (likely); ?; until 1m30.25s`}},
	"a lock for 634 years (A45)":           {keys: []*Sample{text("report/lock:123", "owner", 19999999845000)}, want: []string{`report/lock:123 home-grown mutex held (likely); owner; ttl 19999999845000 !ttl-years`}},
	"hand-made re-entrant hash":            {keys: []*Sample{coll("lock:sync", Hash, 30000, idA+":main", "2")}, want: []string{`lock:sync home-grown mutex held (likely); 8743c9c0-0795-4907-87fd-6c719a6b4586:main x2; ttl 30000`}},
	"hand-made semaphore that is a set":    {keys: []*Sample{coll("semaphore:pool", Set, NoTTL, "a", "b")}, want: []string{`semaphore:pool home-grown semaphore held (likely); a; b !no-expiry`}},
	"hand-made semaphore with deadlines":   {keys: []*Sample{coll("semaphore:pool", ZSet, NoTTL, "a", sec(5), "b", sec(-5))}, want: []string{`semaphore:pool home-grown semaphore held (likely); a for 5000ms; b for -5000ms; until 5s`}},
	"a team's leader is no lock":           {keys: []*Sample{text("team:42:leader", "user:17", NoTTL)}, want: []string{`team:42:leader home-grown lease held (possible); user:17 !no-expiry`}},
	"a door that can be locked is no lock": {keys: []*Sample{coll("lock:frontdoor", Hash, NoTTL, "owner", "Ann", "battery", "80"), text("door:lock:state", "locked", NoTTL)}, want: []string{`lock:frontdoor home-grown mutex held (possible); Ann !no-expiry`}},
	"a lock file of a package manager":     {keys: []*Sample{text("repo:yarn.lock", hexID, 60000), text("package-lock.json:sha", hexID, NoTTL)}, want: []string{`repo:yarn.lock unknown mutex held (possible) maybe redlock-universal|node-redlock; 6cf44ab3b43c47a9b1c9c5981ff16a0f; ttl 60000`}},
	"flags of every day":                   {keys: []*Sample{text("feature:x", "1", 60000), text("blocked:1", "1", 60000), text("unlock:9", "1", 60000), text("clock", "1", 9000)}},
	"a wrong type where a lock should be":  {keys: []*Sample{coll("job", List, NoTTL, "a"), coll("redisson_lock_queue:{job}", List, NoTTL, idB+":1")}, want: []string{`job redisson mutex free; 1 wait by queue !wrong-type +redisson_lock_queue:{job}`}},
}
