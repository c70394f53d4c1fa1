package tui

import (
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
	"fencepost/tui/theme"
)

// screens are all that a console can show of some locks.
func screens(d *direct) map[string]string {
	views := map[string]string{"list": d.view()}
	for name, keys := range map[string][]string{
		"wide": {"w"}, "detail": {"enter"}, "help": {"?"}, "sort": {"o"}, "filter": {"/", "x", "y"}, "frozen": {"p"},
	} {
		e := &direct{m: d.m}
		views[name] = e.keys(keys...).view()
	}
	l := someLocks()[0]
	for name, p := range map[string]release{
		"reading": {}, "asking": {stage: asking, seen: l, live: l, armed: true}, "hot": {stage: asking, seen: l, live: l, armed: true, focus: toRelease},
		"blocked": {stage: asking, seen: l, live: l, armed: true, blocked: strings.Repeat("why not ", 30)},
		"unarmed": {stage: asking, seen: l, live: l}, "picking": {stage: picking, seen: l, live: l},
		"filling": {stage: filling, seen: l, live: l, form: form{act: toTTL, said: strings.Repeat("wrong ", 30), lines: []formLine{
			{kind: armLine, ask: "Type prod to arm this target"}, {kind: spanLine, ask: "Let it end in (30s, 10m, 2h)"},
			{kind: proofLine, ask: "Type the last six characters of the holder"}, {kind: mustReason, ask: "Reason", text: field{}.insert([]rune(strings.Repeat("because ", 30)))},
		}}},
		"sending": {stage: sending, seen: l, live: l},
		"done":    {stage: done, seen: l, live: l, outcome: inspect.Outcome{Word: inspect.Released, Told: 2}, after: strings.Repeat("taken ", 30)},
	} {
		e := &direct{m: d.m}
		p.row = d.m.list.rows[0]
		e.m.release = p
		e.m = e.m.open(atRelease)
		views["release "+name] = e.view()
	}
	return views
}

// Bubble Tea cuts what is too much from the top, where the header is: a screen
// must be exactly as high as the terminal and never wider.
func TestEveryScreenFits(t *testing.T) {
	for _, size := range [][2]int{{60, 12}, {80, 24}, {81, 13}, {120, 40}, {200, 50}, {400, 100}} {
		d := newDirect(size[0], size[1], func(o *Options) { o.Explain = func(string) string { return strings.Repeat("explained ", 50) } })
		d.found(someLocks()...)
		for name, view := range screens(d) {
			lines := strings.Split(view, "\n")
			if len(lines) != size[1] {
				t.Errorf("%s at %dx%d has %d lines", name, size[0], size[1], len(lines))
			}
			for _, l := range lines {
				if w := theme.Width(l); w > size[0] {
					t.Errorf("%s at %dx%d has a line of %d cells: %q", name, size[0], size[1], w, l)
				}
			}
		}
		if err := d.m.opts.Crash.Err(); err != nil {
			t.Fatal(err)
		}
	}
	for w := range 60 {
		for _, h := range []int{1, 2, 11, 24} {
			if view := newDirect(w, h).view(); len(strings.Split(view, "\n")) > h {
				t.Errorf("%dx%d: %q", w, h, view)
			}
		}
	}
}

// The colours are the terminal's own sixteen; without colour none is written, and
// on a plain terminal no sequence at all. A line ends as plainly as it began,
// because lines are drawn one by one.
func TestColours(t *testing.T) {
	sgr := regexp.MustCompile(`\x1b\[([0-9;]*)m`)
	for depth, allowed := range map[theme.Depth]string{
		theme.Sixteen: `^(0|[127](;[127])*|([127];)*3[1-6])$`, theme.Mono: `^(0|[127](;[127])*)$`, theme.Plain: `^never$`,
	} {
		ok := regexp.MustCompile(allowed)
		d := newDirect(100, 30, func(o *Options) { o.Theme = theme.New(depth, false) }).found(someLocks()...)
		for name, view := range screens(d) {
			for line := range strings.Lines(view) {
				codes := sgr.FindAllStringSubmatch(line, -1)
				for _, c := range codes {
					if !ok.MatchString(c[1]) {
						t.Errorf("depth %d, %s: the sequence %q in %q", depth, name, c[0], line)
					}
				}
				if n := len(codes); n > 0 && codes[n-1][1] != "0" {
					t.Errorf("depth %d, %s: a line is left painted: %q", depth, name, line)
				}
			}
		}
	}
}

// Before the first size is known nothing is drawn, and a resize keeps the cursor.
func TestResize(t *testing.T) {
	d := newDirect(0, 0)
	if v := d.view(); v != "" {
		t.Errorf("drawn without a size: %q", v)
	}
	d = newDirect(80, 24).found(someLocks()...).keys("down", "down", "down", "down")
	before := d.m.list.table.ID()
	d.send(tea.WindowSizeMsg{Width: 60, Height: 12}, tea.WindowSizeMsg{Width: 200, Height: 50})
	if after := d.m.list.table.ID(); after != before {
		t.Errorf("the cursor was on %s, after two resizes on %s", before, after)
	}
}

// A good word fades; a warning stays until there is something else to say.
func TestNoticesFade(t *testing.T) {
	n := notice{text: "done", tone: fine, at: noon}
	if n.fade(noon.Add(noticeLife+time.Second)) != (notice{}) || n.fade(noon.Add(time.Second)) != n {
		t.Error("a good word must stay for a while, and then fade")
	}
	n.tone = bad
	if n.fade(noon.Add(time.Hour)) != n {
		t.Error("a bad word faded")
	}
}
