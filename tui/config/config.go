// Package config reads the program's configuration file and knows where its
// files lie. It never writes. Its errors name the file and the line, and never
// a value: a password may stand there.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Config is what the file says. The zero Config is that of a missing file.
type Config struct {
	Profiles map[string]Profile  `toml:"profiles"`
	Families []Family            `toml:"families"`
	Keys     map[string][]string `toml:"keys"` // rebinding, by the action's id
}

// Profile is a named target. File names are absolute: in the file they may be
// relative to it, or begin with ~/.
type Profile struct {
	URL             string   `toml:"url"`
	Host            string   `toml:"host"`
	Port            int      `toml:"port"`
	Socket          string   `toml:"socket"`
	DB              *int     `toml:"db"`
	User            string   `toml:"user"`
	PasswordCommand string   `toml:"password_command"`
	PasswordFile    string   `toml:"password_file"`
	TLS             bool     `toml:"tls"`
	SNI             string   `toml:"sni"`
	CACert          string   `toml:"cacert"`
	Cert            string   `toml:"cert"`
	Key             string   `toml:"key"`
	Insecure        bool     `toml:"insecure"`
	Addr            []string `toml:"addr"`
	Cluster         bool     `toml:"cluster"`
	Single          bool     `toml:"single"`
	SentinelMaster  string   `toml:"sentinel_master"`
	SentinelUser    string   `toml:"sentinel_user"`
	Env             string   `toml:"env"`
	ReadOnly        bool     `toml:"read_only"`
	Match           []string `toml:"match"`
}

// Family is a lock format of the operator's own: regular expressions with
// named groups for the key's name and for the value.
type Family struct {
	Name  string `toml:"name"`
	Key   string `toml:"key"`
	Value string `toml:"value"`
}

// Error says what is wrong with the file, and where.
type Error struct {
	File string
	Line int // from 1; 0 when no line is to blame
	Text string
}

// Error is file:line: text.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Load reads the file. A missing one is an empty Config, unless it was asked
// for by name.
func Load(file string, named bool) (*Config, error) {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return &Config{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{File: file, Text: "there is no such file"}
	case errors.Is(err, fs.ErrPermission):
		return nil, &Error{File: file, Text: "the file may not be read by this user"}
	case err != nil:
		return nil, &Error{File: file, Text: "the file cannot be read"}
	}
	return parse(file, string(data))
}

func parse(file, text string) (*Config, error) {
	var c Config
	meta, err := toml.Decode(text, &c)
	if err != nil {
		return nil, decodeError(file, text, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		key := unknown[0]
		return nil, &Error{File: file, Line: lineOf(text, key), Text: unknownKey(key)}
	}
	if err := c.check(file, text); err != nil {
		return nil, err
	}
	for name, p := range c.Profiles {
		p.anchor(filepath.Dir(file))
		c.Profiles[name] = p
	}
	return &c, nil
}

// where finds the place in an error of the decoder that has it in words only.
var where = regexp.MustCompile(`^toml: line (\d+) \(last key "([^"]*)"\): incompatible types`)

// decodeError puts the decoder's error into words without its quotations.
func decodeError(file, text string, err error) error {
	var pe toml.ParseError
	if errors.As(err, &pe) {
		line := pe.Position.Line
		if strings.Contains(pe.Message, "already been defined") {
			return &Error{File: file, Line: line, Text: "this stands in the file twice"}
		}
		return &Error{File: file, Line: line, Text: "this is not TOML: a text stands in quotes (one with \\ in 'single' ones), a table's name in [brackets]"}
	}
	if m := where.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1]) // digits, by the expression
		return &Error{File: file, Line: line, Text: "wrong kind of value" + kindHint(text, line)}
	}
	return &Error{File: file, Text: "a value is of the wrong kind, or too large"}
}

// kindHint names the key in the line and what it takes.
func kindHint(text string, line int) string {
	lines := strings.Split(text, "\n")
	if line > len(lines) {
		return ""
	}
	key, _, _ := strings.Cut(lines[line-1], "=")
	key = strings.TrimSpace(key)
	switch key {
	case "port", "db":
		return ": " + key + " is a number without quotes"
	case "tls", "insecure", "cluster", "single", "read_only":
		return ": " + key + " is true or false, without quotes"
	case "addr", "match":
		return ": " + key + ` is a list: ["…", "…"]`
	}
	return ""
}

// check refuses what can be read and makes no sense.
func (c *Config) check(file, text string) error {
	for name, p := range c.Profiles {
		at := func(key, words string) error {
			return &Error{File: file, Line: lineOf(text, toml.Key{"profiles", name, key}), Text: words}
		}
		switch {
		case p.PasswordCommand != "" && p.PasswordFile != "":
			return at("password_file", "there is a password_command already; keep one of them")
		case p.Port < 0 || p.Port > 65535:
			return at("port", "a port is a number from 1 to 65535")
		case p.DB != nil && *p.DB < 0:
			return at("db", "a database is a number from 0 on")
		}
	}
	for i, f := range c.Families {
		at := func(key, words string) error {
			return &Error{File: file, Line: lineOfNth(text, "families", i, key), Text: words}
		}
		switch {
		case f.Name == "":
			return at("name", "a family needs a name")
		case f.Key == "":
			return at("key", "a family needs key, a regular expression for the names of its keys")
		}
		for _, e := range []struct{ key, expr string }{{"key", f.Key}, {"value", f.Value}} {
			if _, err := regexp.Compile(e.expr); err != nil {
				return at(e.key, e.key+" is not a regular expression: "+regexpProblem(err))
			}
		}
	}
	return nil
}

func regexpProblem(err error) string {
	var se *syntax.Error
	if errors.As(err, &se) {
		return se.Code.String()
	}
	return "it cannot be read"
}

// anchor makes the names of files absolute.
func (p *Profile) anchor(dir string) {
	for _, f := range []*string{&p.Socket, &p.PasswordFile, &p.CACert, &p.Cert, &p.Key} {
		switch {
		case *f == "" || filepath.IsAbs(*f):
		case strings.HasPrefix(*f, "~/"):
			if home, err := os.UserHomeDir(); err == nil {
				*f = filepath.Join(home, (*f)[2:])
			}
		default:
			*f = filepath.Join(dir, *f)
		}
	}
}
