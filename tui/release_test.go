package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// panel is a console with the release panel open over a Redisson lock.
func panel(b *bench) {
	b.hold("order:1", redissonA, 50*time.Second)
	b.pass(10 * time.Second)
	b.press("u")
	b.pass(time.Second)
}

func TestReleaseShowsEverythingAndActsOnce(t *testing.T) {
	o := empty()
	o.width, o.height = 120, 40
	run(t, o, func(b *bench) {
		panel(b)
		b.want("Release this lock by force?  Nothing has been done yet.", "order:1", redissonA, "waiting is safer",
			"consequence", "EVAL <release_hash>", ">[ Cancel ]")
		b.press("tab")
		b.want(" [ Cancel ]", ">[ Release ]")
		b.press("enter")
		b.pass(200 * time.Millisecond)
		b.want("RELEASED", redissonA, "Nobody holds it now.")
		if b.do("EXISTS", "order:1") != int64(0) {
			t.Error("the lock is still there")
		}
		b.press("enter")
		b.want("RELEASED order:1")
	})
}

// Cancel has the focus: Enter alone, and Esc, change nothing.
func TestCancelIsFocused(t *testing.T) {
	for _, keys := range [][]string{{"enter"}, {"esc"}, {"tab", "tab", "enter"}, {"tab", "esc"}, {"tab", "shift+tab", "enter"}} {
		run(t, empty(), func(b *bench) {
			panel(b)
			b.press(keys...)
			b.want("nothing was changed")
			if b.do("EXISTS", "order:1") != int64(1) {
				t.Errorf("%v released the lock", keys)
			}
		})
	}
}

// What was typed before the panel was drawn must not answer it, however it was
// typed: in one read, key by key, or as a paste.
func TestTypeAheadIsDropped(t *testing.T) {
	for name, msgs := range map[string][]tea.Msg{
		"keys":  {press("u"), press("tab"), press("enter")},
		"burst": {tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("u\t\r")}, press("tab"), press("enter")},
		"paste": {paste("u\t\n"), press("tab")},
	} {
		run(t, empty(), func(b *bench) {
			b.hold("order:1", redissonA, 50*time.Second)
			b.pass(10 * time.Second)
			for _, msg := range msgs {
				b.program.Send(msg)
			}
			b.pass(2 * time.Second)
			if b.do("EXISTS", "order:1") != int64(1) {
				t.Errorf("%s released the lock", name)
			}
			b.never("RELEASED", ">[ Release ]")
		})
	}
}

// A lock that changes hands while the panel is open survives: the panel says so
// and no longer offers the release.
func TestChangedHandsWhileThePanelIsOpen(t *testing.T) {
	run(t, empty(), func(b *bench) {
		panel(b)
		b.press("tab")
		b.hold("order:1", redissonB, 50*time.Second)
		b.pass(1200 * time.Millisecond)
		b.want("changed hands", redissonB, "Release is off")
		b.never("\n ends ") // what it asked about runs down no more
		b.do("DEL", "order:1")
		b.hold("order:1", "0000aaaa-0795-4907-87fd-6c719a6b4586:3", 50*time.Second)
		b.pass(1200 * time.Millisecond)
		b.want(redissonB + " had it") // whoever has it by now
		b.do("DEL", "order:1")
		b.hold("order:1", redissonB, 50*time.Second)
		b.press("tab", "enter")
		if got := b.do("HEXISTS", "order:1", redissonB); got != int64(1) {
			t.Error("the new holder's lock was released")
		}
		b.press("u")
		b.pass(time.Second)
		b.want("holder       "+redissonB, ">[ Cancel ]")
	})
}

// Between the last look and the key the lock may change hands: then the script
// itself refuses.
func TestChangedHandsBeforeTheScriptRuns(t *testing.T) {
	run(t, empty(), func(b *bench) {
		panel(b)
		b.press("tab")
		b.hold("order:1", redissonB, 50*time.Second)
		b.program.Send(press("enter"))
		b.pass(300 * time.Millisecond)
		b.want("CHANGED", "nothing was changed", redissonB)
		if got := b.do("HEXISTS", "order:1", redissonB); got != int64(1) {
			t.Error("the new holder's lock was released")
		}
	})
}

// The list may be a second old, or frozen: the panel reads the lock first and
// says what changed, and its plan is for what it shows.
func TestPanelSaysWhatChangedSinceTheList(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("order:1", redissonA, 50*time.Second)
		b.pass(10 * time.Second)
		b.press("p")
		b.hold("order:1", redissonB, 50*time.Second)
		b.press("u")
		b.pass(time.Second)
		b.want("changed hands since the list showed it", redissonA+" had it there", "holder       "+redissonB, ">[ Cancel ]")
		b.press("tab", "enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED", redissonB)
	})
}

func TestGoneWhileThePanelIsOpen(t *testing.T) {
	run(t, empty(), func(b *bench) {
		panel(b)
		b.do("DEL", "order:1")
		b.pass(1200 * time.Millisecond)
		b.want("It is gone", "Release is off")
		b.never("\n ends ")
		b.press("tab", "enter")
		b.never("RELEASED")
	})
}

// While the server does not answer the panel cannot know that it still asks
// about what is there.
func TestPanelWithoutAServer(t *testing.T) {
	run(t, empty(), func(b *bench) {
		panel(b)
		b.press("tab")
		b.wire.pull()
		b.pass(1200 * time.Millisecond)
		b.want("cannot be read now", "Release is off")
		b.press("enter")
		b.never("RELEASED", "UNKNOWN")
		b.wire.plug()
	})
}

func TestReleaseTellsWaiters(t *testing.T) {
	run(t, benchOptions{}, func(b *bench) {
		b.press("/")
		b.program.Send(paste("4711"))
		b.press("enter", "u")
		b.pass(time.Second)
		b.press("tab", "enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED", "; 2 wait")
		b.press("enter")
		b.pass(1100 * time.Millisecond)
		if l := b.line("order:4711"); !strings.Contains(l, "+") {
			t.Errorf("a waiter took it, the row says %q", l)
		}
	})
}

// A guarded target has to be armed by its name; a wrong name arms nothing, and
// what is armed lapses.
func TestArming(t *testing.T) {
	o := empty()
	prod := Server{Name: "redis.example.com:6379", Role: "master", Env: "prod", Guarded: true}
	o.console = func(c *Options) { c.Explain, c.Identify, c.Server = nil, nil, prod }
	run(t, o, func(b *bench) {
		b.want("PROD", "not armed")
		panel(b)
		b.press("tab", "enter")
		b.pass(300 * time.Millisecond)
		b.want("this is prod", "> Type prod to arm this target")
		b.press("enter")
		b.want("that is not the name")
		b.program.Send(paste("prod\x1b\n"))
		b.press("enter")
		b.want("ARMED 09:5", "> Type the last six characters of the holder")
		b.enter("wrong!", "enter")
		b.want("that is not the last six characters of the holder")
		b.enter("ctrl+u", "d7c2:7", "enter")
		b.want("that is not the last six")
		b.enter("ctrl+u", redissonA[len(redissonA)-6:], "enter")
		b.want("> Reason, for the audit")
		b.enter("enter")
		b.want("a reason is needed")
		b.enter("INC-4711", "enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED")
		b.audited("release", "order:1", redissonA, "INC-4711", "RELEASED")
		b.press("enter")
		b.pass(11 * time.Minute)
		b.want("not armed")
	})
}

// What is armed lapses after ten minutes without use, is renewed by use, and never
// lapses inside an open panel.
func TestArmingLapsesOnlyUnused(t *testing.T) {
	t.Parallel()
	o := empty()
	o.console = func(c *Options) {
		c.Explain, c.Identify = nil, nil
		c.Server = Server{Name: "cache (redis.example.com:6379)", Addr: "redis.example.com:6379", Role: "master", Guarded: true}
	}
	run(t, o, func(b *bench) {
		b.hold("order:1", redissonA, 2*time.Hour)
		b.hold("order:2", redissonB, 2*time.Hour)
		b.pass(11 * time.Second)
		b.want("GUARDED, not armed")
		b.press("u")
		b.pass(time.Second)
		b.press("2")
		b.pass(400 * time.Millisecond)
		b.want("Type redis.example.com to arm this target", "counts as production")
		b.enter("redis.example.com", "enter")
		b.want("ARMED 09:5")
		b.press("esc", "esc")
		b.pass(9 * time.Minute)
		b.want("ARMED 00:")
		b.press("u")
		b.pass(90 * time.Second) // what was armed does not lapse in an open panel
		b.want("ARMED 01:0")
		b.press("2")
		b.pass(400 * time.Millisecond)
		b.never("to arm this target")
		b.enter("90m", "enter", redissonA[len(redissonA)-6:], "enter", "INC-1", "enter")
		b.pass(time.Second)
		b.want("TTL SET", "ARMED 09:5") // renewed by use
		b.press("enter", "u")
		b.pass(time.Second)
		b.press("tab", "enter")
		b.never("to arm this target")
		b.press("esc", "esc")
		b.pass(10*time.Minute + 10*time.Second)
		b.want("GUARDED, not armed")
	})
}

func TestReadOnly(t *testing.T) {
	o := empty()
	o.console = func(c *Options) {
		c.Explain, c.Identify = nil, nil
		c.Server = Server{Name: "127.0.0.1:6379", ReadOnly: "started with --read-only"}
	}
	run(t, o, func(b *bench) {
		panel(b)
		b.want("READ-ONLY", "started with --read-only", "Release is off")
		b.press("tab", "enter")
		if b.do("EXISTS", "order:1") != int64(1) {
			t.Error("a read-only console released a lock")
		}
	})
}

// A lock that can only be looked at says why.
func TestCopies(t *testing.T) {
	run(t, empty(), func(b *bench) {
		panel(b)
		b.press("y", "Y")
		if len(b.clip) != 2 || b.clip[0] != "order:1" || !strings.HasPrefix(b.clip[1], "redis-cli EVAL ") {
			t.Errorf("copied %q", b.clip)
		}
		b.want("sent to the clipboard")
	})
}

// A cursor on nothing must not crash a key.
func TestKeysOnAnEmptyList(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.press("enter", "u", "y", "Y", "j", "G", "ctrl+d", "/", "x", "esc", "o", "enter", "p", "p", "w", "?", "esc")
		b.want("No locks here")
	})
}

// Every key must be harmless on every screen: none may crash it, and none but
// the panel's own sequence may change the server.
func TestNoKeyCrashesAnyScreen(t *testing.T) {
	t.Parallel()
	run(t, benchOptions{}, func(b *bench) {
		before := b.do("EXISTS", "lock:report", "lock:import-customers", "RedisMutex:nightly-cleanup")
		for _, open := range [][]string{{}, {"enter"}, {"?"}, {"o"}, {"/"}, {"enter", "?"}} {
			for _, id := range b.keysOf() {
				b.press(open...)
				b.program.Send(press(id))
				b.pass(20 * time.Millisecond)
				b.press("esc", "esc", "esc")
			}
		}
		if after := b.do("EXISTS", "lock:report", "lock:import-customers", "RedisMutex:nightly-cleanup"); before != after {
			t.Errorf("%v locks before, %v after all keys", before, after)
		}
		b.want("order:4711")
	})
}

// A fault in Update, in a command or in a view ends the console with an error
// that names a trace; its text holds no secret.
func TestFaults(t *testing.T) {
	for name, msg := range map[string]tea.Msg{"update": faultMsg{where: "update"}, "command": faultMsg{where: "command"}, "batch": faultMsg{where: "batch"}} {
		run(t, empty(), func(b *bench) {
			b.faulty = true
			b.program.Send(msg)
			err := <-b.done
			var crash *CrashError
			if !errors.As(err, &crash) || !strings.Contains(crash.Value, name) || crash.Trace == "" {
				t.Errorf("a fault in %s ended with %v", name, err)
			}
			b.done <- nil
		})
	}
}

// faultMsg is a message that breaks something.
type faultMsg struct{ where, secret string }

func (f faultMsg) apply(m root) (root, tea.Cmd) {
	fail := func() tea.Msg { panic("fault in " + f.where + ", password " + f.secret) }
	switch f.where {
	case "update":
		fail()
	case "batch":
		return m, tea.Batch(fail, tickNow)
	}
	return m, fail
}
