package tui

import (
	"errors"
	"path/filepath"
	"slices"
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

// A lock that changes hands while a form is open: nothing is changed, and it is
// said.
func TestChangedHandsWhileAFormIsOpen(t *testing.T) {
	for name, fill := range map[string][]string{
		"ttl": {"2", "wait", "30s", "enter"}, "hold": {"4", "wait", "10m", "enter", "because"}, "later": {"3", "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, tall(), func(b *bench) {
				panel(b)
				for _, k := range fill {
					if k == "wait" {
						b.pass(400 * time.Millisecond)
						continue
					}
					b.enter(k)
				}
				b.want("> ")
				b.hold("order:1", redissonB, 50*time.Second)
				b.pass(1200 * time.Millisecond)
				b.want("changed hands", redissonB, "Nothing was changed.", "Release is off")
				b.press("enter")
				if ttl, _ := b.do("PTTL", "order:1").(int64); b.do("HEXISTS", "order:1", redissonB) != int64(1) || ttl < 40_000 {
					t.Errorf("the new holder's lock was changed: TTL %d", ttl)
				}
				if b.audit.Len() > 0 {
					t.Errorf("the audit says %s", b.audit)
				}
			})
		})
	}
}

// Between the last look and Enter only the script can know: it refuses.
func TestFormIsRefusedByTheScript(t *testing.T) {
	for name, fill := range map[string][]string{"ttl": {"2", "30s", "enter"}, "hold": {"4", "10m", "enter", "because"}} {
		t.Run(name, func(t *testing.T) {
			run(t, tall(), func(b *bench) {
				panel(b)
				b.press(fill[0])
				b.pass(400 * time.Millisecond)
				b.enter(fill[1:]...)
				b.hold("order:1", redissonB, 50*time.Second)
				b.program.Send(press("enter"))
				b.pass(300 * time.Millisecond)
				b.want("CHANGED", "nothing was changed", redissonB)
				if ttl, _ := b.do("PTTL", "order:1").(int64); b.do("HEXISTS", "order:1", redissonB) != int64(1) || ttl < 40_000 {
					t.Errorf("the new holder's lock was changed: TTL %d", ttl)
				}
				b.audited(map[string]string{"ttl": "ttl", "hold": "hold"}[name], "CHANGED")
			})
		})
	}
}

// A holder that was seen to renew stands behind a wall: its last six characters
// and a reason, which is kept and offered for the next one.
func TestLivingHolderNeedsProofAndReason(t *testing.T) {
	run(t, tall(), func(b *bench) {
		b.hold("order:1", redissonA, 30*time.Second)
		b.hold("order:2", redissonB, 300*time.Second)
		b.pass(10 * time.Second)
		for range 3 {
			b.do("PEXPIRE", "order:1", 30_000)
			b.pass(3 * time.Second)
		}
		b.press("u")
		b.pass(time.Second)
		b.want("order:1", "renewed", "asks for the holder and a reason")
		b.press("tab", "enter")
		b.pass(400 * time.Millisecond)
		b.want("its holder seems to be at work: renewed", "> Type the last six characters of the holder")
		b.press("enter")
		b.want("as it stands above")
		b.pass(400 * time.Millisecond)
		b.program.Send(paste(redissonA[len(redissonA)-6:]))
		b.press("enter", "enter")
		b.want("a reason is needed")
		b.program.Send(paste("INC-1\x1b[31m\r\nrm -rf /\x07"))
		if b.do("EXISTS", "order:1") != int64(1) {
			t.Fatal("a paste released the lock")
		}
		b.press("enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED")
		b.audited("release", "order:1", "INC-1[31mrm -rf /", "renewed")
		b.press("enter")
		b.pass(6 * time.Second)
		b.press("u") // the other one is quiet
		b.pass(time.Second)
		b.want("order:2", "Tab to the other, Enter to choose")
		b.press("2")
		b.pass(400 * time.Millisecond)
		b.want("Reason (may be left out)    : INC-1")
	})
}

// A sign of life that comes up while a form without proof is open: it is asked
// for then.
func TestSignOfLifeWhileAFormIsOpen(t *testing.T) {
	run(t, tall(), func(b *bench) {
		b.hold("order:1", redissonA, 30*time.Second)
		b.pass(10 * time.Second)
		b.press("u")
		b.pass(time.Second)
		b.press("2")
		b.pass(400 * time.Millisecond)
		b.never("Type the last six")
		b.enter("60s", "enter")
		b.do("PEXPIRE", "order:1", 30_000)
		b.pass(800 * time.Millisecond)
		if strings.Contains(b.screen(), "deadline has moved") {
			return // the id can come again, so the panel already takes it all back
		}
		b.press("enter")
		b.want("a sign of life came up meanwhile")
		if ttl, _ := b.do("PTTL", "order:1").(int64); ttl > 30_000 {
			t.Errorf("its TTL was set: %d", ttl)
		}
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

// What was typed before a form was drawn must not fill or send it.
func TestEnterBouncesOffAForm(t *testing.T) {
	run(t, tall(), func(b *bench) {
		panel(b)
		for _, k := range []string{"4", "enter", "enter", "enter"} {
			b.program.Send(press(k))
		}
		b.pass(200 * time.Millisecond)
		b.want("> Hold it for")
		if b.audit.Len() > 0 {
			t.Error("something was sent")
		}
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

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{"30": 30 * time.Second, "30s": 30 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "-5": -5 * time.Second, "0": 0} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("%q is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "-", "1.5.5s", "d", "5 0x", "１０"} {
		if got, err := parseSpan(text); !errors.Is(err, errNoSpan) {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
	if !slices.Contains(gentle, toWait) || gentle[0] != toWait {
		t.Error("waiting is the gentlest choice and comes first")
	}
}

// A holder that renews in its rhythm does not take the form away from whoever
// fills it in: the plan follows the deadline. What does not fit the rhythm may be
// another acquisition under the same id, and takes everything back.
func TestRenewalInItsRhythmKeepsTheForm(t *testing.T) {
	renewing := func(b *bench) {
		b.hold("order:1", redissonA, 30*time.Second)
		b.pass(10 * time.Second)
		for range 4 {
			b.do("PEXPIRE", "order:1", 30_000)
			b.pass(10 * time.Second)
		}
		b.do("PEXPIRE", "order:1", 30_000)
		b.pass(time.Second)
		b.press("u")
		b.pass(time.Second)
		b.press("tab", "enter")
		b.pass(400 * time.Millisecond)
		b.enter(redissonA[len(redissonA)-6:], "enter", "INC-7")
	}
	run(t, tall(), func(b *bench) {
		renewing(b)
		b.pass(10*time.Second - 3500*time.Millisecond)
		b.do("PEXPIRE", "order:1", 30_000)
		b.pass(2500 * time.Millisecond)
		b.want("> Reason, for the audit", "INC-7")
		b.never("deadline has moved")
		b.press("enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED")
		b.audited("release", "order:1", "INC-7", "RELEASED")
	})
	run(t, tall(), func(b *bench) {
		renewing(b)
		b.pass(time.Second)
		b.do("DEL", "order:1")
		b.do("HSET", "order:1", redissonA, "1") // the same thread, once more
		b.do("PEXPIRE", "order:1", 30_000)
		b.pass(1500 * time.Millisecond)
		b.want("Its deadline has moved", "Nothing was changed.", "Release is off")
		b.press("enter")
		if b.do("HEXISTS", "order:1", redissonA) != int64(1) || b.audit.Len() > 0 {
			t.Error("the later acquisition was released")
		}
		b.press("u")
		b.pass(time.Second)
		b.press("2")
		b.pass(400 * time.Millisecond)
		b.want("INC-7") // the reason that was typed is not lost
	})
}
