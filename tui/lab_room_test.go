package tui_test

import (
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// counted is a session whose keys are counted: one for each call of key.
type counted struct {
	*session
	keys  int
	begun time.Time
}

func room(t *testing.T, tm terminal, args ...string) *counted {
	t.Helper()
	built(t)
	tm.env = append(tm.env, "XDG_CONFIG_HOME="+t.TempDir())
	return &counted{session: open(t, tm, args...), begun: time.Now()}
}

// key presses one key, and waits until the screen shows these.
func (c *counted) key(k string, shows ...string) *counted {
	c.t.Helper()
	c.write(k)
	c.keys++
	c.sees(shows...)
	return c
}

const (
	pageDown, pageUp = "\x1b[6~", "\x1b[5~"
	right, left      = "\x1b[C", "\x1b[D"
)

// within fails when it took a trainer more than ten keys, or two minutes.
func (c *counted) within() {
	c.t.Helper()
	took := time.Since(c.begun)
	if c.keys > 10 || took > 2*time.Minute {
		c.t.Errorf("the room saw the stale write after %d keys and %v", c.keys, took)
	}
	c.t.Logf("%d keys, %v", c.keys, took.Round(100*time.Millisecond))
}

// From the start of the program to the moment at which a room sees the stale
// write: three ways, each under two minutes and not more than ten keys.
func TestE2ELabBeforeARoom(t *testing.T) {
	t.Parallel()
	t.Run("step by step", func(t *testing.T) {
		c := room(t, terminal{env: []string{"LANG=C"}})
		c.sees("SANDBOX", "4 lab")
		c.key("4", "gc-pause-late-write").key("\r", "step 0/10")
		for _, step := range []string{"1/10", "2/10", "3/10", "4/10", "5/10", "6/10", "7/10"} {
			c.key("]", "step "+step)
		}
		if strings.Contains(c.screen(), "70 taken") {
			t.Error("the screen told it before")
		}
		c.key("]", "step 8/10", "70 taken", "YES, step 8")
		c.within()
	})
	t.Run("by itself, large", func(t *testing.T) {
		c := room(t, terminal{env: []string{"LANG=C"}})
		c.sees("SANDBOX", "4 lab")
		c.key("4", "gc-pause-late-write").key("\r", "step 0/10").key("P", "0 / 10")
		c.key(".", "6 / 10", "who tells it that its lease is over?") // it stops at a question
		c.key("3", "[3] nobody").key(".", "7 / 10", "Account 7 will", "take it")
		c.key("1", "[1] take it").key(".", "8 / 10", "account 7:  70 <---- A")
		c.within()
	})
	t.Run("to the step", func(t *testing.T) {
		c := room(t, terminal{env: []string{"LANG=ko_KR.UTF-8"}})
		c.sees("SANDBOX")
		c.key("4", "실습").key("\r", "단계 0/10").key("S", "단계:").key("8").key("\r", "단계 8/10", "70 반영", "있음, 단계 8")
		c.within()
	})
}

// A clicker sends PgDn, PgUp, arrows, a full stop and b; it drives the whole story.
func TestE2ELabByAClicker(t *testing.T) {
	t.Parallel()
	c := room(t, terminal{env: []string{"LANG=C"}})
	c.sees("SANDBOX", "4 lab")
	c.key("4", "gc-pause-late-write").key("\r", "step 0/10").key("P", "0 / 10", "FREE")
	c.key(pageDown, "1 / 10").key(pageDown, "2 / 10").key(right, "3 / 10", "PAUSED")
	c.key(pageUp, "2 / 10").key(left, "1 / 10").key(pageDown, "2 / 10")
	c.key("b")
	c.until("an empty screen", func(screen string) bool { return strings.TrimSpace(screen) == "" })
	c.key("b", "2 / 10").key("b")
	c.until("an empty screen", func(screen string) bool { return strings.TrimSpace(screen) == "" })
	c.key(pageDown, "3 / 10", "PAUSED") // the next step lights it up
	for _, step := range []string{"4", "5", "6", "7", "8", "9", "10"} {
		c.key(pageDown, " "+step+" / 10")
	}
	c.key(pageDown, "UNSAFE", "who may unlock").key(pageDown, "Which of these would have found it?").key(pageDown, "x 6")
	c.key(pageUp).key(pageUp, "UNSAFE").key("q", "step 10/10").key("\x1b", "gc-pause-late-write     SRO")
}

// Back and forth, seek, fork and worlds, as a trainer answers a room's questions;
// going back and forth shows what going straight does.
func TestE2ELabBackAndForth(t *testing.T) {
	t.Parallel()
	c := room(t, terminal{cols: 120, rows: 40, env: []string{"LANG=C"}})
	c.sees("SANDBOX", "4 lab")
	c.key("4", "gc-pause-late-write").key("\r", "step 0/10")
	for _, step := range []string{"1/10", "2/10", "3/10", "4/10", "5/10"} {
		c.key("]", "step "+step)
	}
	straight := c.screen()
	c.key("G", "VERDICT").key("[", "step 10/10").key("[", "step 9/10").key("g", "step 0/10").key("S", "to step:").key("6").key("\r", "step 6/10").key("[", "step 5/10")
	c.until("the same screen as going straight", func(screen string) bool { return screen == straight })
	c.key("w", "GUARD COMPARES NUMBERS", "step 5/10", "100, seen 34").key("c", "WORLD 1", "WORLD 2").key("\x1b")
	c.until("one world", func(screen string) bool {
		return !strings.Contains(screen, "WORLD 1") && strings.Contains(screen, "step 5/10")
	})
	c.key("w", "NO FENCE").key("F", "What happens here that the story does not know?").key("\r", "A CRASHES", "3 of 3")
	c.key("G", "VERDICT", "SAFE").key("w", "world 1 of 3").key("w", "world 2 of 3").key("w", "A CRASHES")
	c.key("\x1b", "gc-pause-late-write     SRO").key("\r", "A CRASHES", "taken up where you left it")
	c.key("q").key("q", "SANDBOX").key("q")
	if code := c.ends(); code != 0 {
		t.Errorf("q ended with %d", code)
	}
}

// The lab starts servers of its own for a story, a fork kills one, and none is
// left behind.
func TestE2ELabKillsItsOwnServer(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	c := room(t, terminal{env: []string{"LANG=C"}})
	c.sees("SANDBOX", "4 lab")
	c.key("4", "gc-pause-late-write").key("\r", "sandbox, virtual time").key("T", "Where is it to be played?").key("j", "> redis-servers")
	c.key("\r", "servers of the lab", "recorded").key("S").key("4").key("\r", "step 4/10").key("F", "1/7")
	for range 6 {
		c.key("j")
	}
	c.sees("> the lock's server is killed (kill -9)")
	c.key("\r", "SERVER KILLED (KILL -9)", "STOPPED", "back, and empty").key("]", "number 1")
	c.key("\x03")
	if code := c.ends(); code != 130 {
		t.Errorf("ctrl+c ended with %d", code)
	}
}

// Nothing depends on colour: without it every word and mark is still there.
func TestE2ELabWithoutColour(t *testing.T) {
	t.Parallel()
	screens := make(map[string]string)
	for name, env := range map[string][]string{"colour": {"LANG=C"}, "none": {"LANG=C", "NO_COLOR=1"}} {
		c := room(t, terminal{env: env})
		c.sees("SANDBOX", "4 lab")
		c.key("4", "gc-pause-late-write").key("\r", "step 0/10").key("S").key("8").key("\r", "step 8/10", "YES, step 8")
		screens[name] = c.screen()
		if out := c.raw.String(); name == "none" && strings.Contains(out, "\x1b[3") {
			t.Errorf("NO_COLOR, and there is a colour in %q", out[strings.Index(out, "\x1b[3"):][:20])
		}
		c.key("\x03")
		c.ends()
	}
	if screens["colour"] != screens["none"] {
		t.Errorf("with colour\n%s\nwithout\n%s", screens["colour"], screens["none"])
	}
}
