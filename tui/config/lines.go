package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"fencepost/lockcore/wire"
)

// lineOf finds the line of a key in the text, 0 when it is not found. The
// decoder knows where a key stood, but does not tell.
func lineOf(text string, key toml.Key) int {
	return find(text, key, 0)
}

// lineOfNth finds a key in the n-th table of an array of tables, or else the
// head of that table.
func lineOfNth(text, table string, n int, key string) int {
	if line := find(text, toml.Key{table, key}, n); line > 0 {
		return line
	}
	return find(text, toml.Key{table}, n)
}

// find walks the lines, keeping the path of the table that it is in; nth
// counts the array tables of that path.
func find(text string, key toml.Key, nth int) int {
	var table []string
	seen := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		name, _, assigns := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			head, _, _ := strings.Cut(strings.TrimLeft(line, "["), "]")
			table = path(head)
			seen[strings.Join(table, "\x00")]++
			if nth == seen[strings.Join(table, "\x00")]-1 && slices.Equal(table, key) {
				return i + 1
			}
		case assigns:
			full := append(slices.Clone(table), path(name)...)
			if slices.Equal(full, key) && (nth == 0 || seen[strings.Join(table, "\x00")] == nth+1) {
				return i + 1
			}
		}
	}
	return 0
}

// path splits a.b."c.d" into its parts.
func path(s string) []string {
	var parts []string
	var part strings.Builder
	quote := rune(0)
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == 0 && r == '.':
			parts = append(parts, part.String())
			part.Reset()
		case quote == 0 && (r == ' ' || r == '\t'):
		default:
			part.WriteRune(r)
		}
	}
	return append(parts, part.String())
}

// unknownKey explains a key that means nothing here, and names the nearest
// that does.
func unknownKey(key toml.Key) string {
	if !slices.Contains(known(key[:1]), key[0]) {
		key = key[:1]
	}
	last := key[len(key)-1]
	if len(key) > 2 && key[0] == "profiles" {
		switch last {
		case "password", "pass", "auth", "requirepass":
			return wire.Escape(last) + ": passwords do not belong in this file; use password_command or password_file"
		case "username":
			return "username: the name here is user"
		}
	}
	text := "nothing here is called " + wire.Escape(last)
	if near := Closest(last, known(key)); near != "" {
		text += "; is " + near + " meant?"
	}
	return text
}

// known lists the names that can stand where the key stands.
func known(key toml.Key) []string {
	var of any
	switch {
	case len(key) == 1:
		of = Config{}
	case key[0] == "profiles":
		of = Profile{}
	case key[0] == "families":
		of = Family{}
	default:
		return nil
	}
	var names []string
	for field := range reflect.TypeOf(of).Fields() {
		names = append(names, field.Tag.Get("toml"))
	}
	return names
}

// Closest returns the name that s was most likely meant to be, or "".
func Closest(s string, names []string) string {
	best, bestAt := "", 3
	for _, name := range names {
		at := distance(strings.ToLower(s), name)
		if len(s) >= 3 && strings.HasPrefix(name, strings.ToLower(s)) {
			at = min(at, 1)
		}
		if at < bestAt && at < max(2, len(name)/2+1) {
			best, bestAt = name, at
		}
	}
	return best
}

// distance counts the letters to change, add, drop or swap with a neighbour.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		cur[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			cur[j+1] = min(last[j+1]+1, cur[j]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				cur[j+1] = min(cur[j+1], before[j-1]+1)
			}
		}
		before, last, cur = last, cur, before
	}
	return last[len(y)]
}
