package keymap

import (
	"slices"
	"strings"
	"testing"
)

func TestDefaultHasNoConflict(t *testing.T) {
	if err := Default().Check(); err != nil {
		t.Error(err)
	}
}

func TestEveryBindingIsComplete(t *testing.T) {
	seen := map[ID]bool{}
	for _, id := range Default().IDs() {
		if seen[id] {
			t.Errorf("%s stands twice", id)
		}
		seen[id] = true
		b, ok := Default().Get(id)
		if !ok || b.Help == "" || len(b.Keys) == 0 || len(b.In) == 0 {
			t.Errorf("%s lacks keys, help or a place", id)
		}
		if strings.ToLower(string(id)) != string(id) {
			t.Errorf("%s is not lower case", id)
		}
	}
}

// Keys that other tools delete with must do nothing here, and nothing that is
// dangerous may lie on a key that is hit by accident.
func TestKeysUnboundOnPurpose(t *testing.T) {
	for _, scope := range []Scope{List, Detail, Release} {
		for _, key := range []string{"delete", "backspace", "ctrl+k", "f", "x", "D"} {
			if id, ok := Default().Match(scope, key); ok {
				t.Errorf("%s in the %s starts %s", key, scope, id)
			}
		}
	}
	for _, id := range Default().IDs() {
		b, _ := Default().Get(id)
		if b.Dangerous && slices.ContainsFunc(b.Keys, func(k string) bool { return k == "enter" || k == " " || k == "esc" }) {
			t.Errorf("%s is dangerous and lies on %v", id, b.Keys)
		}
	}
}

func TestMatchPrefersTheScope(t *testing.T) {
	m := Default()
	for _, c := range []struct {
		scope Scope
		key   string
		want  ID
	}{
		{List, "q", Quit}, {Detail, "q", Back}, {Release, "?", OpenHelp},
		{Input, "ctrl+u", EraseLine}, {List, "ctrl+u", HalfUp}, {Release, "ctrl+c", Abort},
	} {
		if got, _ := m.Match(c.scope, c.key); got != c.want {
			t.Errorf("%s in %s starts %q, want %q", c.key, c.scope, got, c.want)
		}
	}
	if id, ok := m.Match(Release, "q"); ok {
		t.Errorf("q in the release panel starts %s", id)
	}
}

func TestRebind(t *testing.T) {
	m, err := Default().Rebind(OpenRelease, []string{"U", "ctrl+r"})
	if err == nil {
		t.Error("ctrl+r is refresh already; it must be refused")
	}
	m, err = m.Rebind(OpenRelease, []string{"U"})
	if err != nil {
		t.Fatal(err)
	}
	if id, _ := m.Match(List, "U"); id != OpenRelease {
		t.Errorf("U starts %q after rebinding", id)
	}
	if _, ok := m.Match(List, "u"); ok {
		t.Error("u still starts something")
	}
	if id, _ := Default().Match(List, "u"); id != OpenRelease {
		t.Error("rebinding changed the default map")
	}
	for _, bad := range []struct {
		id   ID
		keys []string
	}{{"no.such", []string{"x"}}, {OpenRelease, nil}, {OpenRelease, []string{""}}} {
		if _, err := Default().Rebind(bad.id, bad.keys); err == nil {
			t.Errorf("Rebind(%s, %q) was accepted", bad.id, bad.keys)
		}
	}
}

func TestHintsComeFromTheBindings(t *testing.T) {
	m, err := Default().Rebind(Filter, []string{"f"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Hints(List) {
		if b.ID == Filter && b.Names() != "f" {
			t.Errorf("the hint shows %q after rebinding to f", b.Names())
		}
	}
	hints := m.Hints(Release)
	if i := slices.IndexFunc(hints, func(b Binding) bool { return b.ID == OpenHelp }); i != len(hints)-1 {
		t.Errorf("help must be the panel's last hint, is %d of %d", i, len(hints))
	}
}

func TestName(t *testing.T) {
	for key, want := range map[string]string{
		"ctrl+r": "Ctrl+R", "pgdown": "PgDn", "esc": "Esc", "enter": "Enter", "u": "u", "O": "O", "/": "/", " ": "Space", "f1": "F1",
	} {
		if got := Name(key); got != want {
			t.Errorf("Name(%q) = %q, want %q", key, got, want)
		}
	}
}
