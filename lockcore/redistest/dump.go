package redistest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Dump returns what every key of the server's database holds, in one form for
// each type: "hash f=v g=w", fields and members in order, scores with them, and
// " (expires)" at the end where the key has a TTL. Two dumps that are equal
// differ in nothing but how much of a TTL is left.
func (s *Server) Dump() map[string]string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	return Dump(ctx, s.t, s.dumper())
}

func (s *Server) dumper() *redis.Client {
	if s.client == nil {
		s.client = s.newClient()
	}
	return s.client
}

// Dump is Server.Dump over any client, of the database that it selected.
func Dump(ctx context.Context, t testing.TB, c *redis.Client) map[string]string {
	t.Helper()
	out := map[string]string{}
	it := c.Scan(ctx, 0, "*", 1000).Iterator()
	for it.Next(ctx) {
		text, err := dumpKey(ctx, c, it.Val())
		if err != nil {
			t.Fatalf("redistest: dump %q: %v", it.Val(), err)
		}
		if text != "" {
			out[it.Val()] = text
		}
	}
	if err := it.Err(); err != nil {
		t.Fatalf("redistest: dump: %v", err)
	}
	return out
}

// dumpKey is one key's line; "" where it is gone by now.
func dumpKey(ctx context.Context, c *redis.Client, key string) (string, error) {
	kind, err := c.Type(ctx, key).Result()
	if err != nil || kind == "none" {
		return "", err
	}
	words := []string{kind}
	switch kind {
	case "string":
		v, err := c.Get(ctx, key).Result()
		if err != nil {
			return "", ignoreNil(err)
		}
		words = append(words, strconv.Quote(v))
	case "hash":
		fields, err := c.HGetAll(ctx, key).Result()
		if err != nil {
			return "", err
		}
		for f, v := range fields {
			words = append(words, strconv.Quote(f)+"="+strconv.Quote(v))
		}
		slices.Sort(words[1:])
	case "zset":
		members, err := c.ZRangeWithScores(ctx, key, 0, -1).Result()
		if err != nil {
			return "", err
		}
		for _, m := range members {
			words = append(words, strconv.Quote(fmt.Sprint(m.Member))+"="+strconv.FormatFloat(m.Score, 'f', -1, 64))
		}
	case "set":
		members, err := c.SMembers(ctx, key).Result()
		if err != nil {
			return "", err
		}
		slices.Sort(members)
		words = append(words, quoteAll(members)...)
	case "list":
		items, err := c.LRange(ctx, key, 0, -1).Result()
		if err != nil {
			return "", err
		}
		words = append(words, quoteAll(items)...)
	}
	ttl, err := c.Do(ctx, "PTTL", key).Int64()
	switch {
	case err != nil:
		return "", err
	case ttl == -2:
		return "", nil
	case ttl >= 0:
		words = append(words, "(expires)")
	}
	return strings.Join(words, " "), nil
}

func ignoreNil(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

func quoteAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return out
}
