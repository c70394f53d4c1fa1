package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// On a narrow terminal no line of the table is broken, and no holder cut.
func TestTableFitsTheTerminal(t *testing.T) {
	now := time.Now()
	const holder = "8743c9c0-0795-4907-87fd-6c719a6b4586:38"
	lock := func(key, fence string) inspect.Lock {
		return inspect.Lock{
			Key: wire.Raw(key), Family: "redisson", Kind: family.Mutex, Confidence: family.Certain, State: family.Held,
			TTL: 29_000, Deadline: now.Add(29 * time.Second), SampledAt: now, Fence: fence,
			Holders: []family.Holder{{ID: holder, Count: 1}},
		}
	}
	plain := []inspect.Lock{lock("order-lock", ""), lock("stock", "")}
	for _, c := range []struct {
		width, lines int
		locks        []inspect.Lock
		has, hasNot  string
	}{
		{0, 3, plain, "WAITERS", "held by"},
		{200, 3, plain, "WAITERS", "held by"},
		{90, 3, plain, "HOLDER", "WAITERS"},
		{80, 5, plain, "held by " + holder, "WAITERS"},
		{80, 5, []inspect.Lock{lock("order-lock", "34"), lock("stock", "")}, "FENCE", "HOLDER"},
	} {
		var out strings.Builder
		writeTable(&out, c.locks, now, c.width)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != c.lines || !strings.Contains(out.String(), c.has) || strings.Contains(out.String(), c.hasNot) {
			t.Errorf("%d cells: want %d lines, with %q, without %q\n%s", c.width, c.lines, c.has, c.hasNot, out.String())
		}
		for _, line := range lines {
			if c.width > 0 && ansi.StringWidth(line) > c.width {
				t.Errorf("wider than %d: %q", c.width, line)
			}
			if n := strings.Count(out.String(), holder); n != len(c.locks) {
				t.Errorf("%d holders", n)
			}
		}
	}
}
