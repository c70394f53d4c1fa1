package lockcore

import (
	"testing"
	"time"
)

func TestALeaseLivesAsLongAsItIsRenewed(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		l := w.locker()
		lease, err := l.TryAcquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
		n := w.sent()
		if want := int(time.Hour/(DefaultTTL/3)) + 1; n < want-2 || n > want+2 {
			t.Errorf("%d scripts in an hour, want about %d", n, want)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.get("lock:{a}") != "" {
			t.Error("the lock is still there")
		}
		time.Sleep(time.Minute)
		if m := w.sent(); m != n+2 { // the release, by SHA-1 and by text
			t.Errorf("%d scripts after the release", m-n-1)
		}
	})
}
