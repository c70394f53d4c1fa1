package inspect_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// Why a capture is left out of a comparison.
const (
	noHolder  = "its keys alone do not show who holds it"
	noRelease = "it cannot be released from here"
	noRecord  = "what was recorded does not end this lock"
)

// notCompared are the captures that cannot be compared with their library's
// unlock, and why.
var notCompared = map[string]string{
	"dtm-labs-rockscache--filling-locked":                          noHolder,
	"gocraft-work--unique-job-enqueued":                            noHolder,
	"node-resque--queue-lock-enqueued":                             noRecord,
	"redis-rueidis-rueidislock--held-with-waiters":                 noRecord,
	"redis-rueidis-rueidislock--renewed":                           noRecord,
	"redis-semaphore-ruby--semaphore-2-of-3":                       noRecord,
	"redis-semaphore-ruby--semaphore-full-with-waiter":             noRecord,
	"redisson-rreadwritelock--read-read-1-holder-after-release":    noRecord,
	"redisson-rreadwritelock--read-read-2-holders-writer-waits":    noRecord,
	"redisson-rreadwritelock--write-write-reentrant-2":             noRecord,
	"redisson-rsemaphore--sem-semaphore-2-of-3":                    noHolder,
	"redisson-rsemaphore--sem-semaphore-empty-with-waiter":         noHolder,
	"rq--worker-maintenance-lock":                                  noRecord,
	"shedlock--held":                                               noRecord,
	"sidekiq-unique-jobs--while-executing-one-released-queue-left": noRecord,
	"sidekiq-unique-jobs--while-executing-runtime-lock-2-of-2":     noRecord,
	"tasktiger--sem-semaphore-system-lock":                         noRecord,
}

// withoutHolder are the captures whose holder cannot be known from the keys.
var withoutHolder = []string{
	"dtm-labs-rockscache--filling-locked",
	"gocraft-work--unique-job-enqueued",
	"redisson-rsemaphore--sem-semaphore-2-of-3",
	"redisson-rsemaphore--sem-semaphore-empty-with-waiter",
}

// canBeHeld are the families in which an operator can take the lock.
var canBeHeld = []string{
	"bullmq", "django-redis", "dogpile", "gitlab", "hangfire", "madelson", "php-lock", "python-redis-lock", "redbeat", "redis-py",
	"redis-semaphore-npm", "redislock", "redisson", "redlock-php", "redsync", "rueidislock", "symfony", "tooz", "walrus", "yii2",
}

// capture is one state of a real library's lock, with the commands that the
// library sent when it released it.
type capture struct {
	ID           string              `json:"id"`
	CapturedAtMS int64               `json:"captured_at_ms"`
	Keys         []captureKey        `json:"keys"`
	Commands     map[string][]string `json:"commands"`
	Expect       struct {
		IsLock  bool    `json:"is_lock"`
		Live    *bool   `json:"live"`
		LockKey *string `json:"lock_key"`
		Field   string  `json:"lock_field"`
	} `json:"expect"`
}

type captureKey struct {
	Key     string            `json:"key"`
	Type    string            `json:"type"`
	PTTLMS  int64             `json:"pttl_ms"`
	Value   string            `json:"value"`
	Fields  map[string]string `json:"fields"`
	Members []any             `json:"members"`
}

func captures(t *testing.T) []capture {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "corpus", "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read from
	var out []capture
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var c capture
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// bytesOf undoes the corpus's escapes: \xNN is a byte, \\ a backslash; in quoted
// words of commands also \" a quote.
func bytesOf(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		case s[i+1] == 'x':
			n, _ := strconv.ParseUint(s[i+2:i+4], 16, 8)
			b.WriteByte(byte(n))
			i += 3
		default:
			b.WriteByte(s[i+1])
			i++
		}
	}
	return b.String()
}

// moved puts a number that looks like a moment near the capture as far from now.
func (c *capture) moved(s string, now int64) string {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return s
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	for _, perMS := range []float64{0.001, 1, 1000, 1e6} {
		if d := v/perMS - float64(c.CapturedAtMS); d > -400*86400e3 && d < 400*86400e3 {
			return strconv.FormatFloat(v+float64(now-c.CapturedAtMS)*perMS, 'f', -1, 64)
		}
	}
	return s
}

func (c *capture) restore(s *redistest.Server, now int64) {
	s.Do("flushall")
	for _, k := range c.Keys {
		key := bytesOf(k.Key)
		switch k.Type {
		case "string":
			s.Do("set", key, c.moved(bytesOf(k.Value), now))
		case "hash":
			for f, v := range k.Fields {
				s.Do("hset", key, bytesOf(f), c.moved(bytesOf(v), now))
			}
		case "zset":
			for _, m := range k.Members {
				pair := m.([]any)
				s.Do("zadd", key, c.moved(pair[1].(string), now), bytesOf(pair[0].(string)))
			}
		case "set", "list":
			verb := map[string]string{"set": "sadd", "list": "rpush"}[k.Type]
			for _, m := range k.Members {
				s.Do(verb, key, bytesOf(m.(string)))
			}
		}
		if k.PTTLMS >= 0 {
			s.Do("pexpire", key, k.PTTLMS+600_000) // a slow machine must not let it expire
		}
	}
}

// words splits a recorded command; blanks inside quotes are its own.
func words(line string) []string {
	var out []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		end := strings.IndexByte(line+" ", ' ')
		if line[0] == '"' {
			for end = 1; end < len(line) && line[end] != '"'; end++ {
				if line[end] == '\\' {
					end++
				}
			}
			out = append(out, bytesOf(line[1:min(end, len(line))]))
			line = line[min(end+1, len(line)):]
			continue
		}
		out = append(out, bytesOf(line[:end]))
		line = line[min(end, len(line)):]
	}
	return out
}

// writing are the commands by which libraries release; what else is recorded
// reads, waits, or concerns the connection.
var writing = strings.Fields("del unlink hdel hincrby hset zrem zadd zincrby srem lpush rpush ltrim lrem pexpire expire pexpireat publish decrby decr incrby incr set zremrangebyscore persist")

// unlocks are the writes of the library's releases, each in one step: a script, a
// transaction, or a command.
func (c *capture) unlocks() [][][]string {
	var groups [][][]string
	inside := false
	for _, line := range c.Commands["release"] {
		text, lua := strings.CutPrefix(line, "lua> ")
		w := words(text)
		if len(w) == 0 {
			continue
		}
		verb := strings.ToLower(w[0])
		if !lua && !inside {
			groups = append(groups, nil)
		}
		switch {
		case !lua && verb == "multi":
			inside = true
		case !lua && verb == "exec":
			inside = false
		case slices.Contains(writing, verb) && len(groups) > 0:
			groups[len(groups)-1] = append(groups[len(groups)-1], w)
		}
	}
	return groups
}

// beside are differences that are meant, by capture: what a release from here
// does otherwise than the library's own unlock, and why.
var beside = map[string]string{
	"bottleneck--semaphore-2-of-3":                      "both jobs go in one step, so the new capacity is told once; the client's own sign of life stays as it was",
	"dramatiq-concurrentratelimiter--mutex-held-limit1": "a counter that is not there counts as 0, which the library writes",
	"gocraft-work--concurrency-3-of-3":                  "the pool's share is taken out, as the library's reaper does, where its workers count it down to 0",
	"redis-queued-locks--held-with-waiters":             "the library's release forgets everybody who waits; a release from here lets them wait on",
	"redisson-rlock--rlock-held":                        "what was recorded are the unlocks of a lock that had been entered once more since",
	"simple-redis-mutex--handed-over":                   "what was recorded first is the release by the holder before",
}

// For each family with captures: restored, and released by plan, a lock leaves
// every key and every message as its library's own unlock does.
func TestReleaseAsTheLibrary(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l := s.Listen()
	in := at(t, s.Addr)
	compared, left := 0, map[string]string{}
	for _, c := range captures(t) {
		if !c.Expect.IsLock || c.Expect.LockKey == nil || len(c.Commands["release"]) == 0 || c.Expect.Live != nil && !*c.Expect.Live {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			now := time.Now().UnixMilli()
			c.restore(s, now)
			lock, ok := c.lock(t, in)
			if !ok || len(lock.Holders) == 0 {
				left[c.ID] = noHolder
				return
			}
			p, err := in.PlanRelease(lock)
			if errors.Is(err, inspect.ErrNoRelease) {
				left[c.ID] = noRelease
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l.Heard()
			o := carryOut(t, in, p)
			expectOutcome(t, o, p, inspect.Released)
			ours, heard := s.Dump(), l.Heard()

			c.restore(s, now)
			if !c.unlock(t, s, in, lock, now) {
				left[c.ID] = noRecord
				return
			}
			theirs, told := s.Dump(), l.Heard()
			compared++
			c.compare(t, p, ours, theirs, heard, told)
		})
	}
	t.Logf("%d captures compared", compared)
	if diff := cmp.Diff(notCompared, left); diff != "" {
		t.Errorf("what cannot be compared (-want +got):\n%s", diff)
	}
}

// lock looks at the capture's lock.
func (c *capture) lock(t *testing.T, in *inspect.Inspector) (inspect.Lock, bool) {
	t.Helper()
	locks, err := in.LookKey(t.Context(), 0, bytesOf(*c.Expect.LockKey))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range locks {
		if string(l.Field) == bytesOf(c.Expect.Field) {
			return l, true
		}
	}
	return inspect.Lock{}, false
}

// unlock sends what the library sent, release by release, until none of the
// holders has the lock.
func (c *capture) unlock(t *testing.T, s *redistest.Server, in *inspect.Inspector, lock inspect.Lock, now int64) bool {
	t.Helper()
	for _, group := range c.unlocks() {
		for _, w := range group {
			args := make([]any, len(w))
			for i, a := range w {
				args[i] = a
				if i > 0 {
					args[i] = c.moved(a, now)
				}
			}
			if _, err := s.Try(args...); err != nil {
				t.Fatalf("%v: %v", w, err)
			}
		}
		left, ok := c.lock(t, in)
		held := slices.ContainsFunc(lock.Holders, func(h family.Holder) bool {
			return slices.ContainsFunc(left.Holders, func(x family.Holder) bool { return x.ID == h.ID })
		})
		if !ok || !held {
			return true
		}
	}
	return false
}

// ours and theirs differ in nothing that belongs to the lock.
func (c *capture) compare(t *testing.T, p inspect.Plan, ours, theirs map[string]string, heard, told []redistest.Message) {
	t.Helper()
	foreign := func(key, _ string) bool {
		return strings.Contains(key, ":fencepost:") || strings.HasPrefix(key, "redisson_unlock_latch:") || !c.concerns(p, key)
	}
	maps.DeleteFunc(ours, foreign)
	maps.DeleteFunc(theirs, foreign)
	same := maps.Equal(ours, theirs) && slices.Equal(heard, told)
	switch why := beside[c.ID]; {
	case same && why != "":
		t.Errorf("no difference, but one is excused: %s", why)
	case !same && why == "":
		t.Errorf("left by the plan    %q\nleft by the library %q\npublished %q\nand by the library %q", ours, theirs, heard, told)
	}
}

// concerns reports whether a key is the lock's own: one of the plan's steps has
// it, or the lock was seen to have it beside it.
func (c *capture) concerns(p inspect.Plan, key string) bool {
	if strings.HasPrefix(key, string(p.Lock.Key)) || slices.Contains(p.Lock.Companions, wire.Raw(key)) {
		return true
	}
	return slices.ContainsFunc(p.Steps, func(s inspect.Step) bool {
		return slices.Contains(s.Call.Keys, key) || s.Call.Wake().Target == key
	})
}

// Where an operator can take a holder's place, the lock of every such capture
// reads as before, but for its holder; the evicted holder's release, as it was
// recorded from the library, leaves it; and lifting the hold frees it.
func TestHoldOfEveryCapture(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	in := at(t, s.Addr)
	held, families, unread := 0, map[string]bool{}, []string(nil)
	for _, c := range captures(t) {
		if !c.Expect.IsLock || c.Expect.LockKey == nil || c.Expect.Live != nil && !*c.Expect.Live {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			now := time.Now().UnixMilli()
			c.restore(s, now)
			lock, ok := c.lock(t, in)
			if !ok || len(lock.Holders) == 0 {
				unread = append(unread, c.ID)
				return
			}
			p, err := in.PlanHold(lock, time.Minute, "ana@ops", "looking")
			if errors.Is(err, inspect.ErrNoHold) || errors.Is(err, inspect.ErrNoRelease) {
				return // the plan says why not; the families that can be held are counted below
			}
			if err != nil {
				t.Fatal(err)
			}
			held++
			families[lock.Family] = true
			o := carryOut(t, in, p)
			expectOutcome(t, o, p, inspect.Held)
			after, ok := c.lock(t, in)
			if !ok || after.Family != lock.Family || after.Kind != lock.Kind || after.State != family.Held || len(after.Holders) != 1 || after.Holders[0].ID == lock.Holders[0].ID {
				t.Fatalf("it reads as %s %s %s, held by %s", after.Family, after.Kind, after.State, after.HolderWords())
			}
			note, err := in.HoldOf(t.Context(), &after)
			if err != nil || note == nil {
				t.Fatalf("no note: %v", err)
			}
			lift, _, err := in.PlanUnhold(t.Context(), after)
			if err != nil {
				t.Fatal(err)
			}
			expectOutcome(t, carryOut(t, in, lift), lift, inspect.Released)
		})
	}
	t.Logf("%d captures of %d families held: %v", held, len(families), slices.Sorted(maps.Keys(families)))
	if diff := cmp.Diff(canBeHeld, slices.Sorted(maps.Keys(families))); diff != "" {
		t.Errorf("families that can be held (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(withoutHolder, unread); diff != "" {
		t.Errorf("captures whose keys alone do not show who holds them (-want +got):\n%s", diff)
	}
}
