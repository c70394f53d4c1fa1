package redistest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Capture is what a lock library left in Redis, and what a reader must make of
// it: a line of testdata/corpus/corpus.jsonl, with its text unescaped.
type Capture struct {
	ID           string            `json:"id"`
	Library      string            `json:"library"`
	CapturedAtMS int64             `json:"captured_at_ms"`
	Keys         []CapturedKey     `json:"keys"`
	Channels     []CapturedChannel `json:"channel_detail"`
	Expect       Expected          `json:"expect"`
}

// CapturedKey is one key. Members are single for sets and lists, pairs of
// member and score for sorted sets, and left out for streams.
type CapturedKey struct {
	Key     string
	Type    string
	PTTL    int64
	Value   string
	Fields  map[string]string
	Members [][2]string
}

// CapturedChannel is a channel and how many subscribed to it.
type CapturedChannel struct {
	Channel     string `json:"channel"`
	Subscribers int64  `json:"subscribers"`
}

// Expected is what a reader must make of a capture. Holder and Reentrancy are
// one value, several, or null.
type Expected struct {
	IsLock     bool            `json:"is_lock"`
	KindOf     string          `json:"kind"`
	Holder     json.RawMessage `json:"holder"`
	Reentrancy json.RawMessage `json:"reentrancy"`
	Readers    *int            `json:"readers"`
	Waiters    *int64          `json:"waiters"`
	Fence      *int64          `json:"fence"`
	Persistent *bool           `json:"persistent"`
	Live       *bool           `json:"live"`
	LockKey    string          `json:"lock_key"`
}

// Alive reports whether the lock was held when it was captured.
func (e *Expected) Alive() bool { return e.IsLock && (e.Live == nil || *e.Live) }

// Holders are the ids of those who hold it; none where the data names nobody.
func (e *Expected) Holders(t testing.TB) []string {
	t.Helper()
	var one string
	var many []string
	if json.Unmarshal(e.Holder, &one) == nil && one != "" {
		many = []string{one}
	} else {
		_ = json.Unmarshal(e.Holder, &many) // null stays none
	}
	for i := range many {
		many[i] = Unescape(t, many[i])
	}
	return many
}

// Corpus reads every capture.
func Corpus(t testing.TB) []Capture {
	t.Helper()
	file, err := os.Open(filepath.Join(moduleRoot(t), "testdata", "corpus", "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var out []Capture
	for lines.Scan() {
		var c Capture
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		c.unescape(t)
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("this test does not run inside the module")
	return ""
}

// UnmarshalJSON reads the two forms that members come in.
func (k *CapturedKey) UnmarshalJSON(data []byte) error {
	var raw struct {
		Key, Type, Value string
		PTTL             int64 `json:"pttl_ms"`
		Fields           map[string]string
		Members          []json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*k = CapturedKey{Key: raw.Key, Type: raw.Type, PTTL: raw.PTTL, Value: raw.Value, Fields: raw.Fields}
	if raw.Type == "stream" {
		return nil
	}
	for _, m := range raw.Members {
		var p [2]string
		if json.Unmarshal(m, &p[0]) != nil {
			if err := json.Unmarshal(m, &p); err != nil {
				return fmt.Errorf("member %s: %w", m, err)
			}
		}
		k.Members = append(k.Members, p)
	}
	return nil
}

func (c *Capture) unescape(t testing.TB) {
	for i := range c.Keys {
		k := &c.Keys[i]
		k.Key, k.Value = Unescape(t, k.Key), Unescape(t, k.Value)
		fields := make(map[string]string, len(k.Fields))
		for f, v := range k.Fields {
			fields[Unescape(t, f)] = Unescape(t, v)
		}
		k.Fields = fields
		for j := range k.Members {
			k.Members[j][0] = Unescape(t, k.Members[j][0])
		}
	}
	for i := range c.Channels {
		c.Channels[i].Channel = Unescape(t, c.Channels[i].Channel)
	}
	c.Expect.LockKey = Unescape(t, c.Expect.LockKey)
}

// Unescape undoes the \xNN and \\ of the corpus.
func Unescape(t testing.TB, s string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			b.WriteByte(s[i])
		case s[i+1] == '\\':
			b.WriteByte('\\')
			i++
		default:
			n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				t.Fatalf("escape in %q: %v", s, err)
			}
			b.WriteByte(byte(n))
			i += 3
		}
	}
	return b.String()
}

// restoredTTL is the least that a key gets which has a TTL: a slow machine must
// not let it expire.
const restoredTTL = 60_000 // ms

// Restore empties the server and puts the capture's keys into it. Numbers that
// were times near the capture are moved to the same distance from now. It
// subscribes where somebody did, until the test ends.
func (c *Capture) Restore(t testing.TB, s *Server) {
	t.Helper()
	s.Do("flushall")
	now := time.Now().UnixMilli()
	for _, k := range c.Keys {
		switch k.Type {
		case "string":
			s.Do("set", k.Key, c.moved(k.Value, now))
		case "hash":
			for f, v := range k.Fields {
				s.Do("hset", k.Key, f, c.moved(v, now))
			}
		case "zset":
			for _, m := range k.Members {
				s.Do("zadd", k.Key, c.moved(m[1], now), m[0])
			}
		case "set", "list":
			verb := map[string]string{"set": "sadd", "list": "rpush"}[k.Type]
			for _, m := range k.Members {
				s.Do(verb, k.Key, m[0])
			}
		default:
			s.Do("xadd", k.Key, "*", "f", "v")
		}
		if k.PTTL >= 0 {
			s.Do("pexpire", k.Key, max(k.PTTL, restoredTTL))
		}
	}
	for _, ch := range c.Channels {
		for range ch.Subscribers {
			ps := s.newClient().Subscribe(t.Context(), ch.Channel)
			t.Cleanup(func() { _ = ps.Close() })
			if _, err := ps.Receive(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// moved is a number that was a time within 400 days of the capture, in s, ms,
// us or ns, at the same distance from now; any other text stays.
func (c *Capture) moved(text string, nowMS int64) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" {
		return text
	}
	const near = 400 * 24 * 3600 * 1000.0
	for _, perMS := range []float64{1e-3, 1, 1e3, 1e6} {
		if math.Abs(v/perMS-float64(c.CapturedAtMS)) > near {
			continue
		}
		by := float64(nowMS-c.CapturedAtMS) * perMS
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.FormatInt(n+int64(by), 10)
		}
		return strconv.FormatFloat(v+by, 'f', -1, 64)
	}
	return text
}
