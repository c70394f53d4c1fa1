package tui

import (
	"strings"
	"testing"
	"time"
)

// The one who waits is told by a notice and a bell when the lock is free, or
// another has it; then the wait is over.
func TestWaitAndTellMe(t *testing.T) {
	for name, c := range map[string]struct {
		then func(b *bench)
		want string
	}{
		"gone":   {func(b *bench) { b.do("DEL", "order:1") }, "order:1 is free: the server said that it is gone, after "},
		"handed": {func(b *bench) { b.hold("order:1", redissonB, time.Minute) }, "order:1 was handed over to " + redissonB},
		"expiry": {func(b *bench) { b.pass(45 * time.Second) }, "order:1 is free"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, tall(), func(b *bench) {
				panel(b)
				b.press("1")
				b.want("you will be told, with a bell", "you will be told of 1 lock")
				b.do("PEXPIRE", "order:1", "40000")
				b.pass(3 * time.Second)
				if b.bells.Load() != 0 {
					t.Error("it rang though the same holder has it")
				}
				c.then(b)
				b.pass(1500 * time.Millisecond)
				b.want(c.want)
				b.never("you will be told of")
				if b.bells.Load() != 1 {
					t.Errorf("it rang %d times", b.bells.Load())
				}
				if b.audit.Len() != 0 {
					t.Error("waiting is in the audit")
				}
			})
		})
	}
}

func TestAskAgainLater(t *testing.T) {
	run(t, tall(), func(b *bench) {
		b.hold("order:1", redissonA, time.Hour)
		b.pass(10 * time.Second)
		b.press("u")
		b.pass(time.Second)
		b.press("3")
		b.pass(400 * time.Millisecond)
		b.want("> Ask again in: 5m")
		b.enter("ctrl+u", "2m", "enter")
		b.want("you will be asked again in 2 min", "you will be told of 1 lock")
		b.pass(115 * time.Second)
		if b.bells.Load() != 0 {
			t.Error("it rang before its time")
		}
		b.pass(10 * time.Second)
		b.want("order:1 is still held by " + redissonA)
		if b.bells.Load() != 1 {
			t.Errorf("it rang %d times", b.bells.Load())
		}
	})
}

// What is waited for is bounded, and a second wait for one lock is the first.
func TestVigilsAreBounded(t *testing.T) {
	d := newDirect(80, 24).found(someLocks()...)
	r := d.m.list.rows[0]
	for range maxVigils + 10 {
		d.m = d.m.waitFor(r, *r.lock)
	}
	if len(d.m.vigils) != 1 {
		t.Errorf("%d waits for one lock", len(d.m.vigils))
	}
	for i := range maxVigils + 10 {
		other := *r
		other.id = r.id + strings.Repeat("x", i)
		d.m = d.m.waitFor(&other, *r.lock)
	}
	if len(d.m.vigils) != maxVigils {
		t.Errorf("%d waits", len(d.m.vigils))
	}
}
