package inspect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
)

// text is a reply as the bytes that it stands for. RESP3 answers a score as a
// number: whole ones are written without an exponent, as RESP2 writes them.
func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1e17 {
			return strconv.FormatFloat(x, 'f', -1, 64)
		}
		return strconv.FormatFloat(x, 'g', 17, 64)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// entries reads the collections that are not packed small. Hashes are read
// field by field, each value's length first: a lock may be one small field of
// a large hash. Of the others, and of a hash that may be a lock with very many
// holders, the server says how large they are, and what would be too much to
// fetch whole is left alone.
func (s *sampler) entries(ctx context.Context) error {
	var hashes, unnamed, others []*family.Sample
	var refs []family.FieldRef
	for i, sm := range s.samples {
		switch {
		case !s.probes[i].big || sm.Type == family.None:
		case sm.Type == family.Hash && s.probes[i].fields != nil:
			for _, f := range s.probes[i].fields {
				refs = append(refs, family.FieldRef{Key: sm.Key, Field: f})
			}
			hashes = append(hashes, sm)
		case sm.Type == family.Hash:
			unnamed = append(unnamed, sm)
			if s.bounds.whole && sm.Len > s.bounds.entries && family.FieldGlob(sm.Key) == "" {
				others = append(others, sm)
			}
		case collection(sm.Type):
			others = append(others, sm)
		}
	}
	if err := s.affordable(ctx, others); err != nil {
		return err
	}
	unnamed = slices.DeleteFunc(unnamed, func(sm *family.Sample) bool { return sm.Whole || sm.Type == family.None })
	more, err := s.fieldNames(ctx, unnamed)
	if err != nil {
		return err
	}
	return s.fields(ctx, append(hashes, unnamed...), append(refs, more...))
}

// affordable reads sets, sorted sets and lists whose first entries, and hashes
// all of whose entries are, by the server's own estimate, small enough.
func (s *sampler) affordable(ctx context.Context, samples []*family.Sample) error {
	b := newBatch(ctx, s.c)
	usage := make([]*redis.Cmd, len(samples))
	for i, sm := range samples {
		usage[i] = b.do("memory", "usage", sm.Key)
	}
	if err := b.exec(); err != nil {
		return err
	}
	b = newBatch(ctx, s.c)
	reads := make([]*redis.Cmd, len(samples))
	for i, sm := range samples {
		size, err := usage[i].Int64()
		if notPermitted(err) || sm.Len == 0 {
			continue
		}
		share := min(s.bounds.entries, sm.Len)
		if sm.Type == family.Hash {
			share = sm.Len
		}
		if err == nil && size/sm.Len*share > s.bounds.bulk {
			continue
		}
		reads[i] = b.do(s.entriesCommand(sm)...)
	}
	if err := b.exec(); err != nil {
		return err
	}
	for i, cmd := range reads {
		switch {
		case cmd == nil:
		case cmd.Err() != nil:
			s.failKey(samples[i].Key, cmd.Err())
		default:
			samples[i].Pairs = pairsOf(samples[i].Type, cmd.Val())
			if samples[i].Type == family.Hash && len(samples[i].Pairs) > 0 { // there may be more or fewer by now: these are all
				samples[i].Len = int64(len(samples[i].Pairs))
			}
			samples[i].Whole = int64(len(samples[i].Pairs)) == samples[i].Len
		}
	}
	return nil
}

// fields reads these fields of large hashes, where their values are short.
func (s *sampler) fields(ctx context.Context, hashes []*family.Sample, refs []family.FieldRef) error {
	read, err := readFields(ctx, s.c, s.bounds.item, refs)
	if err != nil {
		return err
	}
	byKey := make(map[string]*family.Sample, len(hashes))
	for _, h := range hashes {
		byKey[h.Key] = h
	}
	for _, ref := range refs {
		sm := byKey[ref.Key]
		switch v, ok := read.values[ref]; {
		case sm.Type == family.None: // another field of it could not be read
		case read.failed[ref] != nil:
			s.failKey(ref.Key, read.failed[ref])
		case !read.gone[ref]:
			sm.Pairs = append(sm.Pairs, family.Pair{A: ref.Field, B: v})
			sm.Whole = ok && int64(len(sm.Pairs)) == sm.Len
		}
	}
	return nil
}

// fieldNames returns some fields of each hash: all of a small one, those that a
// family looks for in one of this name, else a few at random (names alone: a
// value may be of any size).
func (s *sampler) fieldNames(ctx context.Context, hashes []*family.Sample) ([]family.FieldRef, error) {
	b := newBatch(ctx, s.c)
	names := make([]*redis.Cmd, len(hashes))
	for i, h := range hashes {
		switch glob := family.FieldGlob(h.Key); {
		case h.Len <= s.bounds.entries:
			names[i] = b.do("hkeys", h.Key)
		case glob != "":
		default:
			names[i] = b.do("hrandfield", h.Key, s.bounds.entries) // since 6.2
		}
	}
	if err := b.exec(); err != nil {
		return nil, err
	}
	var refs []family.FieldRef
	for i, h := range hashes {
		if names[i] == nil {
			found, err := scanFields(ctx, s.c, h.Key, family.FieldGlob(h.Key))
			switch {
			case serverError(err) && !unable(err):
				s.failKey(h.Key, err)
			case err != nil:
				return nil, err
			}
			refs = append(refs, found...)
			continue
		}
		items, err := names[i].Slice()
		if err != nil && !errors.Is(err, redis.Nil) {
			s.failKey(h.Key, err)
			continue
		}
		for _, it := range items {
			refs = append(refs, family.FieldRef{Key: h.Key, Field: text(it)})
		}
	}
	return refs, nil
}

// maxFieldPages bounds the walk through one hash: a million fields at COUNT 1000.
const maxFieldPages = 1000

// scanFields walks a large hash for the fields that a family looks for. HSCAN
// sends values too, but only of the fields that match.
func scanFields(ctx context.Context, c *redis.Client, key, glob string) ([]family.FieldRef, error) {
	var refs []family.FieldRef
	cursor := "0"
	for range maxFieldPages {
		reply, err := c.Do(ctx, "hscan", key, cursor, "match", glob, "count", 1000).Slice()
		if err != nil {
			return nil, err
		}
		if len(reply) != 2 {
			return refs, nil
		}
		for _, p := range pairsOf(family.Hash, reply[1]) {
			refs = append(refs, family.FieldRef{Key: key, Field: p.A})
		}
		if cursor = text(reply[0]); cursor == "0" {
			break
		}
	}
	return refs, nil
}

// fieldAnswers are the values of fields that are there and not too long, those
// that are not there, and the errors of those that could not be read.
type fieldAnswers struct {
	values map[family.FieldRef]string
	gone   map[family.FieldRef]bool
	failed map[family.FieldRef]error
}

// readFields reads fields of hashes that are not longer than limit bytes.
func readFields(ctx context.Context, c *redis.Client, limit int64, refs []family.FieldRef) (fieldAnswers, error) {
	out := fieldAnswers{
		values: make(map[family.FieldRef]string, len(refs)), gone: map[family.FieldRef]bool{}, failed: map[family.FieldRef]error{},
	}
	b := newBatch(ctx, c)
	lengths := make([]*redis.Cmd, len(refs))
	for i, r := range refs {
		lengths[i] = b.do("hstrlen", r.Key, r.Field)
	}
	if err := b.exec(); err != nil {
		return out, err
	}
	b = newBatch(ctx, c)
	values := make([]*redis.Cmd, len(refs))
	for i, r := range refs {
		switch n, err := lengths[i].Int64(); {
		case err != nil:
			out.failed[r] = err
		case n <= limit:
			values[i] = b.do("hget", r.Key, r.Field)
		}
	}
	if err := b.exec(); err != nil {
		return out, err
	}
	for i, r := range refs {
		if values[i] == nil {
			continue
		}
		switch v, err := values[i].Text(); {
		case err == nil:
			out.values[r] = v
		case errors.Is(err, redis.Nil):
			out.gone[r] = true
		default:
			out.failed[r] = err
		}
	}
	return out, nil
}
