package tui

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/sandbox"
)

// empty is a console on a sandbox without demos.
func empty() benchOptions {
	return benchOptions{sandbox: sandbox.Options{Empty: true}, console: func(o *Options) { o.Explain = nil }}
}

const redissonA = "8743c9c0-0795-4907-87fd-6c719a6b4586:38"
const redissonB = "1ff31903-128b-42f2-8384-c34281ee02f2:7"

// hold puts a Redisson lock there, as its library writes it.
func (b *bench) hold(key, holder string, ttl time.Duration) {
	b.do("DEL", key)
	b.do("HSET", key, holder, "1")
	b.do("PEXPIRE", key, ttl.Milliseconds())
}

func TestFirstScreenOfTheSandbox(t *testing.T) {
	run(t, benchOptions{}, func(b *bench) {
		b.want("SANDBOX", "live", "order:4711", "payments:settle", "stock:sku-77", "catalog",
			"Press u to release one", "? help", "q quit", "keys looked at (deep)")
	})
}

// Every demo must be recognised as what it is written as, or the sandbox teaches
// the wrong thing.
func TestSandboxIsReadAsWhatItIs(t *testing.T) {
	run(t, benchOptions{width: 200, height: 40}, func(b *bench) {
		for key, library := range map[string]string{
			"order:4711": "redisson", "payments:settle": "redisson", "stock:sku-77": "redisson", "catalog": "redisson",
			"lock:{deploy}": "fencepost", "reports:nightly": "redis-py", "invoice:2024-11": "redsync",
			"lock:import-customers": "python-redis-lock", "SyncInventory:42": "laravel",
			"job-lock:default:dailyReport": "shedlock", "bull:video:17:lock": "bullmq", "pdf-creation": "symfony",
			"RedisMutex:nightly-cleanup": "redis-mutex", "lock:report": "home-grown",
		} {
			if l := b.line(key + " "); !strings.Contains(l, " "+library) {
				t.Errorf("%s should be %s, the row is %q", key, library, l)
			}
		}
	})
}

// The countdown comes from the deadline, moves each second and jumps up when
// the server says that the lock was renewed.
func TestCountdownAndRenewal(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("order:1", redissonA, 30*time.Second)
		b.pass(10 * time.Second) // found by the next walk
		left := regexp.MustCompile(`\d+ s`)
		first := left.FindString(b.line("order:1"))
		b.pass(3 * time.Second)
		if second := left.FindString(b.line("order:1")); first != "20 s" || second != "17 s" {
			t.Errorf("it showed %s, and 3 s later %s; want 20 s and 17 s", first, second)
		}
		b.do("PEXPIRE", "order:1", 30_000)
		b.pass(1100 * time.Millisecond)
		if now := left.FindString(b.line("order:1")); now != "28 s" {
			t.Errorf("after a renewal it shows %s, want 28 s", now)
		}
		b.press("enter")
		b.want("renewed about", "ago, once")
	})
}

// At zero the server is asked. A lock that was renewed at the last moment stays,
// one that is gone is said to be gone, and then leaves.
func TestAtZeroTheServerIsAsked(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("short", redissonA, 13*time.Second)
		b.hold("kept", redissonA, 13*time.Second)
		b.pass(12400 * time.Millisecond)
		b.do("PEXPIRE", "kept", 30_000)
		b.pass(800 * time.Millisecond)
		if l := b.line("short"); !strings.Contains(l, "gone") {
			t.Errorf("0.2 s after its end the row says %q", l)
		}
		b.never("due, asking")
		b.want("kept")
		b.pass(goneShown + 1100*time.Millisecond)
		b.never("short ")
	})
}

func TestHandoverIsMarked(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("order:1", redissonA, 30*time.Second)
		b.pass(10 * time.Second)
		b.hold("order:1", redissonB, 30*time.Second)
		b.pass(1100 * time.Millisecond)
		if l := b.line("order:1"); !strings.Contains(l, "+") || !strings.Contains(l, "1ff31") {
			t.Errorf("the row of the new holder is %q", l)
		}
		b.press("enter")
		b.want("before       "+redissonA, redissonB)
	})
}

// A lock that vanishes and comes back within a moment must not stay hidden
// until the next walk.
func TestTakenAgainAfterAGap(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("order:1", redissonA, 60*time.Second)
		b.pass(10 * time.Second)
		b.do("DEL", "order:1")
		b.pass(1100 * time.Millisecond)
		if l := b.line("order:1"); !strings.Contains(l, "gone") {
			t.Fatalf("the row says %q", l)
		}
		b.hold("order:1", redissonB, 60*time.Second)
		b.pass(1100 * time.Millisecond)
		if l := b.line("order:1"); !strings.Contains(l, "1ff31") || strings.Contains(l, "gone") {
			t.Errorf("taken again a moment ago, the row says %q", l)
		}
	})
}

// A held lock that silently lost its expiry (A01): in words, first, flagged, and
// never as -1 or zero.
func TestA01LostExpiry(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("a-first", redissonA, time.Hour)
		b.do("SET", "lock:servicebook.emit", "GxwErhZvp2QmLvacHpVgjGjA", "EX", 240)
		b.pass(10 * time.Second)
		b.do("PERSIST", "lock:servicebook.emit")
		b.pass(1100 * time.Millisecond)
		l := b.line("serv")
		if !strings.Contains(l, "no expiry") {
			t.Errorf("the row says %q", l)
		}
		b.never("-1", "lapsed", "due, asking")
	})
}

// Text from the server that would command the terminal (B33) is made visible.
func TestB33TerminalInjection(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.do("SET", "lock:\x1b]0;PWNED\x07\x1b[2J\x1b[1;1Hfake", "\x1b]52;c;cm0gLXJmIH4=\x07tok", "PX", 600000)
		b.do("SET", "lock:c1\x9b2J\xc2\x9b31m", "\x1b[6n", "PX", 600000)
		b.do("SET", "lock:bidi\u202egnp.exe", "tok", "PX", 600000)
		b.pass(10 * time.Second)
		b.press("enter", "u")
		b.pass(time.Second)
		b.press("esc", "esc")
		out := b.out.String()
		for _, bad := range []string{"\x1b]0", "\x1b]52", "\x1b[6n", "\x9b", "\u009b", "\u202e", "\x1b[1;1H", "\x07"} {
			if strings.Contains(out, bad) {
				t.Errorf("the terminal was sent %q", bad)
			}
		}
	})
}

// A server that is lost shows within a second; rows keep their facts; when it
// comes back the screen says that something may have been missed.
func TestLostAndFound(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("order:1", redissonA, 30*time.Second)
		b.pass(10 * time.Second)
		b.wire.pull()
		b.pass(1100 * time.Millisecond)
		b.want("LOST for 1.", "connection refused", "r: now", "order:1", "s?")
		b.pass(25 * time.Second)
		b.want("order:1", "s?")
		b.never("due, asking", "gone")
		b.wire.plug()
		b.pass(6 * time.Second)
		b.want("live", "the connection was lost for ", "found since: 1 gone; more may be missed")
	})
}

func TestFreezeHoldsTheScreen(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("order:1", redissonA, 60*time.Second)
		b.pass(10 * time.Second)
		b.press("p")
		before := b.line("order:1")
		b.do("DEL", "order:1")
		b.pass(8 * time.Second)
		if after := b.line("order:1"); before != after {
			t.Errorf("a frozen row changed from %q to %q", before, after)
		}
		b.want("FROZEN for 8 s")
		b.press("p")
		b.never("order:1", "FROZEN")
	})
}

func TestFilterLive(t *testing.T) {
	run(t, benchOptions{}, func(b *bench) {
		b.press("/", "s", "k", "u")
		b.want("stock:sku-77", `filter "sku": 1 of`)
		b.never("catalog")
		b.press("enter", "q", "q") // kept; then q quits
		if err := <-b.done; err != nil {
			t.Errorf("q ended with %v", err)
		}
		b.done <- nil
	})
}

// The cursor stays on its lock when rows come, go and are sorted.
func TestCursorStaysOnItsLock(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("b-lock", redissonA, 10*time.Minute)
		b.hold("d-lock", redissonA, 5*time.Minute)
		b.pass(10 * time.Second)
		b.press("down")
		b.hold("a-lock", redissonB, time.Minute)
		b.hold("c-lock", redissonB, time.Minute)
		b.pass(2 * time.Second)
		b.want(">   d-lock", "+ a-lock")
		b.press("O")
		b.want(">   d-lock")
	})
}

// byName is a console that looks at names, on a sandbox without demos.
func byName() benchOptions {
	o := empty()
	explain := o.console
	o.console = func(c *Options) { explain(c); c.Query.Depth = inspect.ByName }
	return o
}

// A lock whose name promises none is found by a deep pass on demand.
func TestDeepPassOnDemand(t *testing.T) {
	run(t, byName(), func(b *bench) {
		b.hold("order:1", redissonA, time.Hour)
		b.pass(5 * time.Second)
		b.want("0 locks", "1 key looked at by name (S: deep)")
		b.press("S")
		b.pass(3 * time.Second)
		b.want("1 lock ", "order:1", "deep ", " ago")
		b.never("+ order:1") // it was there all the while
	})
}

// The search for new locks stops and goes on; what is known is followed on.
func TestPausedSearch(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("order:1", redissonA, time.Hour)
		b.pass(3 * time.Second)
		b.press("s")
		b.want("search PAUSED (s goes on)", "are followed on")
		b.hold("order:2", redissonA, time.Hour)
		b.hold("order:1", redissonB, time.Hour)
		b.pass(5 * time.Second)
		b.want("1ff31903")
		b.never("order:2")
		b.press("s")
		b.pass(3 * time.Second)
		b.want("order:2")
		b.never("PAUSED")
	})
}

// A rhythm of renewals is learned and said, and that a renewal is late; the
// bar's full length is the most that was seen.
func TestHeartbeatAndHistoryInTheDetail(t *testing.T) {
	o := empty()
	o.width, o.height = 120, 40
	run(t, o, func(b *bench) {
		b.hold("order:1", redissonA, 30*time.Second)
		b.pass(2 * time.Second)
		b.press("enter")
		for range 5 {
			b.pass(10 * time.Second)
			b.do("PEXPIRE", "order:1", 30_000)
		}
		b.pass(2 * time.Second)
		b.want("renewed about ", "every 10 s, 5 times: speaks for a living holder (renewals, worked out from the", "deadline, inferred)",
			"held for ", "What happened to it, newest first", "renewed  by "+redissonA, "19 s -> 29 s", "acquired  by "+redissonA,
			"live, by polling")
		b.pass(15 * time.Second)
		b.want("overdue by", "speaks for a dead holder")
		b.hold("order:1", redissonB, 30*time.Second)
		b.pass(2 * time.Second)
		b.want("handed over  "+redissonA+" -> "+redissonB, "before       "+redissonA)
		b.do("DEL", "order:1")
		b.pass(goneShown + 2*time.Second)
		b.want("The server said that this lock is gone.", "handed over  "+redissonA+" -> "+redissonB)
	})
}

// Events have a screen of their own, the newest last, under the list's filter.
func TestEventsScreen(t *testing.T) {
	o := empty()
	o.width, o.height = 120, 40
	run(t, o, func(b *bench) {
		b.hold("order:1", redissonA, time.Hour)
		b.hold("order:2", redissonB, time.Hour)
		b.pass(2 * time.Second)
		b.press("e")
		b.want("What happens to the locks", "acquired  order:1  by "+redissonA)
		b.hold("order:1", redissonB, time.Hour)
		b.pass(2 * time.Second)
		b.want("handed over  order:1  " + redissonA + " -> " + redissonB)
		b.press("esc")
		b.pass(welcomeFor)
		b.want(" last: ", " UTC  handed over  order:1")
		b.press("/", "r", ":", "2", "enter", "e")
		b.want("acquired  order:2")
		b.never("order:1")
		b.press("esc", "/", "ctrl+u")
		b.program.Send(paste("!order:1"))
		b.press("enter", "e")
		b.want("acquired  order:2")
		b.never("acquired  order:1", "handed over  order:1")
		b.press("esc", "/", "ctrl+u")
		b.program.Send(paste("redisson")) // what its lock is, not what the event says
		b.press("enter", "e")
		b.want("acquired  order:2", "handed over  order:1")
		b.press("esc", "/", "z", "z", "enter", "e")
		b.want("Nothing has happened yet to what passes the filter")
	})
}

// A key that means nothing says where the keys are listed, and is no nuisance
// where a warning stands.
func TestUnknownKey(t *testing.T) {
	d := newDirect(80, 24).found(someLocks()...).keys("z")
	if !strings.Contains(d.view(), "z does nothing here; ? lists the keys") {
		t.Errorf("an unknown key says nothing:\n%s", d.view())
	}
	d.m = d.m.say(warn, "read this")
	if d.keys("z"); d.m.notice.text != "read this" {
		t.Errorf("an unknown key wrote over a warning: %q", d.m.notice.text)
	}
}

// When the server comes back the screen says what changed meanwhile.
func TestBackAgainSaysWhatChanged(t *testing.T) {
	o := empty()
	o.width, o.height = 120, 24
	run(t, o, func(b *bench) {
		b.hold("order:1", redissonA, time.Hour)
		b.hold("order:2", redissonA, time.Hour)
		b.pass(3 * time.Second)
		b.wire.pull()
		b.pass(2 * time.Second)
		b.sandboxDo("DEL", "order:1")
		b.sandboxDo("DEL", "order:2")
		b.sandboxDo("HSET", "order:2", redissonB, "1")
		b.wire.plug()
		b.pass(7 * time.Second)
		b.want("live", "the connection was lost for", "found since: 1 changed hands, 1 gone; more may be missed")
	})
}
