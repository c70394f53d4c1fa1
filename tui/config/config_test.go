package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const whole = `
[profiles.orders]
url = "rediss://fencepost@redis.example.com:6380/0"
password_command = "pass show redis/orders"   # run again for each connection
cacert = "/etc/ssl/redis-ca.pem"
cert = "certs/me.crt"
env = "prod"
read_only = false
match = ["*lock*", "order:*"]

[profiles."two words"]
host = "h"
port = 7000
db = 0

[[families]]                                  # your own locks
name = "billing"
key = '^billing:(?P<resource>.+):guard$'
value = '^(?P<host>[^|]+)\|(?P<pid>\d+)\|(?P<fence>\d+)$'

[keys]
"release.open" = ["u", "ctrl+r"]
`

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLoad(t *testing.T) {
	file := write(t, whole)
	c, err := Load(file, false)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Profiles: map[string]Profile{
			"orders": {
				URL: "rediss://fencepost@redis.example.com:6380/0", PasswordCommand: "pass show redis/orders",
				CACert: "/etc/ssl/redis-ca.pem", Cert: filepath.Join(filepath.Dir(file), "certs/me.crt"),
				Env: "prod", Match: []string{"*lock*", "order:*"},
			},
			"two words": {Host: "h", Port: 7000, DB: new(0)},
		},
		Families: []Family{{"billing", `^billing:(?P<resource>.+):guard$`, `^(?P<host>[^|]+)\|(?P<pid>\d+)\|(?P<fence>\d+)$`}},
		Keys:     map[string][]string{"release.open": {"u", "ctrl+r"}},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("config (-want +got):\n%s", d)
	}
}

func TestMissingFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none.toml")
	if c, err := Load(file, false); err != nil || len(c.Profiles) > 0 {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := Load(file, true); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that was asked for by name: %v", err)
	}
}

// Every error names the line and what to do, and no value.
func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		line       int
		words      []string
	}{
		{"no quotes", "[profiles.a]\nurl = redis://:s3cret@h", 2, []string{"quotes"}},
		{"no end", "[profiles.a]\nurl = \"redis://:s3cret@h\n", 2, nil},
		{"bad escape", "[profiles.a]\nurl = \"redis://:s3cr\\qet@h\"", 2, []string{`'single'`}},
		{"twice", "[profiles.a]\nurl = \"s3cret\"\nurl = \"s3cret\"", 3, []string{"twice"}},
		{"kind", "[profiles.a]\n\nport = \"s3cret\"", 3, []string{"port is a number"}},
		{"kind of bool", "[profiles.a]\ntls = \"s3cret\"", 2, []string{"true or false"}},
		{"kind of list", "[profiles.a]\nmatch = \"s3cret\"", 2, []string{"list"}},
		{"kind of text", "[profiles.a]\nurl = 5", 2, []string{"wrong kind"}},
		{"password", "[profiles.a]\nurl = \"redis://h\"\npassword = \"s3cret\"", 3, []string{"password_command"}},
		{"near", "[profiles.a]\ncacrt = \"s3cret\"", 2, []string{"cacert"}},
		{"username", "[profiles.a]\nusername = \"s3cret\"", 2, []string{"user"}},
		{"top", "[profile.a]\nurl = \"s3cret\"", 1, []string{"profiles"}},
		{"both", "[profiles.a]\npassword_command = \"s3cret\"\npassword_file = \"s3cret\"", 3, []string{"keep one"}},
		{"port", "[profiles.b]\nport = 1\n[profiles.a]\nport = 70000", 4, []string{"65535"}},
		{"db", "[profiles.a]\ndb = -1", 2, []string{"from 0"}},
		{"quoted name", "[profiles.\"a b\"]\nport = 70000", 2, nil},
		{"family without name", "[[families]]\nkey = 's3cret'", 1, []string{"name"}},
		{"second family", "[[families]]\nname = 'a'\nkey = 'x'\n[[families]]\nname = 'b'\nkey = '(s3cret'", 6, []string{"regular expression", "missing closing )"}},
		{"control", "[profiles.a]\n\"\\u001b[31m\" = 1", 0, []string{`\x1b[31m`}},
	} {
		file := write(t, tc.text)
		_, err := Load(file, true)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if e.Line != tc.line || e.File != file {
			t.Errorf("%s: at %s:%d, want line %d (%v)", tc.name, e.File, e.Line, tc.line, err)
		}
		for _, w := range tc.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", tc.name, err, w)
			}
		}
		if strings.Contains(err.Error(), "s3cr") || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: the error shows a value: %q", tc.name, err)
		}
	}
}

func TestClosest(t *testing.T) {
	names := []string{"list", "watch", "release", "simulate", "ttl"}
	for in, want := range map[string]string{
		"lst": "list", "lsit": "list", "LIST": "list", "relaese": "release", "rel": "release", "sim": "simulate",
		"xyzzy": "", "hunter2": "", "": "", "tt": "ttl",
	} {
		if got := Closest(in, names); got != want {
			t.Errorf("closest to %q is %q, want %q", in, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	env := func(vars map[string]string) func(string) string { return func(k string) string { return vars[k] } }
	for _, tc := range []struct {
		vars map[string]string
		want Paths
	}{
		{map[string]string{"HOME": "/h"}, Paths{"/h/.config/fencepost/config.toml", "/h/.local/state/fencepost", "/h/.local/state/fencepost/audit.jsonl"}},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, Paths{"/c/fencepost/config.toml", "/s/fencepost", "/s/fencepost/audit.jsonl"}},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, Paths{"/h/.config/fencepost/config.toml", "/h/.local/state/fencepost", "/h/.local/state/fencepost/audit.jsonl"}},
		{nil, Paths{}},
	} {
		if got := FindPaths(env(tc.vars)); got != tc.want {
			t.Errorf("%v: %+v", tc.vars, got)
		}
	}
}
