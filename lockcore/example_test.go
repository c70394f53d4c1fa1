package lockcore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"fencepost/lockcore"
)

// client is a client of a Redis that lives in this process, so that the
// examples run anywhere.
func client() (*redis.Client, func()) {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		log.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	return rdb, func() {
		_ = rdb.Close()
		server.Close()
	}
}

// Do is the usual way: the lock is taken, kept while the function runs, and
// released whatever happens.
func ExampleLocker_Do() {
	rdb, done := client()
	defer done()
	l, err := lockcore.New(rdb, lockcore.WithLabel("billing"))
	if err != nil {
		log.Fatal(err)
	}
	err = l.Do(context.Background(), "nightly-billing", func(ctx context.Context, lease *lockcore.Lease) error {
		fmt.Println("alone, with fence", lease.Fence())
		return ctx.Err() // ends when the lock is lost
	})
	switch {
	case errors.Is(err, lockcore.ErrNotAcquired):
		fmt.Println("somebody else is at it")
	case errors.Is(err, lockcore.ErrLost):
		fmt.Println("the work was not under the lock to its end")
	case err != nil:
		fmt.Println("the work failed:", err)
	default:
		fmt.Println("done")
	}
	// Output:
	// alone, with fence 1
	// done
}

// Acquire waits as long as its context lets it; the error says who was in the way.
func ExampleLocker_Acquire() {
	rdb, done := client()
	defer done()
	l, err := lockcore.New(rdb, lockcore.WithHost("web-1", 4242), lockcore.WithLabel("import"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	lease, err := l.TryAcquire(ctx, "orders")
	if err != nil {
		log.Fatal(err)
	}

	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = l.Acquire(short, "orders")
	var held *lockcore.HeldError
	if errors.As(err, &held) {
		fmt.Printf("held by %s/%d for %s, fence %v\n", held.Holder.Host, held.Holder.PID, held.Holder.Label, held.Holder.Fence)
	}
	fmt.Println("timed out:", errors.Is(err, context.DeadlineExceeded))

	time.AfterFunc(20*time.Millisecond, func() { _ = lease.Release(ctx) })
	next, err := l.Acquire(ctx, "orders") // without an end of its own: until it has it
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("then acquired, fence", next.Fence())
	if err := next.Release(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// held by web-1/4242 for import, fence 1
	// timed out: true
	// then acquired, fence 2
}

// A guard refuses a holder that was overtaken, however sure that holder is.
func ExampleGuard() {
	rdb, done := client()
	defer done()
	l, err := lockcore.New(rdb, lockcore.WithoutRenewal())
	if err != nil {
		log.Fatal(err)
	}
	account, err := lockcore.NewGuard(rdb, "account:{7}")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	slow, err := l.TryAcquire(ctx, "account-7", lockcore.Entering(account))
	if err != nil {
		log.Fatal(err)
	}
	// The slow holder stands still; its lock expires, and the next one comes.
	rdb.Del(ctx, "lock:{account-7}")
	quick, err := l.TryAcquire(ctx, "account-7", lockcore.Entering(account))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("quick writes:", account.Set(ctx, quick, []byte("50")))
	err = account.Set(ctx, slow, []byte("70"))
	fmt.Println("slow writes:", err)
	fmt.Println("stale:", errors.Is(err, lockcore.ErrStale))
	fmt.Println("the balance is", rdb.Get(ctx, "account:{7}").Val())
	// Output:
	// quick writes: <nil>
	// slow writes: lockcore: stale fence: "account:{7}" has seen 2, this is 1
	// stale: true
	// the balance is 50
}

// After the counter was lost, a guard that remembers refuses every new holder.
// The error says from where to go on.
func ExampleFenceFloor() {
	rdb, done := client()
	defer done()
	l, err := lockcore.New(rdb)
	if err != nil {
		log.Fatal(err)
	}
	guard, err := lockcore.NewGuard(rdb, "report")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	rdb.Set(ctx, "{report}:seen", "500:before-the-restore", 0)

	_, err = l.TryAcquire(ctx, "report", lockcore.Entering(guard))
	var stale *lockcore.StaleError
	if errors.As(err, &stale) {
		fmt.Println("the guard has seen", stale.Seen)
		lease, err := l.TryAcquire(ctx, "report", lockcore.Entering(guard), lockcore.FenceFloor(stale.Seen))
		fmt.Println("repaired with", lease.Fence(), err)
	}
	// Output:
	// the guard has seen 500
	// repaired with 501 <nil>
}
