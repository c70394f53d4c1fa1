package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

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
