package inspect_test

import (
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
	"fencepost/lockcore/wire"
)

// A24: a lock of which only its shape is known, and which may be that of
// python-redis-lock with an id of the application's own: who waits blocks
// without end, and is woken. A user who may not write the list that they block
// on releases all the same, and is told.
func TestUnknownLockWakesWhoBlocks(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Do("SET", "lock:job", "worker-17")
	woken := make(chan []string, 1)
	blocked := s.Client()
	go func() {
		got, err := blocked.BLPop(t.Context(), 20*time.Second, "lock-signal:job").Result()
		if err != nil {
			t.Error(err)
		}
		woken <- got
	}()
	s.Until("somebody blocks", func() bool { return strings.Contains(s.Do("INFO", "clients").(string), "blocked_clients:1") })
	in := at(t, s.Addr)
	p := releasePlan(t, in, "lock:job", "worker-17")
	if p.Lock.Family != "unknown" {
		t.Fatalf("the lock is one of %s: this test is of one whose library is not known", p.Lock.Family)
	}
	if out := in.Run(t.Context(), p); out.Word != inspect.Released {
		t.Errorf("%+v", out)
	}
	if got := <-woken; len(got) != 2 {
		t.Errorf("woken by %q", got)
	}

	s.Do("SET", "lock:job", "worker-17")
	user(s, "narrow", "~lock:*", "&*", "+@all")
	in = at(t, s.Addr, as("narrow"))
	out := in.Run(t.Context(), releasePlan(t, in, "lock:job", "worker-17"))
	if out.Word != inspect.Released || out.Told != wire.ToldFailed {
		t.Errorf("%+v", out)
	}
	if n := s.Do("EXISTS", "lock:job", "lock-signal:job"); n != int64(0) {
		t.Errorf("%v keys are left", n)
	}
}
