package theme

import (
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDetect(t *testing.T) {
	utf8 := []string{"TERM", "xterm-256color", "LANG", "en_US.UTF-8"}
	for _, c := range []struct {
		name     string
		env      []string
		terminal bool
		want     Depth
		ascii    bool
	}{
		{"a terminal", utf8, true, Sixteen, false},
		{"NO_COLOR keeps bold and reverse", append([]string{"NO_COLOR", "1"}, utf8...), true, Mono, false},
		{"a dumb terminal", []string{"TERM", "dumb", "LANG", "en_US.UTF-8"}, true, Plain, false},
		{"a file", utf8, false, Plain, false},
		{"Korean", []string{"TERM", "xterm", "LANG", "ko_KR.UTF-8"}, true, Sixteen, true},
		{"LC_ALL wins", []string{"TERM", "xterm", "LC_ALL", "ja_JP.UTF-8", "LANG", "C.UTF-8"}, true, Sixteen, true},
		{"the C locale", []string{"TERM", "xterm", "LANG", "C"}, true, Sixteen, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Detect(env(c.env...), c.terminal)
			if got.Depth != c.want {
				t.Errorf("depth %d, want %d", got.Depth, c.want)
			}
			if ascii := got.Glyph.Rule == "-"; ascii != c.ascii {
				t.Errorf("ASCII glyphs %v, want %v", ascii, c.ascii)
			}
		})
	}
}

func TestPlainThemeWritesNoEscape(t *testing.T) {
	th := New(Plain, true)
	for _, p := range []Paint{th.Title, th.Cursor, th.Danger, th.BadgeProd, th.FocusHot} {
		if got := p.Wrap("x"); got != "x" {
			t.Errorf("plain paint wrote %q", got)
		}
	}
}

func TestMonoThemeHasNoColour(t *testing.T) {
	th := New(Mono, false)
	if got := th.Danger.Wrap("x"); got != "\x1b[1mx\x1b[0m" {
		t.Errorf("danger without colour is %q", got)
	}
	if got := th.Holder.Wrap("x"); got != "x" {
		t.Errorf("a colour alone is %q", got)
	}
}

func TestGlyphsAreOneCell(t *testing.T) {
	for _, g := range []Glyphs{unicodeGlyphs(), asciiGlyphs()} {
		for _, s := range []string{g.Cursor, g.Flag, g.Full, g.Empty, g.Rule, g.Ellipsis, g.Dot, g.Up, g.Down, g.Bullet} {
			if Width(s) != 1 {
				t.Errorf("%q is %d cells wide", s, Width(s))
			}
		}
	}
	for _, s := range []string{asciiGlyphs().Full, asciiGlyphs().Ellipsis, asciiGlyphs().Dot} {
		if s[0] > '~' {
			t.Errorf("%q is not ASCII", s)
		}
	}
}

func TestCut(t *testing.T) {
	g := unicodeGlyphs()
	for _, c := range []struct{ in, cut, middle string }{
		{"short", "short", "short"},
		{"orders:checkout", "orders:ch…", "order…kout"},
		{"\x1b[31morders:checkout\x1b[0m", "\x1b[31morders:ch…\x1b[0m", ""},
		{"주문:체크아웃:락", "주문:체크…", ""},
	} {
		if got := g.Cut(c.in, 10); got != c.cut {
			t.Errorf("Cut(%q) = %q, want %q", c.in, got, c.cut)
		}
		if c.middle != "" {
			if got := g.CutMiddle(c.in, 10); got != c.middle {
				t.Errorf("CutMiddle(%q) = %q, want %q", c.in, got, c.middle)
			}
		}
		if w := Width(g.CutMiddle(c.in, 10)); w > 10 {
			t.Errorf("CutMiddle(%q) is %d cells", c.in, w)
		}
	}
}

func TestWrapKeepsIDsWhole(t *testing.T) {
	got := Wrap("held by a650cdea-f2ab-43d2-9bd3-0c4a2d5726ea:82 now", 40)
	if want := "held by|a650cdea-f2ab-43d2-9bd3-0c4a2d5726ea:82|now"; strings.Join(got, "|") != want {
		t.Errorf("wrapped as %q", got)
	}
	got = Wrap("renewed 3.1 s ago, every 10 s, held for 3 h 12 min", 11)
	if want := "renewed|3.1 s ago,|every 10 s,|held for|3 h 12 min"; strings.Join(got, "|") != want {
		t.Errorf("a number and its unit are wrapped as %q, want %q", strings.Join(got, "|"), want)
	}
	for _, line := range Wrap(strings.Repeat("x", 100), 30) {
		if Width(line) > 30 {
			t.Errorf("a word that is too long makes a line of %d cells", Width(line))
		}
	}
}

func TestBar(t *testing.T) {
	th := New(Plain, true)
	for _, c := range []struct {
		left, whole int64
		want        string
	}{
		{10, 10, "===="}, {5, 10, "==.."}, {1, 1000, "=..."},
		{0, 10, "...."}, {-5, 10, "...."}, {20, 10, "===="}, {5, 0, "...."},
	} {
		if got := th.Bar(c.left, c.whole, 4, Paint{}); got != c.want {
			t.Errorf("Bar(%d, %d) = %q, want %q", c.left, c.whole, got, c.want)
		}
	}
	if got := th.Bar(1<<62, 1<<62, 4, Paint{}); strings.Count(got, "=") != 4 {
		t.Errorf("a bar of a huge TTL is %q", got)
	}
}
