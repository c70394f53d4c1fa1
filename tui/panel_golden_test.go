package tui

import (
	"fmt"
	"regexp"
	"testing"
	"time"
)

// Every form of the panel, as it stands on a small and on a large screen.
func TestGoldenPanel(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		o := empty()
		o.width, o.height = size[0], size[1]
		at := fmt.Sprintf("-%dx%d", size[0], size[1])
		run(t, o, func(b *bench) { goldenQuiet(b, at) })
		run(t, o, func(b *bench) { goldenLiving(b, at) })
		run(t, o, func(b *bench) { goldenBulk(b, at) })
		prod := o
		prod.console = func(c *Options) {
			c.Explain, c.Identify = nil, nil
			c.Server = Server{Name: "redis.example.com:6379", Role: "master", Mode: "single", Version: "redis 7.0.15", Env: "prod", Guarded: true}
		}
		run(t, prod, func(b *bench) {
			panel(b)
			b.press("tab", "enter")
			golden(t, "panel-prod"+at, b.screen())
		})
	}
	low := empty()
	low.width, low.height = 60, 12
	run(t, low, func(b *bench) {
		panel(b)
		golden(t, "panel-quiet-60x12", b.screen())
		b.press("2")
		golden(t, "panel-ttl-60x12", b.screen())
	})
}

// holderMade is the holder's id that a hold makes for the operator, as it stands
// in the command and, in another form, in the note.
var holderMade = regexp.MustCompile(`\n +[0-9a-f-]{36}:1\n|holder\\":\\"[^\\]+`)

// goldenQuiet is a lock of which nothing speaks for a living holder.
func goldenQuiet(b *bench, at string) {
	panel(b)
	golden(b.t, "panel-quiet"+at, b.screen())
	b.press("2")
	b.pass(400 * time.Millisecond)
	b.enter("10m")
	golden(b.t, "panel-ttl"+at, b.screen())
	b.press("esc", "4")
	b.pass(400 * time.Millisecond)
	b.enter("10m", "enter", "looking at the damage")
	golden(b.t, "panel-hold"+at, holderMade.ReplaceAllStringFunc(b.screen(), func(s string) string {
		return regexp.MustCompile(`[A-Za-z0-9+/=-]`).ReplaceAllString(s, "x")
	}))
	b.press("esc", "tab", "tab", "enter")
	b.pass(300 * time.Millisecond)
	b.hold("order:1", redissonB, 30*time.Second)
	b.pass(time.Second)
	golden(b.t, "panel-outcome"+at, b.screen())
}

// goldenLiving is a lock whose holder was seen to renew, with a fence and waiters.
func goldenLiving(b *bench, at string) {
	b.hold("payments:settle", redissonA, 30*time.Second)
	b.do("SET", "redisson_lock_token:{payments:settle}", "34")
	b.pass(10 * time.Second)
	for range 4 {
		b.do("PEXPIRE", "payments:settle", 30_000)
		b.pass(10 * time.Second)
	}
	b.press("u")
	b.pass(time.Second)
	b.press("tab", "enter")
	golden(b.t, "panel-living"+at, b.screen())
}

// goldenBulk is the list of what was marked, and the report.
func goldenBulk(b *bench, at string) {
	several(b, 4)
	b.pass(400 * time.Millisecond)
	b.enter("4", "enter", "INC-4711")
	golden(b.t, "panel-bulk"+at, b.screen())
	b.hold("lock:03", redissonB, time.Minute)
	b.program.Send(press("enter"))
	b.pass(600 * time.Millisecond)
	golden(b.t, "panel-report"+at, b.screen())
}
