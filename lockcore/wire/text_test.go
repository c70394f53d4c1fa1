package wire

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEscapeMakesTextHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"order-lock":                      "order-lock",
		"a b":                             "a b",
		"naïve/주문":                        "naïve/주문",
		`back\slash`:                      `back\\slash`,
		"\x1b]0;PWNED\a":                  `\x1b]0;PWNED\a`,
		"c1\x9b2J\u009b31m":               `c1\x9b2J\u009b31m`,
		"bidi\u202egnp.exe":               `bidi\u202egnp.exe`,
		"zero\u200bwidth\ufeff":           `zero\u200bwidth\ufeff`,
		"nul\x00 tab\t nl\n del\x7f":      `nul\x00 tab\t nl\n del\x7f`,
		"\xff\xfe":                        `\xff\xfe`,
		"line\u2028sep nbsp\u00a0 end":    `line\u2028sep nbsp\u00a0 end`,
		"emoji \U0001F512 private \ue000": "emoji \U0001F512 private \\ue000",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %s, want %s", in, got, want)
		}
	}
}

// Whatever a server sends, what comes out has no control, no escape, no format
// character and no invalid byte.
func TestEscapeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		for _, r := range Escape(in) {
			if !Printable(r) || r == '\uFFFD' && !strings.ContainsRune(in, '\uFFFD') {
				t.Fatalf("Escape(%q) lets %U through", in, r)
			}
		}
	})
}

// A line that --dry-run prints must hand a shell the very bytes that would be
// sent. The shell here is the real one; redis-cli's own unquoting is tested
// against a server in lockcore/inspect.
func TestShellArrivesThroughARealShell(t *testing.T) {
	for _, argv := range [][]string{
		{"EVAL", "if redis.call('GET',KEYS[1]) == ARGV[1] then\n\treturn 1 end", "1", "it's a \"key\"", "$HOME `id` \\ ;|&<>*?[]{}()#~!"},
		{"DEL", ""},
		{"GET", "-flag", "--", "a=b", "x y"},
	} {
		line := "printf '%s\\0' " + Shell(argv)
		out, err := exec.Command("sh", "-c", line).Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if strings.Join(got, "|") != strings.Join(argv, "|") {
			t.Errorf("sh made %q of %q", got, argv)
		}
	}
}

func TestShellUsesQuotedInputForBytes(t *testing.T) {
	line := Call{Name: "DEL", Args: []string{"a\x00\xff"}}.String()
	if want := `redis-cli --quoted-input '"DEL"' '"a\x00\xff"'`; line != want {
		t.Errorf("got %s, want %s", line, want)
	}
	for i := range len(line) {
		if line[i] < ' ' || line[i] > '~' {
			t.Errorf("byte %#x on a line for a terminal", line[i])
		}
	}
}
