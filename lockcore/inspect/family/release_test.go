package family

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// restore puts samples into a server.
func restore(s *redistest.Server, samples []*Sample) {
	s.Do("flushall")
	for _, k := range samples {
		switch k.Type {
		case String:
			s.Do("set", k.Key, k.Value)
		case Hash:
			for _, p := range k.Pairs {
				s.Do("hset", k.Key, p.A, p.B)
			}
		case ZSet:
			for _, p := range k.Pairs {
				s.Do("zadd", k.Key, p.B, p.A)
			}
		case Set:
			for _, p := range k.Pairs {
				s.Do("sadd", k.Key, p.A)
			}
		case List:
			for _, p := range k.Pairs {
				s.Do("rpush", k.Key, p.A)
			}
		default:
			continue
		}
		if k.PTTL > 0 {
			s.Do("pexpire", k.Key, k.PTTL+600_000) // a slow machine must not let it expire
		}
	}
}

// look samples every key of a server.
func look(t testing.TB, s *redistest.Server) []*Sample {
	t.Helper()
	texts := func(reply any) []string {
		var out []string
		switch v := reply.(type) {
		case []any:
			for _, x := range v {
				if pair, ok := x.([]any); ok {
					out = append(out, fmt.Sprint(pair[0]), number(pair[1]))
					continue
				}
				out = append(out, fmt.Sprint(x))
			}
		case map[any]any:
			for k, x := range v {
				out = append(out, fmt.Sprint(k), fmt.Sprint(x))
			}
		}
		return out
	}
	var out []*Sample
	for _, key := range texts(s.Do("keys", "*")) {
		k := &Sample{Key: key, Type: Type(s.Do("type", key).(string)), Whole: true, NowMS: time.Now().UnixMilli()}
		k.PTTL = s.Do("pttl", key).(int64)
		paired := false
		var flat []string
		switch k.Type {
		case String:
			k.Value = s.Do("get", key).(string)
		case Hash:
			flat, paired = texts(s.Do("hgetall", key)), true
		case ZSet:
			flat, paired = texts(s.Do("zrange", key, 0, -1, "withscores")), true
		case Set:
			flat = texts(s.Do("smembers", key))
		case List:
			flat = texts(s.Do("lrange", key, 0, -1))
		}
		for i := 0; i < len(flat); i++ {
			p := Pair{A: flat[i]}
			if paired {
				i++
				p.B = flat[i]
			}
			k.Pairs = append(k.Pairs, p)
		}
		k.Len = int64(max(len(k.Value), len(k.Pairs)))
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *Sample) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// number is a score as Redis writes it.
func number(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// run sends steps, and returns the answers of the release scripts among them.
func run(t testing.TB, s *redistest.Server, steps []Step) []wire.ReleaseReply {
	t.Helper()
	var out []wire.ReleaseReply
	for _, st := range steps {
		args := make([]any, 0, 16)
		for _, a := range st.Call.Argv() {
			args = append(args, a)
		}
		reply, err := s.Try(args...)
		if err != nil {
			t.Fatalf("%s: %v", st.Call.Brief(), err)
		}
		if st.Call.Script == nil {
			continue
		}
		r, err := wire.ParseRelease(reply)
		if err != nil {
			t.Fatalf("%s: %v", st.Call.Brief(), err)
		}
		out = append(out, r)
		if r.Status != wire.ReleaseDone {
			break
		}
	}
	return out
}

// held are the ids of a lock's holders among rows; "<nobody>" stands for one
// without an id.
func held(rows []row, key, field string) []string {
	var out []string
	for _, r := range rows {
		if r.Key != key || r.Field != field || r.State == Free {
			continue
		}
		for _, h := range r.Holders {
			id := string(h.ID)
			if id == "" {
				id = "<nobody>"
			}
			out = append(out, id)
		}
	}
	return out
}

// release is the plan for all holders of a row.
func release(r *row) []Step {
	if r.Found.Family.Release == nil || r.NoRelease != "" {
		return nil
	}
	return r.Found.Family.Release(&Target{Facts: r.facts, Reading: r.Reading, Holders: r.Holders})
}

// TestReleaseOfEveryCapture restores each captured lock into a real server,
// runs its family's plan, and looks again: the holders are gone, and so they
// are not when the lock has changed hands in between.
func TestReleaseOfEveryCapture(t *testing.T) {
	redistest.Need(t)
	s := redistest.Start(t)
	for _, c := range readCorpus(t) {
		if !c.Expect.IsLock || c.Expect.Live != nil && !*c.Expect.Live {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			samples := c.samples()
			w := newWorld(samples, time.UnixMilli(c.CapturedAtMS))
			r := c.pick(w.rows(samples))
			if r == nil {
				t.Skip("not recognised by its keys alone")
			}
			steps := release(r)
			if steps == nil {
				if r.NoRelease == "" && r.Found.Family.NoRelease == "" {
					t.Fatalf("%s gives neither a plan nor a reason", r.Found.Family.ID)
				}
				return
			}
			restore(s, samples)
			for _, reply := range run(t, s, steps) {
				if reply.Status != wire.ReleaseDone || reply.Err != "" {
					t.Fatalf("%s answers %+v", r.Found.Family.ID, reply)
				}
			}
			after := look(t, s)
			now := newWorld(after, time.UnixMilli(c.CapturedAtMS))
			if left := held(now.rows(after), r.Key, r.Field); len(left) > 0 {
				t.Errorf("still held by %q after %s", left, steps[0].Call.Brief())
			}
			keepFence(t, r, w, now)
			changedHands(t, s, samples, steps, r)
		})
	}
}

// keepFence checks that a release leaves the fence counter, or raises it.
func keepFence(t *testing.T, r *row, before, now *world) {
	if r.FenceKey == "" {
		return
	}
	was, is := before.get(r.FenceKey).Value, now.get(r.FenceKey).Value
	if is == "" || wire.LessFence(is, was) {
		t.Errorf("the fence counter went from %s to %q", was, is)
	}
}

// changedHands gives the lock to somebody else before the plan runs: nothing
// may change then. Locks with constant values cannot be told apart so.
func changedHands(t *testing.T, s *redistest.Server, samples []*Sample, steps []Step, r *row) {
	if len(r.Holders) == 0 || r.Holders[0].ID == "" {
		return
	}
	other := make([]*Sample, 0, len(samples))
	for _, k := range samples {
		o := *k
		o.Value = strings.ReplaceAll(o.Value, string(r.Holders[0].ID), "somebody-else")
		o.Pairs = slices.Clone(k.Pairs)
		for i := range o.Pairs {
			o.Pairs[i].A = strings.ReplaceAll(o.Pairs[i].A, string(r.Holders[0].ID), "somebody-else")
			o.Pairs[i].B = strings.ReplaceAll(o.Pairs[i].B, string(r.Holders[0].ID), "somebody-else")
		}
		other = append(other, &o)
	}
	restore(s, other)
	before := s.Dump()
	replies := run(t, s, steps)
	if len(replies) > 0 && replies[0].Status == wire.ReleaseDone {
		t.Errorf("released a lock that changed hands: %+v", replies[0])
	}
	if after := s.Dump(); !maps.Equal(before, after) {
		t.Errorf("a refused release changed the keys from %v to %v", before, after)
	}
}
