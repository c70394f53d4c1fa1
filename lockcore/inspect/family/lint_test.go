package family

import (
	"fmt"
	"slices"
	"testing"
)

// Every warning that any lock may deserve, beside a lock that is well and does
// not: what is warned of without a reason is soon not read any more.
func TestEachWarningAndItsHealthyLock(t *testing.T) {
	someone := idA + ":38"
	lock := func(key string, pttl int64) *Sample { return coll(key, Hash, pttl, someone, "1") }
	beside := func(fence string, pttl int64) []*Sample {
		return []*Sample{lock("order-lock", 30_000), text("redisson_lock_token:{order-lock}", fence, pttl)}
	}
	ours := func(beside ...*Sample) []*Sample {
		held := "bq1TnEJm0zYw2xkR9sVfQA:34:since=2026-11-30T07:39:00.000Z host=web-1"
		return append([]*Sample{text("lock:{a}", held, 20_000)}, beside...)
	}
	since := func(secondsAgo, pttl int64) []*Sample {
		return []*Sample{text("lock:job", fmt.Sprintf(`{"host":"web-1","pid":42,"since":%d}`, moment.Unix()-secondsAgo), pttl)}
	}
	for _, c := range []struct {
		code      string
		ill, well []*Sample
	}{
		{NoExpiry, []*Sample{lock("order-lock", NoTTL)}, []*Sample{lock("order-lock", 30_000)}},
		{TTLYears, []*Sample{lock("order-lock", 200*year)}, []*Sample{lock("order-lock", 30_000)}},
		{ConstantValue, []*Sample{text("lock:a", "1", 30_000)}, []*Sample{text("lock:a", idA, 30_000)}},
		{FenceTTL, beside("34", 60_000), beside("34", NoTTL)},
		{FenceMissing, ours(), ours(text("lock:{a}:fence", "34", NoTTL))},
		{FenceBackwards, ours(text("lock:{a}:fence", "12", NoTTL)), ours(text("lock:{a}:fence", "35", NoTTL))},
		{SharedName, []*Sample{lock("lock:x", 30_000), coll("lock.event:x", List, NoTTL, "1")}, []*Sample{lock("lock:x", 30_000)}},
		{WrongType, []*Sample{coll("order-lock", List, NoTTL, "x"), coll("redisson_lock_queue:{order-lock}", List, NoTTL, someone)},
			[]*Sample{lock("order-lock", 30_000), coll("redisson_lock_queue:{order-lock}", List, NoTTL, idB+":3")}},
		{HeldLong, since(5*3600, 20_000), since(60, 20_000)},
	} {
		has := func(keys []*Sample) (shown int, yes bool) {
			for _, s := range keys {
				s.NowMS = moment.UnixMilli()
			}
			for _, r := range newWorld(keys, moment).rows(keys) {
				shown++
				yes = yes || slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == c.code })
			}
			return shown, yes
		}
		if n, yes := has(c.ill); n == 0 || !yes {
			t.Errorf("%s is not warned of, in %d locks", c.code, n)
		}
		if n, yes := has(c.well); n == 0 || yes {
			t.Errorf("%s is warned of without a reason, in %d locks", c.code, n)
		}
	}
}
