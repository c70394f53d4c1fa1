package scenario

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The stories that are shipped, one a file.
//
//go:embed data/*.toml
var data embed.FS

// ErrUnknown says that there is no story of that name.
var ErrUnknown = errors.New("scenario: there is no such scenario; `fencepost simulate` lists them")

// order is that of the hour with a room first, then by group and name.
func order() []string {
	return []string{"gc-pause-late-write", "process-mutex", "setnx-expire-crash", "unchecked-del", "fixed-value",
		"get-then-del", "work-outlives-ttl", "check-then-pause", "safe-unlock-stale-write", "read-before-enter",
		"number-by-separate-incr", "polling-herd", "failover-lost-lock"}
}

// All reads the stories that are shipped: those for an hour with a room first,
// in their order, then the rest by group and name.
func All() ([]*Scenario, error) { return ReadAll(data) }

// ReadAll reads all stories of a folder "data".
func ReadAll(files fs.FS) ([]*Scenario, error) {
	names, err := fs.Glob(files, "data/*.toml")
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	var out []*Scenario
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("scenario: %w", err)
		}
		s, err := Parse(path.Base(name), string(text))
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b *Scenario) int {
		if d := place(a.Name) - place(b.Name); d != 0 {
			return d
		}
		if d := strings.Compare(a.Group, b.Group); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out, nil
}

func place(name string) int {
	if i := slices.Index(order(), name); i >= 0 {
		return i
	}
	return len(order())
}

// Find reads one of the stories that are shipped; ErrUnknown where there is none.
func Find(name string) (*Scenario, error) {
	if !nameForm.MatchString(name) {
		return nil, ErrUnknown
	}
	text, err := data.ReadFile("data/" + name + ".toml")
	if err != nil {
		return nil, ErrUnknown
	}
	return Parse(name+".toml", string(text))
}
