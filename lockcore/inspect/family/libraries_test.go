package family

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The moment of all hand-made samples: 2026-11-28, a Saturday.
const testNow int64 = 1_795_824_000_000

func str(key, value string, pttl int64) *Sample {
	return &Sample{Key: key, Type: String, Value: value, Len: int64(len(value)), Whole: true, PTTL: pttl, NowMS: testNow}
}

// many makes a hash or sorted set of pairs, or a list or set of single items.
func many(typ Type, key string, pttl int64, items ...string) *Sample {
	s := &Sample{Key: key, Type: typ, Whole: true, PTTL: pttl, NowMS: testNow}
	step := 1
	if typ == Hash || typ == ZSet {
		step = 2
	}
	for i := 0; i < len(items); i += step {
		p := Pair{A: items[i]}
		if step == 2 {
			p.B = items[i+1]
		}
		s.Pairs = append(s.Pairs, p)
	}
	s.Len = int64(len(s.Pairs))
	return s
}

// timedHex is a UUID of version 1 made at that time, in hexadecimal.
func timedHex(ms int64, node string) string {
	ticks := (ms + gregorianMS) * 10_000
	return fmt.Sprintf("%08x%04x1%03x9abc%s", ticks&0xffffffff, ticks>>32&0xffff, ticks>>48&0xfff, node)
}

func dashed(hex string) string {
	return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
}

// The tokens of the samples.
const (
	someUUID4 = "7b49a250-1bdb-492b-9692-c8e499c01ac5"
	twoUUID4  = "3cb31db4-529a-4b13-84d1-99e528ceec11"
	some16    = "U8vLVbQN2vzA3acY"
	some20    = "7lGbbZZJ5kCU5kl9WD4z"
	someNode  = "0242ac110002"
	someMD5   = "9b264f7a3d69a4d3335fb7b43eb133e4"
	someSHA1  = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
)

var (
	someV1   = timedHex(testNow-90_000, someNode)
	some64   = strings.Repeat("0f1e2d3c", 8)
	inAMin   = fmt.Sprint(testNow/1000 + 60)
	aMinAgo  = fmt.Sprint(testNow/1000 - 60)
	inAMinMS = fmt.Sprint(testNow + 60_000)
)

// expectation is what one row must say. Empty fields are not compared.
type expectation struct {
	family     string // "" for no row that is more than possible
	confidence Confidence
	key        string
	kind       Kind
	state      State // "" for held
	ids        []string
	label      string // a part of the lock's or a holder's label
	host       string
	pid        int64
	count      int64
	since      int64 // milliseconds
	waiters    int64
	fence      string
	resource   string
	candidate  string
	deadline   int64 // milliseconds
	warning    string
}

type sampleCase struct {
	name string
	in   []*Sample
	want expectation
}

func one(name string, s *Sample, want expectation) sampleCase {
	return sampleCase{name, []*Sample{s}, want}
}

func runCases(t *testing.T, cases []sampleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rows := newWorld(c.in, time.UnixMilli(testNow)).rows(c.in)
			if c.want.family == "" {
				for _, r := range rows {
					if r.Confidence > Possible && r.State == Held {
						t.Errorf("%q is taken for a lock: %s %s (%s)", r.Key, r.Confidence, r.Reading.Family, r.Claim.Why)
					}
				}
				return
			}
			if len(rows) != 1 {
				t.Fatalf("%d rows, not one: %+v", len(rows), rows)
			}
			c.want.compare(t, &rows[0])
		})
	}
}

func (e *expectation) compare(t *testing.T, r *row) {
	t.Helper()
	check := func(what string, got, want any, compared bool) {
		t.Helper()
		if compared && got != want {
			t.Errorf("%s is %v, not %v", what, got, want)
		}
	}
	state := e.state
	if state == "" {
		state = Held
	}
	check("family", r.Reading.Family, e.family, true)
	check("confidence", r.Confidence, e.confidence, e.confidence != Unlikely)
	check("key", r.Key, e.key, e.key != "")
	check("kind", r.Kind, e.kind, e.kind != "")
	check("state", r.State, state, true)
	check("fence", r.Fence, e.fence, true)
	check("resource", r.Resource, e.resource, e.resource != "")
	check("deadline", r.Deadline.UnixMilli(), e.deadline, e.deadline != 0)
	var ids []string
	var h Holder
	for _, x := range r.Holders {
		ids = append(ids, string(x.ID))
	}
	if len(r.Holders) > 0 {
		h = r.Holders[0]
	}
	if e.ids != nil {
		check("ids", strings.Join(ids, " "), strings.Join(e.ids, " "), true)
	}
	check("host", h.Host, e.host, e.host != "")
	check("pid", h.PID, e.pid, e.pid != 0)
	check("count", h.Count, e.count, e.count != 0)
	check("since", h.Since.UnixMilli(), e.since, e.since != 0)
	if !strings.Contains(r.Label+" / "+h.Label, e.label) {
		t.Errorf("labels are %q and %q, without %q", r.Label, h.Label, e.label)
	}
	var waiting int64
	if r.Waiters != nil {
		waiting = r.Waiters.Count
	}
	check("waiters", waiting, e.waiters, true)
	if e.candidate != "" && !slices.Contains(r.Reading.Candidates, e.candidate) {
		t.Errorf("candidates are %v, without %s", r.Reading.Candidates, e.candidate)
	}
	shared := slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == SharedName })
	check("a rival family", shared, false, true)
	if e.warning != "" && !slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == e.warning }) {
		t.Errorf("warnings are %v, without %s", r.Warnings, e.warning)
	}
}

func TestPythonLibraries(t *testing.T) {
	future := timedHex(testNow+2*saneAge, someNode)
	random := timedHex(testNow-90_000, "0342ac110002")
	pickled := "\x80\x04\x95\x0f\x00\x00\x00\x00\x00\x00\x00\x8c\x08web-1:42\x94."
	walrusBytes := strings.Repeat("\x01\xfe", 16)
	base24 := "ia8jIl3M5AjzSgmcgYVVYN99"
	runCases(t, []sampleCase{
		one("redis-py", str("my-lock", someV1, 30_000), expectation{family: "redis-py", confidence: Certain, kind: Mutex,
			ids: []string{someV1}, since: testNow - 90_000, label: "host MAC 02:42:ac:11:00:02"}),
		one("redis-py without a timeout", str("any", random, NoTTL), expectation{family: "redis-py", label: "random", warning: NoExpiryDesign}),
		one("a time that cannot be", str("my-data", future, NoTTL), expectation{}),
		one("random hexadecimal digits", str("etag:5", "4f416e495fdeb37c383a53d7cf9e018c", 60_000), expectation{}),
		one("django-redis", str(":1:import", someV1, 60_000), expectation{family: "django-redis", confidence: Certain, ids: []string{someV1}}),
		one("a key with a prefix is left to redis-py", str("shop:1:import", someV1, 60_000), expectation{family: "redis-py"}),
		one("celery-once", str("qo_tasks.slow_a-1", someV1, 60_000), expectation{family: "celery-once", kind: Lease, resource: "tasks.slow_a-1"}),
		one("celery-once 1", str("qo_tasks.slow_a-1", inAMin, 60_000), expectation{family: "celery-once", confidence: Likely, ids: []string{""},
			deadline: testNow + 60_000}),
		one("qo_ and a time of something else", str("qo_last_run", aMinAgo, 60_000), expectation{}),
		one("redbeat", str("redbeat::lock", someV1, 1_500_000), expectation{family: "redbeat", kind: Lease}),
		one("redbeat with a prefix", str("prod:redbeat:eu:lock", someV1, 1_500_000), expectation{family: "redbeat"}),
		one("kombu", str("app:unacked_mutex", someV1, 300_000), expectation{family: "kombu", confidence: Certain, kind: Mutex}),
		one("kombu 3", str("unacked_mutex", someUUID4, 300_000), expectation{family: "kombu"}),
		one("dogpile", str("_lockuser:5", someV1, 30_000), expectation{family: "dogpile", kind: Mutex}),
		one("tooz", str("b'_tooz'_b'resize'_lock", someV1, 30_000), expectation{family: "tooz"}),
		one("tasktiger", str("t:lockv2:"+some64, someV1, 60_000), expectation{family: "tasktiger", kind: Lease}),
		one("tasktiger before", str("tiger:lock:"+some64, inAMin+".5", NoTTL), expectation{family: "tasktiger", ids: []string{""}, deadline: testNow + 60_500}),
		one("tasktiger queue", many(ZSet, "t:qlocks:q1", 70_000, "w1", aMinAgo, "SYSTEM_LOCK", inAMin), expectation{family: "tasktiger",
			kind: Semaphore, ids: []string{"SYSTEM_LOCK", "w1"}, deadline: testNow + 60_000}),
		one("tasktiger queue, all over", many(ZSet, "t:qlocks:q1", 70_000, "w1", aMinAgo), expectation{family: "tasktiger", state: Lapsed}),
		one("python-redis-lock", str("app:lock:job", base24, NoTTL), expectation{family: "python-redis-lock", confidence: Certain,
			resource: "job", warning: NoExpiryDesign}),
		one("an object id is no token", str("lock:job", "507f1f77bcf86cd799439011", 60_000), expectation{family: "home-grown"}),
		{"its signal is a companion", []*Sample{str("lock:job", base24, 1000), many(List, "lock-signal:job", 900, "1")},
			expectation{family: "python-redis-lock", key: "lock:job"}},
		one("its signal alone", many(List, "lock-signal:job", 900, "1"), expectation{}),
		{"walrus", []*Sample{many(List, "lock.event:cron", NoTTL, "1"), str("lock:cron", walrusBytes, NoTTL)},
			expectation{family: "walrus", key: "lock:cron", ids: []string{walrusBytes}}},
		one("what walrus leaves", many(List, "lock.event:cron", NoTTL, "1"), expectation{}),
		one("sentry", str("l:group:5", "84de202d7aa74fa388a835e3b5915877", 10_000), expectation{family: "sentry", confidence: Likely}),
		one("rq scheduler", str("rq:scheduler-lock:default", "84de202d7aa74fa388a835e3b5915877", 61_000), expectation{family: "rq", kind: Lease}),
		one("rq scheduler before 2", str("rq:scheduler-lock:default", "31103", 61_000), expectation{family: "rq", pid: 31103}),
		one("rq maintenance", str("rq:clean_registries:default", "1", 899_000), expectation{family: "rq", kind: Lease, ids: []string{""}}),
		{"rq host", []*Sample{str("rq:scheduler-lock:q", someMD5, 61_000), many(Hash, "rq:scheduler:"+someMD5, 60_000, "hostname", "web-1", "pid", "7")},
			expectation{family: "rq", host: "web-1", pid: 7}},
		one("arq", str("arq:in-progress:5f", "1", 300_000), expectation{family: "arq", kind: Lease, ids: []string{""}, resource: "5f"}),
		one("celery-singleton", str("SINGLETONLOCK_"+someMD5, someUUID4, NoTTL), expectation{family: "celery-singleton", kind: Lease,
			ids: []string{someUUID4}, warning: NoExpiryDesign}),
		one("pottery or RedLock.net", str("redlock:printer", someUUID4, 10_000), expectation{family: "unknown", candidate: "pottery"}),
		one("aiocache", str("user:5-lock", someUUID4, 2000), expectation{family: "unknown", confidence: Likely, candidate: "aiocache"}),
		one("django cache.add", str(":1:sync-lock", pickled, 600_000), expectation{family: "django-cache", confidence: Likely,
			ids: []string{"web-1:42"}, host: "web-1", pid: 42}),
		one("django cache.add of a number", str(":1:sync-lock", "1", 600_000), expectation{family: "django-cache", ids: []string{""}}),
		one("django cache.add of True", str("shop:1:sync-lock", "\x80\x04\x88.", 600_000), expectation{family: "django-cache", ids: []string{""}}),
		one("a pickled entry whose name says nothing", str(":1:profile", pickled, 600_000), expectation{}),
	})
}

func TestNodeLibraries(t *testing.T) {
	warlockID := func() string {
		raw, _ := hex.DecodeString(someV1)
		return base64.StdEncoding.EncodeToString(raw)
	}()
	settings := []string{"maxConcurrent", "3", "running", "2", "version", "2.19.5"}
	runCases(t, []sampleCase{
		one("redis-semaphore mutex", str("app:mutex:a", someUUID4, 10_000), expectation{family: "redis-semaphore-npm", confidence: Likely, kind: Mutex}),
		one("with a suffix", str("mutex:a", someUUID4+"-pod-1", 10_000), expectation{family: "redis-semaphore-npm", ids: []string{someUUID4 + "-pod-1"}}),
		one("semaphore", many(ZSet, "semaphore:gpu", 10_000, someUUID4, fmt.Sprint(testNow-4000), twoUUID4, fmt.Sprint(testNow)),
			expectation{family: "redis-semaphore-npm", confidence: Certain, kind: Semaphore, ids: []string{someUUID4, twoUUID4}, count: 1}),
		one("multisemaphore", many(ZSet, "semaphore:gpu", 10_000, someUUID4+"_0", fmt.Sprint(testNow), someUUID4+"_1", fmt.Sprint(testNow)),
			expectation{family: "redis-semaphore-npm", ids: []string{someUUID4}, count: 2, label: "Multi"}),
		one("another semaphore in seconds", many(ZSet, "semaphore:remote", NoTTL, someUUID4, inAMin+".5"), expectation{family: "home-grown"}),
		one("bullmq", str("{jobs}:video:1:lock", someUUID4+":7", 30_000), expectation{family: "bullmq", confidence: Certain, kind: Lease,
			ids: []string{someUUID4 + ":7"}}),
		{"bullmq with its job", []*Sample{str("bull:video:1:lock", someUUID4+":7", 30_000),
			many(Hash, "bull:video:1", NoTTL, "name", "transcode", "processedOn", fmt.Sprint(testNow-5000), "pb", "w-3")},
			expectation{family: "bullmq", since: testNow - 5000, label: "worker w-3, job transcode"}},
		one("bull", str("bull:jobs:77:lock", someUUID4, 30_000), expectation{family: "bull", confidence: Certain, kind: Lease, resource: "bull:jobs:77"}),
		one("bee-queue", str("bq:math:stallBlock", "1", 5000), expectation{family: "bee-queue", kind: Lease, ids: []string{""}}),
		{"bottleneck", []*Sample{many(Hash, "b_pdf_settings", NoTTL, settings...), many(Hash, "b_pdf_job_weights", NoTTL, "j1", "1", "j2", "2"),
			many(Hash, "b_pdf_job_clients", NoTTL, "j1", "c1", "j2", "c1"), many(Hash, "b_pdf_client_num_queued", NoTTL, "c1", "4")},
			expectation{family: "bottleneck", kind: Semaphore, ids: []string{"", ""}, label: "job j1 of client c1", waiters: 4, resource: "pdf"}},
		one("a limiter of rates", many(Hash, "b_pdf_settings", NoTTL, "maxConcurrent", "", "running", "2", "version", "2.19.5"), expectation{}),
		one("n8n leader", str("n8n:main_instance_leader", "main-web-1", 10_000), expectation{family: "n8n", kind: Lease, host: "web-1"}),
		one("n8n lease", str("n8n:lock:oauth:"+some64, someUUID4, 30_000), expectation{family: "n8n", kind: Mutex}),
		one("medusa", str("medusa_lock:cart_1", "*", NoTTL), expectation{family: "medusa", ids: []string{"*"}, label: "anonymous", warning: NoExpiryDesign}),
		one("redis-lock", str("lock.job", inAMinMS, 60_000), expectation{family: "redis-lock-npm", confidence: Certain, ids: []string{""},
			deadline: testNow + 60_000}),
		one("redis-lock without TTL, over", str("lock.job", fmt.Sprint(testNow-1000), NoTTL), expectation{family: "redis-lock-npm", state: Lapsed}),
		one("ioredis-lock or redislock", str("app:feature:lock", dashed(someV1), 20_000), expectation{family: "unknown", confidence: Likely,
			candidate: "redislock-npm"}),
		one("warlock", str("report:lock", warlockID, 20_000), expectation{family: "warlock", confidence: Certain, since: testNow - 90_000, resource: "report"}),
		one("murlock", str("murlock:Svc:run:1", "client-1", 20_000), expectation{family: "murlock", confidence: Certain}),
		{"redfour", []*Sample{many(Hash, "my:lock:doc:5", 20_000, "index", "7"), str("my:lockindex", "9", NoTTL)},
			expectation{family: "redfour", confidence: Certain, kind: Mutex, ids: []string{"7"}, fence: "7", resource: "doc:5"}},
		one("an index without its counter", many(Hash, "page:5", 20_000, "index", "7"), expectation{}),
		one("redfour's counter alone", str("mylockindex", "2", NoTTL), expectation{}),
		{"simple-redis-mutex", []*Sample{str("@simple-redis-mutex:lock-pay", "0.36048", 5000), str("@simple-redis-mutex:fencing-tokens", "2", NoTTL)},
			expectation{family: "simple-redis-mutex", fence: "2", resource: "pay", warning: "fence-shared"}},
		one("its counter alone", str("@simple-redis-mutex:fencing-tokens", "2", NoTTL), expectation{}),
		one("redlock-universal with metadata", str("lock:a", "node-1:"+fmt.Sprint(testNow-3000)+":0f1e2d3c4b5a6978", 30_000),
			expectation{family: "redlock-universal", confidence: Likely, since: testNow - 3000, label: "node-1"}),
		one("node-redlock", str("invoice:lock:9", "6f1f5d67b1af7d9dc2597fe929401e27", 10_000), expectation{family: "unknown", candidate: "node-redlock"}),
		one("redis-kit with a slash", str("user:5:profile", "awrM1BHNVe/s0bQXb7eLsc", 30_000), expectation{family: "redis-kit", confidence: Possible}),
	})
}

func TestRubyLibraries(t *testing.T) {
	digest := "uniquejobs:" + someMD5
	v9 := `{"type":"until_executed","worker":"ReportWorker","queue":"default","limit":1,"at":` + aMinAgo + `.5}`
	suoOne := "\x91\x92\xcb" + "\x41\xda\xc2\x9c\xef\x80\x00\x00" + "\xb8elMAA/UbaG1zz4b3wpoa7g=="
	entry := "\x04\x08o: ActiveSupport::Cache::Entry\x09:\x0b@valueI\"\x0fweb-1:4242\x06:\x06ET:\x0d@version0"
	packed := "\x00\x11\x01\x00\x00\x00\x00\x00\x00\xf0\xbf\xff\xff\xff\xffweb-1:4242"
	runCases(t, []sampleCase{
		{"sidekiq-unique-jobs 7", []*Sample{many(Hash, digest+":LOCKED", NoTTL, "jid1", aMinAgo+".25"), str(digest, "jid1", NoTTL),
			many(List, digest+":QUEUED", NoTTL, "jid2", "1"), str(digest+":INFO", `{"worker":"Run","queue":"low","type":"until_executed"}`, NoTTL),
			many(ZSet, "uniquejobs:digests", NoTTL, digest, aMinAgo)},
			expectation{family: "sidekiq-unique-jobs", confidence: Certain, key: digest + ":LOCKED", kind: Lease, ids: []string{"jid1"},
				waiters: 1, label: "Run on low", since: testNow - 59_750, warning: NoExpiryDesign}},
		one("9", many(Hash, "app:"+digest+":LOCKED", NoTTL, "jid1", v9), expectation{family: "sidekiq-unique-jobs", kind: Lease,
			label: "ReportWorker on default", since: testNow - 59_500}),
		one("with a prefix of its own", many(Hash, "mine:"+someMD5+":RUN:LOCKED", 60_000, "a", aMinAgo, "b", aMinAgo),
			expectation{family: "sidekiq-unique-jobs", kind: Semaphore, ids: []string{"a", "b"}}),
		one("until expired", many(Hash, digest+":LOCKED", 60_000, "jid1", strings.Replace(v9, "until_executed", "until_expired", 1)),
			expectation{family: "sidekiq-unique-jobs", state: Cooling}),
		{"nobody has it, two wait", []*Sample{many(List, digest+":QUEUED", NoTTL, "jid2", "jid3")},
			expectation{family: "sidekiq-unique-jobs", state: Free, waiters: 2, key: digest + ":LOCKED"}},
		{"left in the registry", []*Sample{many(ZSet, "uniquejobs:digests", NoTTL, digest, aMinAgo)}, expectation{}},
		one("a record of locked doors", many(Hash, "doors:LOCKED", NoTTL, "front", aMinAgo), expectation{}),
		{"redis-semaphore", []*Sample{many(Hash, "SEMAPHORE:db:GRABBED", NoTTL, "0", aMinAgo+".5"), many(List, "SEMAPHORE:db:AVAILABLE", NoTTL, "1", "2"),
			str("SEMAPHORE:db:EXISTS", "1", NoTTL), str("SEMAPHORE:db:VERSION", "1", NoTTL)},
			expectation{family: "redis-semaphore-ruby", kind: Semaphore, key: "SEMAPHORE:db:GRABBED", ids: []string{""}, label: "permit 0",
				since: testNow - 59_500, resource: "db"}},
		{"all its permits free", []*Sample{many(List, "SEMAPHORE:db:AVAILABLE", NoTTL, "0"), str("SEMAPHORE:db:EXISTS", "1", NoTTL)}, expectation{}},
		{"redis_queued_locks", []*Sample{many(Hash, "rql:lock:a", 9000, "acq_id", "rql:acq:7/620/1/2/f9", "ts", aMinAgo+".1", "spc_cnt", "1"),
			many(ZSet, "rql:lock_queue:a", NoTTL, "rql:acq:8/1/1/2/aa", aMinAgo)},
			expectation{family: "redis-queued-locks", kind: Mutex, ids: []string{"rql:acq:7/620/1/2/f9"}, pid: 7, count: 2, waiters: 1, since: testNow - 59_900}},
		one("its queue alone", many(ZSet, "rql:lock_queue:a", NoTTL, "rql:acq:8/1/1/2/aa", aMinAgo), expectation{family: "redis-queued-locks",
			state: Free, waiters: 1, key: "rql:lock:a"}),
		one("suo", str("anything", suoOne, NoTTL), expectation{family: "suo", confidence: Certain, kind: Mutex, ids: []string{"elMAA/UbaG1zz4b3wpoa7g=="}}),
		one("suo, nobody", str("anything", "\x90", 60_000), expectation{}),
		one("activejob-uniqueness", str("activejob_uniqueness:import_job:no_arguments", someUUID4, 3_600_000), expectation{family: "activejob-uniqueness", kind: Lease}),
		one("redis-mutex", str("RedisMutex:a", inAMin+".94", NoTTL), expectation{family: "redis-mutex", ids: []string{""}, deadline: testNow + 60_940}),
		one("redis-mutex, over", str("RedisMutex:a", aMinAgo+".94", NoTTL), expectation{family: "redis-mutex", state: Lapsed, warning: DeadlinePassed}),
		one("resque-lock", str("resque:lock:Job-[1]", inAMin, NoTTL), expectation{family: "resque", kind: Lease, resource: "Job-[1]", deadline: testNow + 60_000}),
		one("resque-lock-timeout for ever", str("resque:lock:Job:9", "true", NoTTL), expectation{family: "resque", warning: NoExpiryDesign}),
		one("resque-loner", str("prod:resque:loner:lock:Job:9", aMinAgo, NoTTL), expectation{family: "resque", state: Lapsed}),
		one("node-resque", str("resque:workerslock:slow:math:[7]", inAMin, 59_000), expectation{family: "resque", ids: []string{""}}),
		one("resque scheduler", str("resque:resque:resque_scheduler_master_lock", "web-1:77", 180_000), expectation{family: "resque",
			kind: Lease, host: "web-1", pid: 77}),
		one("gitlab", str("gitlab:exclusive_lease:housekeeping:5", someUUID4, 3_600_000), expectation{family: "gitlab", confidence: Certain, kind: Mutex}),
		one("gitlab throttle", str("gitlab:exclusive_lease:el:throttle:x", someUUID4, 60_000), expectation{family: "gitlab", state: Cooling}),
		one("discourse", str("default:topic_1", inAMin, 61_400), expectation{family: "discourse", confidence: Likely, ids: []string{""}, deadline: testNow + 60_000}),
		one("a time that the key's end does not follow", str("default:last_seen", aMinAgo, 61_400), expectation{}),
		one("a limit's reset", str("login:reset", inAMin, 60_000), expectation{}),
		one("mastodon", str("lock:create:https://a.example/1", someUUID4, 900_000), expectation{family: "mastodon", confidence: Likely}),
		{"mlanett", []*Sample{str("lock:owner:a", "web-1:7", NoTTL), str("lock:expire:a", inAMin, NoTTL)}, expectation{family: "mlanett",
			key: "lock:owner:a", host: "web-1", pid: 7, deadline: testNow + 60_000}},
		one("redis-objects", str("order_lock", "", 15_000), expectation{family: "redis-objects", confidence: Likely, ids: []string{""}}),
		one("redis-objects 1", str("order_lock", inAMin+".5", NoTTL), expectation{family: "redis-objects", deadline: testNow + 60_500}),
		one("rails 6", str("app:locks:import", entry, 30_000), expectation{family: "rails-cache", confidence: Likely, ids: []string{"web-1:4242"}, pid: 4242}),
		one("rails 7.1", str("app:locks:import", packed, 30_000), expectation{family: "rails-cache", host: "web-1"}),
		one("rails cache of something else", str("views/home", entry, 30_000), expectation{}),
	})
}

func TestPHPLibraries(t *testing.T) {
	uniq := fmt.Sprintf("%08x%05x", testNow/1000-60, 250_000)
	cache := "laravel_database_laravel_cache_:"
	two := "awrM1BHNVesAs0bQXb7e"
	runCases(t, []sampleCase{
		one("laravel", str("laravel-database-laravel-cache-foo", some16, 60_000), expectation{family: "laravel", confidence: Certain, kind: Mutex, resource: "foo"}),
		one("laravel without expiry", str(cache+"foo", some16, NoTTL), expectation{family: "laravel", resource: "foo", warning: NoExpiryDesign}),
		one("laravel in an application of another name", str("shop-database-shop-cache-foo", some16, 60_000), expectation{family: "laravel", confidence: Likely}),
		one("an owner's name", str(cache+"foo", "worker-1", 60_000), expectation{family: "laravel", confidence: Likely, ids: []string{"worker-1"}}),
		one("a cached string", str(cache+"foo", `s:16:"`+some16+`";`, 60_000), expectation{}),
		one("a cached number", str(cache+"login:timer", inAMin, 60_000), expectation{}),
		one("overlap", str(cache+"laravel-queue-overlap:App\\Job:5", some16, NoTTL), expectation{family: "laravel", confidence: Certain, kind: Lease, label: "WithoutOverlapping"}),
		one("unique", str("shop:laravel_unique_job:App\\Job5", some16, NoTTL), expectation{family: "laravel", kind: Lease, label: "ShouldBeUnique", warning: NoExpiryDesign}),
		one("schedule", str("x:framework/schedule-"+someSHA1, some16, 86_400_000), expectation{family: "laravel", kind: Lease, label: "withoutOverlapping"}),
		one("schedule before 6", str("x:framework/schedule-"+someSHA1, "b:1;", 86_400_000), expectation{family: "laravel", ids: []string{""}}),
		one("one server", str("x:framework/schedule-"+someSHA1+"0915", some16, 3_600_000), expectation{family: "laravel", state: Cooling, label: "onOneServer"}),
		one("command", str("x:framework/command-import", some16, 3_600_000), expectation{family: "laravel", kind: Lease}),
		one("horizon", str("laravel_horizon:metrics:snapshot", "1", NoTTL), expectation{family: "laravel", kind: Lease, ids: []string{""}, warning: NoExpiry}),
		one("another key of horizon", str("laravel_horizon:last_snapshot", "1", NoTTL), expectation{}),
		{"funnel", []*Sample{str("laravel-database-api1", some20, 60_000), str("laravel-database-api12", two, 50_000)},
			expectation{family: "laravel", confidence: Likely, kind: Semaphore, key: "laravel-database-api1", ids: []string{some20, two}, label: "funnel"}},
		{"funnel, the first slot free", []*Sample{str("laravel-database-api2", two, 50_000)},
			expectation{family: "laravel", key: "laravel-database-api1", ids: []string{two}, label: "slot 2"}},
		one("a number at the end of a lock's name is no slot", str("lock:order:15", some20, 60_000), expectation{family: "home-grown", key: "lock:order:15"}),
		one("php-lock", str("php-malkusch-lock:a", some64, 31_557_600_000_000), expectation{family: "php-lock", warning: TTLYears}),
		one("yii2", str("f17aa"+someMD5, some20, 30_000), expectation{family: "yii2", confidence: Likely}),
		one("drupal", str("d8:lock:cron", "1640324576"+uniq+".12345678", 30_000), expectation{family: "drupal", confidence: Certain}),
		one("drupal with an id of another form", str("drupal.redis:lock:cron", "req-5", 30_000), expectation{family: "drupal", confidence: Likely}),
		one("redlock-php", str("lock:a", uniq, 20_000), expectation{family: "redlock-php", since: testNow - 60_000 + 250}),
		one("a moment in milliseconds is no uniqid", str("lock:a", fmt.Sprint(testNow), 20_000), expectation{family: "home-grown"}),
		one("cheprasov", str("key1", "12600:0.34958700 "+aMinAgo+":6353", 20_000), expectation{family: "cheprasov", confidence: Certain,
			pid: 12600, since: testNow - 60_000 + 349}),
		one("phpredis session", str("PHPREDIS_SESSION:abc_LOCK", "vm|12589", NoTTL), expectation{family: "phpredis-session", confidence: Certain,
			host: "vm", pid: 12589, warning: NoExpiry}),
		one("magento session", many(Hash, "sess_abc", 21_600_000, "data", "x", "lock", "3", "pid", "web-1|77", "wait", "2", "req", "GET shop/"),
			expectation{family: "magento-session", confidence: Certain, host: "web-1", pid: 77, waiters: 2, label: "GET shop/"}),
		one("magento session, free", many(Hash, "sess_abc", 21_600_000, "data", "x", "lock", "0", "pid", "web-1|77"), expectation{}),
	})
}
