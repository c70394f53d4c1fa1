// Package keymap holds every key binding of the console, as data: a stable id,
// the keys, what the action does, where it is valid and whether it can change
// a server. Hints and help are made from it, so they cannot differ from what
// the keys do. It knows no screen and no terminal library.
//
// Some keys are unbound on purpose. Delete, backspace and ctrl+k delete things
// in other tools, ctrl+d too: here it pages, so the reflex is harmless. Nothing
// that changes a server is one key away.
package keymap

import (
	"fmt"
	"slices"
	"strings"
)

// ID names an action for ever: it is what a config file rebinds.
type ID string

// Scope is a place where keys are read. A key is looked up in the scope that is
// in front, then in Everywhere.
type Scope string

// The scopes. Input stands for every line that text is typed into: printable
// keys are text there. Form is such a line among others that are filled in
// before something is changed.
const (
	Everywhere Scope = "everywhere"
	List       Scope = "list"
	Detail     Scope = "detail"
	Release    Scope = "release"
	Bulk       Scope = "bulk"
	Form       Scope = "form"
	Sort       Scope = "sort"
	Input      Scope = "input"
	Help       Scope = "help"
	Events     Scope = "events"
	Lab        Scope = "lab"
)

// Binding is one action and the keys that start it.
type Binding struct {
	ID   ID
	Keys []string // as Bubble Tea names them: "a", "ctrl+r", "pgdown"
	// Hint is a word for the line of hints; "" keeps the binding out of it.
	Hint string
	Help string // one line for the help screen
	In   []Scope
	// Dangerous marks an action that changes a server or leads to one that does.
	Dangerous bool
}

// Map is a set of bindings, in the order in which hints and help show them.
type Map struct{ bindings []Binding }

// Default returns the bindings that the program ships with.
func Default() Map {
	return Map{bindings: slices.Concat(listBindings(), reviewBindings(), overlayBindings(), labBindings(), markBindings(), everywhereBindings())}
}

// Match returns the action that a key starts in a scope, and whether there is
// one.
func (m Map) Match(scope Scope, key string) (ID, bool) {
	for _, s := range []Scope{scope, Everywhere} {
		for _, b := range m.bindings {
			if slices.Contains(b.In, s) && slices.Contains(b.Keys, key) {
				return b.ID, true
			}
		}
	}
	return "", false
}

// Hints returns the bindings of a scope that belong on its line of hints, its
// own before those that are valid everywhere.
func (m Map) Hints(scope Scope) []Binding {
	return slices.DeleteFunc(m.For(scope), func(b Binding) bool { return b.Hint == "" })
}

// For returns all bindings that are valid in a scope, its own first.
func (m Map) For(scope Scope) []Binding {
	var out []Binding
	for _, s := range []Scope{scope, Everywhere} {
		for _, b := range m.bindings {
			if slices.Contains(b.In, s) {
				out = append(out, b)
			}
		}
	}
	return out
}

// Get returns the binding of an action.
func (m Map) Get(id ID) (Binding, bool) {
	i := slices.IndexFunc(m.bindings, func(b Binding) bool { return b.ID == id })
	if i < 0 {
		return Binding{}, false
	}
	return m.bindings[i], true
}

// IDs returns the ids of all actions, in order.
func (m Map) IDs() []ID {
	ids := make([]ID, len(m.bindings))
	for i, b := range m.bindings {
		ids[i] = b.ID
	}
	return ids
}

// Rebind returns the map with other keys for one action. It is an error to name
// an action that does not exist, to leave one without keys, or to give it a key
// that already starts another in the same place.
func (m Map) Rebind(id ID, keys []string) (Map, error) {
	i := slices.IndexFunc(m.bindings, func(b Binding) bool { return b.ID == id })
	if i < 0 {
		return m, fmt.Errorf("keymap: there is no action %q", id)
	}
	if len(keys) == 0 || slices.Contains(keys, "") {
		return m, fmt.Errorf("keymap: %s needs a key", id)
	}
	out := Map{bindings: slices.Clone(m.bindings)}
	out.bindings[i].Keys = slices.Clone(keys)
	if err := out.Check(); err != nil {
		return m, err
	}
	return out, nil
}

// Check reports the first key that would start two actions in one place.
func (m Map) Check() error {
	for i, a := range m.bindings {
		for _, b := range m.bindings[i+1:] {
			for _, key := range a.Keys {
				if slices.Contains(b.Keys, key) && meet(a.In, b.In) {
					return fmt.Errorf("keymap: %q would start both %s and %s", key, a.ID, b.ID)
				}
			}
		}
	}
	return nil
}

// meet reports whether two actions are valid in one place. An action of one
// scope may take over a key that has another meaning everywhere (q: back).
func meet(a, b []Scope) bool {
	return slices.ContainsFunc(a, func(s Scope) bool { return slices.Contains(b, s) })
}

// Name is the key as a person reads it on a keyboard.
func Name(key string) string {
	switch key {
	case "up":
		return "Up"
	case "down":
		return "Down"
	case "pgup":
		return "PgUp"
	case "pgdown":
		return "PgDn"
	case "shift+tab":
		return "Shift+Tab"
	case " ", "space":
		return "Space"
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "Ctrl+" + strings.ToUpper(rest)
	}
	if len(key) > 1 && key[0] >= 'a' && key[0] <= 'z' {
		return strings.ToUpper(key[:1]) + key[1:]
	}
	return key
}

// Names lists the keys of a binding for the help screen, each once.
func (b Binding) Names() string {
	var names []string
	for _, k := range b.Keys {
		if n := Name(k); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, " ")
}
