package tui

import (
	"testing"

	"fencepost/keymap"
)

// A text that is offered is taken as it is, edited, or replaced by what is typed:
// the reason for one lock does not run into that for the next.
func TestOfferedTextIsTakenEditedOrReplaced(t *testing.T) {
	keys := keymap.Default()
	for _, tc := range []struct {
		keys []string
		want string
	}{
		{nil, "stuck job"},
		{[]string{"I", "N", "C"}, "INC"},
		{[]string{"backspace", "x"}, "x"},
		{[]string{"left", "backspace"}, "stuck jb"},
		{[]string{"end", "s"}, "stuck jobs"},
		{[]string{"ctrl+w"}, ""},
	} {
		f := offer("stuck job")
		for _, k := range tc.keys {
			f, _ = f.key(keys, k)
		}
		if f.String() != tc.want {
			t.Errorf("%q: got %q, want %q", tc.keys, f, tc.want)
		}
	}
	if f := offer(""); f.offered {
		t.Error("nothing is offered")
	}
}
