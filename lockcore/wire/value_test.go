package wire_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fencepost/lockcore/wire"
)

func TestValueIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := wire.Value{
			Token: rapid.StringMatching(`[A-Za-z0-9_-]{22}`).Draw(t, "token"),
			Fence: rapid.StringMatching(`[1-9][0-9]{0,25}`).Draw(t, "fence"),
			Since: time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "since")).UTC(),
			About: wire.About{
				Host: rapid.String().Draw(t, "host"), PID: rapid.Int64Min(0).Draw(t, "pid"),
				Label: rapid.String().Draw(t, "label"), Text: rapid.String().Draw(t, "text"),
			},
		}
		if want.About.Check() != nil {
			t.Skip("too long or not UTF-8")
		}
		if got, ok := wire.ParseValue(want.String()); !ok || got != want {
			t.Fatalf("%q was read as %+v, %v", want.String(), got, ok)
		}
		if strings.ContainsAny(want.About.String(), "\x00\n\r\x1b") {
			t.Fatalf("%q could move a cursor", want.About.String())
		}
	})
}

func TestValueReadsAsInItsDocumentation(t *testing.T) {
	v := wire.Value{
		Token: "bq1TnEJm0zYw2xkR9sVfQA", Fence: "34", Since: time.Date(2026, 11, 30, 9, 13, 0, 123e6, time.UTC),
		About: wire.About{Host: "web-1", PID: 4242, Label: "nightly", Text: "batch 7"},
	}
	want := `bq1TnEJm0zYw2xkR9sVfQA:34:since=2026-11-30T09:13:00.123Z host=web-1 pid=4242 label=nightly text="batch 7"`
	if v.String() != want {
		t.Errorf("got %s", v)
	}
	// The server's time, where it is told, is the one that counts.
	got, ok := wire.ParseValue(want + " at=1796029985.000007")
	if !ok || got.About != v.About || !got.Since.Equal(time.UnixMicro(1796029985000007)) {
		t.Errorf("with the server's time: %+v, %v", got, ok)
	}
}

func TestOtherValuesAreNotOurs(t *testing.T) {
	for _, raw := range []string{
		"", "1", "a:b", "a:1:", "a:1:since=yesterday", "a:01:since=2026-11-30T09:13:00.123Z ",
		":1:since=2026-11-30T09:13:00.123Z", "a:1:host=x", "a:1: at=17.5", "a:1: at=x.000000", `a:1:since=2026-11-30T09:13:00.123Z text="open`,
	} {
		if v, ok := wire.ParseValue(raw); ok {
			t.Errorf("%q was read as %+v", raw, v)
		}
	}
	if v, ok := wire.ParseValue("t:1:since=2026-11-30T09:13:00.123Z "); !ok || v.About != (wire.About{}) {
		t.Errorf("without an About: %+v, %v", v, ok)
	}
}

func TestAboutHasLimits(t *testing.T) {
	for _, a := range []wire.About{
		{Host: strings.Repeat("h", 256)}, {Label: strings.Repeat("l", 65)},
		{Text: strings.Repeat("t", 257)}, {Text: "\xff"},
	} {
		if a.Check() == nil {
			t.Errorf("%+v passed", a)
		}
	}
}

func FuzzParseValue(f *testing.F) {
	f.Add(`t:1:since=2026-11-30T09:13:00.123Z host=a text="b c"`)
	f.Fuzz(func(t *testing.T, raw string) {
		v, ok := wire.ParseValue(raw)
		if again, ok2 := wire.ParseValue(v.String()); ok && v.About.Check() == nil && (!ok2 || again != v) {
			t.Errorf("%q: %+v, then %+v", raw, v, again)
		}
	})
}
