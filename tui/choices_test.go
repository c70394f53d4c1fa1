package tui

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/audit"
)

// tall is a console without demos on a screen that has room for everything.
func tall() benchOptions {
	o := empty()
	o.width, o.height = 120, 40
	return o
}

// Up and Down reach the gentle choices and never Release: who only means to
// scroll, and then presses Enter, changes nothing.
func TestScrollingDoesNotReachRelease(t *testing.T) {
	run(t, empty(), func(b *bench) {
		panel(b)
		b.press("down", "down", "j")
		b.want(">[ Cancel ]")
		b.press("pgdown", "pgup", "ctrl+d", "down", "enter")
		b.want("nothing was changed")
		if b.do("EXISTS", "order:1") != int64(1) || b.audit.Len() > 0 {
			t.Error("scrolling released the lock")
		}
	})
}

func TestSetTTL(t *testing.T) {
	run(t, tall(), func(b *bench) {
		b.do("SET", "lock:a", "GxwErhZvp2QmLvacHpVgjGjA")
		b.pass(10 * time.Second)
		b.press("u")
		b.pass(time.Second)
		b.want("NO EXPIRY", "2  Set the TTL")
		b.press("2")
		b.pass(400 * time.Millisecond)
		for text, why := range map[string]string{
			"0": "would delete the lock", "-5": "would delete the lock", "-1m": "would delete the lock", "500ms": "as good as deleting it",
			"99999999999999999999": "more than a year", "9999h": "more than a year", "400d": "more than a year", "soon": "that is no time", "5x": "that is no time",
			"-99999999999999999999": "would delete the lock", "": "for how long?",
		} {
			b.press("ctrl+u")
			if text != "" {
				b.program.Send(paste(text))
			}
			b.press("enter")
			b.want(why, "> Let it end in")
		}
		b.press("ctrl+u")
		b.program.Send(paste("90"))
		b.press("enter") // a number alone is seconds, and the screen says so
		b.want("Let this lock expire in 1 min 30 s?", "1 min 30 s, instead of no expiry", "EVAL <release_string>", "> Reason (may be left out)")
		b.enter("INC-4711", "enter")
		b.pass(300 * time.Millisecond)
		b.want("TTL SET", "1 min 30 s from now")
		if ttl, _ := b.do("PTTL", "lock:a").(int64); ttl < 80_000 || ttl > 90_000 {
			t.Errorf("its TTL is %d ms", ttl)
		}
		b.audited("ttl", "lock:a", `"new_ttl_ms":90000`, "INC-4711", "TTL SET")
		b.press("enter")
		b.want("TTL SET lock:a")
	})
}

func TestHoldAndLift(t *testing.T) {
	run(t, tall(), func(b *bench) {
		panel(b)
		b.press("4")
		b.pass(400 * time.Millisecond)
		b.want("> Hold it for (10s to 24h)", "Reason; it is kept beside the lock")
		b.enter("5s", "enter")
		b.want("a hold lasts from 10 s")
		b.enter("ctrl+u", "10m", "enter", "enter")
		b.want("a reason is needed")
		b.enter("looking at the damage", "enter")
		b.pass(300 * time.Millisecond)
		b.want("HELD", redissonA+" is out")
		b.audited("hold", "order:1", redissonA, "looking at the damage", "HELD", `"new_ttl_ms":600000`)
		if b.do("HEXISTS", "order:1", redissonA) != int64(0) || b.do("EXISTS", "order:1") != int64(1) {
			t.Error("the operator does not hold it")
		}
		b.press("enter")
		b.pass(1200 * time.Millisecond)
		b.press("u")
		b.pass(time.Second)
		b.want("on hold", "by ann@desk", "looking at the damage", "4  Lift the hold")
		b.press("4")
		b.pass(400 * time.Millisecond)
		b.want("Lift the hold on this lock?", "Reason (may be left out): looking at the damage", "take away the note")
		b.press("enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED")
		b.audited("unhold", "order:1", "RELEASED")
		if n := b.do("EXISTS", "order:1", "order:1:fencepost:hold"); n != int64(0) {
			t.Errorf("%v keys are left", n)
		}
	})
}

// A family where a hold would not stick has none, and says why.
func TestNoHoldHasAReason(t *testing.T) {
	run(t, tall(), func(b *bench) {
		b.do("SET", "lock:report", "1", "PX", "60000")
		b.pass(10 * time.Second)
		b.press("u")
		b.pass(time.Second)
		b.want("4  Put a hold        not here: ")
		b.press("4")
		b.want("Put a hold: ")
		b.never("Hold it for")
	})
}

func TestReleaseOneOfSeveral(t *testing.T) {
	run(t, tall(), func(b *bench) {
		b.do("HSET", "catalog", "mode", "read", redissonA, "1", redissonB, "1")
		b.do("SET", "{catalog}:"+redissonA+":rwlock_timeout:1", "1", "PX", "60000")
		b.do("SET", "{catalog}:"+redissonB+":rwlock_timeout:1", "1", "PX", "60000")
		b.do("PEXPIRE", "catalog", "60000")
		b.pass(10 * time.Second)
		b.press("u")
		b.pass(time.Second)
		b.want(redissonA, redissonB, "5  Release one       of the 2 who hold it", "[ Release all 2 ]")
		b.press("5")
		b.never("other button", "Esc cancel") // there are no buttons to choose from
		b.want("Release which of its holders?")
		for !strings.Contains(b.line("> "+redissonB), redissonB) {
			b.press("down")
		}
		b.press("enter")
		b.pass(400 * time.Millisecond)
		b.want("Release one of its holders by force?")
		b.press("enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED", "The others hold on: "+redissonA)
		if b.do("HEXISTS", "catalog", redissonA) != int64(1) || b.do("HEXISTS", "catalog", redissonB) != int64(0) {
			t.Error("not exactly the chosen holder is gone")
		}
		b.audited("release", redissonB)
		b.press("enter")
	})
}

// Where the audit cannot be written, a guarded target refuses; elsewhere it is
// said, and done.
func TestAuditThatCannotBeWritten(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		o := tall()
		o.console = func(c *Options) {
			c.Explain, c.Identify, c.Audit = nil, nil, audit.File(filepath.Join("/dev/null", "audit.jsonl"))
			c.Server = Server{Name: "redis.example.com:6379", Role: "master", Guarded: guarded}
		}
		run(t, o, func(b *bench) {
			panel(b)
			b.press("tab", "enter")
			want, left := "RELEASED", int64(0)
			if guarded {
				b.pass(400 * time.Millisecond)
				b.enter("redis.example.com", "enter", redissonA[len(redissonA)-6:], "enter", "INC-1", "enter")
				want, left = "REFUSED", 1
			}
			b.pass(300 * time.Millisecond)
			b.want(want, "audit")
			if b.do("EXISTS", "order:1") != left {
				t.Errorf("guarded %v: the lock is not as it should be", guarded)
			}
		})
	}
}

// On a replica nothing is offered: what it changes is lost.
func TestReplicaOffersNoChange(t *testing.T) {
	o := tall()
	o.console = func(c *Options) {
		c.Explain, c.Identify = nil, nil
		c.Server = Server{Name: "127.0.0.1:6379", Role: "replica"}
	}
	run(t, o, func(b *bench) {
		panel(b)
		b.want("Release is off: this server is a replica: act on its master")
		b.press("2")
		b.want("Set the TTL: this server is a replica")
		b.press("tab", "enter")
		if b.do("EXISTS", "order:1") != int64(1) || b.audit.Len() > 0 {
			t.Error("a lock of a replica was released")
		}
	})
}

// One lock on several masters is a row on each, and the panel says so.
func TestPanelNamesTheOtherMasters(t *testing.T) {
	a, b := someLocks()[7], someLocks()[7]
	b.Node = "127.0.0.1:6380"
	d := newDirect(120, 40).found(a, b)
	var mine *row
	for _, r := range d.m.feed.slots {
		if r.lock.Node == a.Node {
			mine = r
		}
	}
	d.m.release = release{row: mine, stage: asking, seen: a, live: a, armed: true}
	d.m = d.m.review(a)
	if view := d.m.open(atRelease).View(); !strings.Contains(view, "127.0.0.1:6380: this is for one of them") {
		t.Errorf("the other master is not named:\n%s", view)
	}
}

// On a read-only target every choice that would change something refuses with
// the sentence; waiting and reminders change nothing.
func TestReadOnlyChoices(t *testing.T) {
	o := tall()
	o.console = func(c *Options) {
		c.Explain, c.Identify = nil, nil
		c.Server = Server{Name: "127.0.0.1:6379", ReadOnly: "started with --read-only"}
	}
	run(t, o, func(b *bench) {
		panel(b)
		for _, k := range []string{"2", "t", "4", "5"} {
			b.press(k)
			b.want("this target is read-only: started with --read-only; nothing was changed", ">[ Cancel ]")
		}
		b.press("tab", "tab", "enter")
		if b.do("EXISTS", "order:1") != int64(1) || b.audit.Len() > 0 {
			t.Error("a read-only console changed something")
		}
		b.press("u")
		b.pass(time.Second)
		b.press("1")
		b.want("you will be told")
	})
}

// After a release it is said who took the lock next and how fast, or that the
// same holder put it back.
func TestAfterWatch(t *testing.T) {
	for name, c := range map[string]struct {
		holder string
		want   string
	}{"another": {redissonB, "Next: taken within"}, "the same": {redissonA, "the same holder has it again"}, "nobody": {"", "Next: within 10 s nobody took it"}} {
		t.Run(name, func(t *testing.T) {
			run(t, tall(), func(b *bench) {
				panel(b)
				b.press("tab", "enter")
				b.pass(300 * time.Millisecond)
				b.want("RELEASED", "watching who takes it next")
				if c.holder != "" {
					b.hold("order:1", c.holder, 30*time.Second)
				}
				b.pass(11 * time.Second)
				b.want(c.want)
				b.press("enter")
				b.want("RELEASED order:1")
			})
		})
	}
}

// Whoever leaves the panel before anybody has taken the lock is told all the same.
func TestAfterWatchWhenThePanelIsLeft(t *testing.T) {
	run(t, tall(), func(b *bench) {
		panel(b)
		b.press("tab", "enter")
		b.pass(300 * time.Millisecond)
		b.press("enter")
		b.hold("order:1", redissonB, 30*time.Second)
		b.pass(time.Second)
		b.want("order:1: taken within", redissonB)
	})
}

// The scripts are folded, and one key shows them in full.
func TestUnfold(t *testing.T) {
	run(t, tall(), func(b *bench) {
		panel(b)
		folded := len(strings.Split(strings.TrimRight(b.screen(), "\n"), "\n"))
		b.never("redis.call")
		b.press("@", "pgdown", "pgdown")
		b.want("redis.call")
		b.press("@")
		b.never("redis.call")
		if folded > 40 {
			t.Errorf("%d lines", folded)
		}
	})
}

// A lapsed lock has no holder that works on: nothing is said of what it does
// afterwards.
func TestLapsedLockSaysNothingOfItsHolder(t *testing.T) {
	run(t, tall(), func(b *bench) {
		b.do("SET", "RedisMutex:cleanup", "1764500000.5")
		b.pass(10 * time.Second)
		b.press("u")
		b.pass(time.Second)
		b.want("RedisMutex:cleanup", "already takes this lock for free")
		b.never("the holder works on")
	})
}
