package libraries

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"fencepost/lockcore/redistest"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// rueidisTTL is long, so that neither an extension (at half of it) nor the
// lock's end can be what cancels a holder or wakes a waiter here.
const rueidisTTL = 60 * time.Second

func rueidisOn(t testing.TB, s *redistest.Server) rueidislock.Locker {
	t.Helper()
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{s.Addr}},
		KeyValidity:  rueidisTTL,
		TryNextAfter: time.Second, // the default of 20 ms gives up on a busy machine
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// rueidisHeld is a lock as its holder has it: the context ends when it is lost.
type rueidisHeld struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// rueidisID is the value of the lock's three keys, once all of them are there:
// the third is set behind the holder's back, after the majority.
func rueidisID(s *redistest.Server, name string) string {
	var id string
	s.Until("all three keys of the lock hold one value", func() bool {
		v := s.Do("MGET", "rueidislock:0:"+name, "rueidislock:1:"+name, "rueidislock:2:"+name).([]any)
		id, _ = v[0].(string)
		return id != "" && v[1] == v[0] && v[2] == v[0]
	})
	return id
}

// rueidislock: three keys are one row, and a release removes all of them; the
// server's invalidation message cancels the holder's context and wakes the
// waiter at once.
func TestRueidislock(t *testing.T) {
	const name, key = "thumbnails", "rueidislock:0:thumbnails"
	s := redistest.Start(t)
	ctx, cancel, err := rueidisOn(t, s).WithContext(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	firstID := rueidisID(s, name)
	w := want{key: key, resource: name, family: "rueidislock", kind: "mutex", typ: "string", holders: []string{firstID}, ttl: rueidisTTL}
	r := w.sees(t, s)
	if !slices.Equal(r.Companions, []string{"rueidislock:1:thumbnails", "rueidislock:2:thumbnails"}) {
		t.Errorf("companions are %v", r.Companions)
	}

	heard := hearRemovals(t, s, key)
	ended := make(chan time.Time, 1)
	context.AfterFunc(ctx, func() { ended <- time.Now() })
	locker := rueidisOn(t, s)
	var second <-chan got[rueidisHeld]
	whileTrying(s, func() {
		second = waiting(func() (rueidisHeld, error) {
			ctx, cancel, err := locker.WithContext(t.Context(), name)
			return rueidisHeld{ctx, cancel}, err
		})
	})
	w.sees(t, s)
	if ctx.Err() != nil {
		t.Fatal("the holder's context ended before the release")
	}
	release(t, s, key, firstID).ends(t, "RELEASED", 0)
	next := theLock(t, second)
	heard.woken(t, next.at, 0)
	within(t, slack, "the end of the old holder's context", ended)

	secondID := rueidisID(s, name)
	if secondID == firstID {
		t.Fatal("the waiter holds the old value")
	}
	w.holders = []string{secondID}
	w.sees(t, s)
	changedHands(t, s, key, firstID)
	if err := next.lock.ctx.Err(); err != nil {
		t.Errorf("the new holder's context ended by a release that said CHANGED: %v", err)
	}
	next.lock.cancel()
	gone(t, s, key, secondID)
}

// A lock that lost one key of three is still held, for the list as for the
// library, and a release takes the two that are left.
func TestRueidislockMajority(t *testing.T) {
	const name = "thumbnails"
	s := redistest.Start(t)
	ctx, cancel, err := rueidisOn(t, s).WithContext(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	id := rueidisID(s, name)
	s.Do("DEL", "rueidislock:0:"+name)
	if r := list(t, s); len(r) != 1 || r[0].State != "held" || ctx.Err() != nil {
		t.Fatalf("two keys of three are the lock; holder's context: %v, list: %+v", ctx.Err(), r)
	}
	release(t, s, "rueidislock:0:"+name, id).ends(t, "RELEASED", 0)
	within(t, slack, "the end of the holder's context", ctx.Done())
	if left := locksOf(s); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("the holder's context ended with %v", context.Cause(ctx))
	}
}
