package config

import "path/filepath"

// Paths are the files that the program reads and writes.
type Paths struct {
	Config string // the configuration file, read only
	State  string // the directory of what the program keeps
	Audit  string // what was changed with it
}

// FindPaths applies the XDG base directory rules to an environment: a variable
// counts when it is an absolute path, else $HOME/.config and
// $HOME/.local/state. Without either, the paths are "".
func FindPaths(env func(string) string) Paths {
	var p Paths
	if dir := base(env, "XDG_CONFIG_HOME", ".config"); dir != "" {
		p.Config = filepath.Join(dir, "fencepost", "config.toml")
	}
	if dir := base(env, "XDG_STATE_HOME", filepath.Join(".local", "state")); dir != "" {
		p.State = filepath.Join(dir, "fencepost")
		p.Audit = filepath.Join(p.State, "audit.jsonl")
	}
	return p
}

func base(env func(string) string, name, below string) string {
	if dir := env(name); filepath.IsAbs(dir) {
		return dir
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, below)
	}
	return ""
}
