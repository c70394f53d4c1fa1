package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// several holds locks a1 to a<n>, marks them all and opens the panel for them.
func several(b *bench, n int) {
	for i := range n {
		b.hold(fmt.Sprintf("lock:%02d", i+1), fmt.Sprintf("%s%d", redissonA, i), 5*time.Minute)
	}
	b.press("r")
	b.pass(11 * time.Second)
	for range n {
		b.press(" ")
	}
	b.press("u")
	b.pass(time.Second)
}

func TestBulkRelease(t *testing.T) {
	run(t, tall(), func(b *bench) {
		several(b, 3)
		b.hold("lock:99", redissonB, time.Minute) // nobody marked it
		b.want("Release these 3 locks by force?  Nothing has been done yet.", "lock:01", "lock:02", "lock:03",
			"held by "+redissonA+"2", "> Type how many locks these are", "Reason (may be left out)")
		b.pass(400 * time.Millisecond)
		b.enter("2", "enter")
		b.want("that is not how many these are")
		b.enter("ctrl+u", "3", "enter", "INC-4711", "enter")
		b.pass(time.Second)
		b.want("3 RELEASED", "RELEASED: "+redissonA+"0", "Enter goes back")
		if n := b.do("EXISTS", "lock:01", "lock:02", "lock:03", "lock:99"); n != int64(1) {
			t.Errorf("%v locks are left, want the one that was not marked", n)
		}
		if n := strings.Count(b.audit.String(), `"reason":"INC-4711"`); n != 3 {
			t.Errorf("the audit has %d intents", n)
		}
		b.audited("release", "lock:03", "RELEASED")
		b.press("enter")
		b.want("3 RELEASED")
		b.never("marked (")
	})
}

// A lock of the list that changes hands while it is open: nothing at all is
// released, and it is said which one.
func TestBulkChangesHands(t *testing.T) {
	for name, then := range map[string]func(b *bench){
		"changed": func(b *bench) { b.hold("lock:02", redissonB, time.Minute) },
		"gone":    func(b *bench) { b.do("DEL", "lock:02") },
		"renewed": func(b *bench) { b.do("PEXPIRE", "lock:02", 400_000) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, tall(), func(b *bench) {
				several(b, 3)
				b.pass(400 * time.Millisecond)
				b.enter("3", "enter")
				then(b)
				left := b.do("EXISTS", "lock:01", "lock:02", "lock:03")
				b.pass(1200 * time.Millisecond)
				b.want("lock:02", "Nothing was changed.", ">[ Cancel ]")
				if name != "renewed" {
					b.want("     was held by " + redissonA + "1")
					b.never("was held by "+redissonA+"1,", "was held by "+redissonA+"0")
				}
				b.press("enter")
				b.want("nothing was changed", "3 marked")
				if b.do("EXISTS", "lock:01", "lock:02", "lock:03") != left || b.audit.Len() > 0 {
					t.Error("something was released")
				}
			})
		})
	}
}

// It stops at the first surprise: what comes after that is not touched.
func TestBulkStopsAtTheFirstSurprise(t *testing.T) {
	run(t, tall(), func(b *bench) {
		several(b, 4)
		b.pass(400 * time.Millisecond)
		b.enter("4", "enter")
		b.hold("lock:02", redissonB, time.Minute) // after the last look
		b.program.Send(press("enter"))
		b.pass(600 * time.Millisecond)
		b.want("1 CHANGED, 1 RELEASED", "Stopped at the first surprise: 2 more were not touched", "CHANGED: ", "not touched")
		if b.do("EXISTS", "lock:01") != int64(0) || b.do("HEXISTS", "lock:02", redissonB) != int64(1) || b.do("EXISTS", "lock:03", "lock:04") != int64(2) {
			t.Error("not exactly the first is gone")
		}
		b.press("enter")
		b.want("3 marked")
	})
}

// No more than can be read are released together.
func TestBulkHasACap(t *testing.T) {
	run(t, tall(), func(b *bench) {
		several(b, maxBulk+1)
		b.want("21 are marked; no more than 20 are released together", "21 marked")
		b.press("c")
		b.want("nothing is marked")
		b.never("21 marked")
	})
}

// Marks stay with their locks, whatever the order and the filter; one that has
// changed hands since it was marked is left out.
func TestMarksFollowTheLock(t *testing.T) {
	run(t, tall(), func(b *bench) {
		b.hold("lock:a", redissonA, time.Minute)
		b.hold("lock:b", redissonB, 5*time.Minute)
		b.pass(11 * time.Second)
		b.press("g", " ")
		b.hold("a-first", redissonA+"7", time.Hour)
		b.pass(11 * time.Second)
		if l := b.line("lock:a"); !strings.HasPrefix(l, " *") {
			t.Errorf("the marked row is %q", l)
		}
		b.press("o", "down", "down", "enter", "O", "/")
		b.program.Send(paste("lock:b"))
		b.press("enter")
		b.want("1 marked, 1 of them not in view")
		b.press("esc", "g")
		for !strings.HasPrefix(b.line("lock:b"), ">") {
			b.press("down")
		}
		b.press(" ")
		b.hold("lock:a", redissonB, time.Minute)
		b.pass(1500 * time.Millisecond)
		b.press("u")
		b.pass(time.Second)
		b.want("Release this lock by force?", "lock:a", "left out: it changed hands since it was marked", redissonB+" had it", "lock:b")
		b.pass(400 * time.Millisecond)
		b.enter("1", "enter", "enter")
		b.pass(time.Second)
		b.want("1 RELEASED")
		if b.do("EXISTS", "lock:a") != int64(1) || b.do("EXISTS", "lock:b") != int64(0) {
			t.Error("not exactly lock:b is gone")
		}
	})
}

// On production the list is armed first and needs a reason; read-only it is not
// offered at all.
func TestBulkOnProductionAndReadOnly(t *testing.T) {
	o := tall()
	o.console = func(c *Options) {
		c.Explain, c.Identify = nil, nil
		c.Server = Server{Name: "redis.example.com:6379", Role: "master", Env: "prod", Guarded: true}
	}
	run(t, o, func(b *bench) {
		several(b, 2)
		b.pass(400 * time.Millisecond)
		b.want("> Type prod to arm this target", "environment prod")
		b.enter("2", "enter")
		b.want("that is not the name of this target")
		b.enter("prod", "enter", "2", "enter", "enter")
		b.want("a reason is needed", "ARMED")
		if b.do("EXISTS", "lock:01", "lock:02") != int64(2) {
			t.Fatal("released without a reason")
		}
		b.enter("INC-1", "enter")
		b.pass(time.Second)
		b.want("2 RELEASED")
	})
	o.console = func(c *Options) {
		c.Explain, c.Identify = nil, nil
		c.Server = Server{Name: "127.0.0.1:6379", ReadOnly: "started with --read-only"}
	}
	run(t, o, func(b *bench) {
		several(b, 2)
		b.want("Nothing may be changed here: started with --read-only")
		b.enter("2", "enter")
		if b.do("EXISTS", "lock:01", "lock:02") != int64(2) || b.audit.Len() > 0 {
			t.Error("a read-only console released something")
		}
	})
}

// What was typed before the list was drawn must not answer it.
func TestBulkTypeAheadIsDropped(t *testing.T) {
	run(t, tall(), func(b *bench) {
		for i := range 2 {
			b.hold(fmt.Sprintf("lock:%02d", i+1), fmt.Sprintf("%s%d", redissonA, i), 5*time.Minute)
		}
		b.pass(11 * time.Second)
		b.press(" ", " ")
		for _, k := range []string{"u", "2", "enter", "enter", "enter"} {
			b.program.Send(press(k))
		}
		b.pass(2 * time.Second)
		b.want("> Type how many locks these are")
		if b.do("EXISTS", "lock:01", "lock:02") != int64(2) {
			t.Error("released")
		}
	})
}
