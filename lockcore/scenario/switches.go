package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Choice is where one switch stands: a word, and options behind it, as in
// "script every=3s".
type Choice struct {
	Word    string
	Options map[string]string
}

// String is the choice as it stands in a file.
func (c Choice) String() string {
	out := []string{c.Word}
	for _, k := range slices.Sorted(maps.Keys(c.Options)) {
		v := c.Options[k]
		if v == "" {
			out = append(out, k)
			continue
		}
		out = append(out, k+"="+v)
	}
	return strings.Join(out, " ")
}

// Is reports whether the switch stands at one of these words.
func (c Choice) Is(words ...string) bool { return slices.Contains(words, c.Word) }

// Has reports whether the option is set.
func (c Choice) Has(option string) bool { _, ok := c.Options[option]; return ok }

// For is an option that is a length of time; 0 when it is not set.
func (c Choice) For(option string) time.Duration {
	d, _ := time.ParseDuration(c.Options[option]) // checked when the file was read
	return d
}

// Settings are the switches of a world, by name.
type Settings map[string]Choice

// The switches. Two worlds of a story differ in one of them.
const (
	SwAcquire  = "acquire"
	SwValue    = "value"
	SwRelease  = "release"
	SwRenew    = "renew"
	SwDeadline = "deadline"
	SwNumber   = "number"
	SwGuard    = "guard"
	SwEnter    = "enter"
	SwVersion  = "version"
	SwWait     = "wait"
	SwReplicas = "replicas"
	SwPolicy   = "policy"
	SwReport   = "report"
	SwRestart  = "restart"
)

// knob is one switch: where it can stand, the first being the default, and
// which options may follow. An option that is a time ends in "=".
type knob struct {
	name    string
	words   []string
	options []string
}

// knobs is the closed list of switches.
func knobs() []knob {
	return []knob{
		{SwAcquire, []string{"script", "set-nx-px", "set-nx-ex", "setnx-expire", "multi-setnx", "mutex", "hash", "quorum"},
			[]string{"lease=", "fail-open", "work-anyway"}},
		{SwValue, []string{"token", "owner", "fixed", "process", "thread", "caller"}, nil},
		{SwRelease, []string{"script", "del", "cad", "get-then-del", "seen"}, nil},
		{SwRenew, []string{"none", "script", "pexpire", "set-missing", "thread"},
			[]string{"every=", "max-hold=", "own-task", "shared-pool"}},
		{SwDeadline, []string{"none", "timer"}, nil},
		{SwNumber, []string{"script", "separate", "kept", "raised", "floor", "none"}, nil},
		{SwGuard, []string{"none", "compare", "holder", "le", "ne", "two-steps", "number-only", "database", "idempotency"}, nil},
		{SwEnter, []string{"yes", "no"}, nil},
		{SwVersion, []string{"none", "check"}, nil},
		{SwWait, []string{"poll", "notify", "subscribe-sleep", "one-process", "fair", "backoff"},
			[]string{"every=", "delay=", "capped"}},
		{SwReplicas, []string{"async", "wait"}, nil},
		{SwPolicy, []string{"noeviction", "volatile-ttl", "allkeys-lru"}, nil},
		{SwReport, []string{"two-kinds", "one-exception"}, nil},
		{SwRestart, []string{"at-once", "one-lease"}, nil},
	}
}

// ParseSettings reads the switches of a file; a switch that is not named stands
// at its default.
func ParseSettings(raw map[string]string) (Settings, error) {
	out := make(Settings)
	for _, k := range knobs() {
		out[k.name] = Choice{Word: k.words[0]}
	}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		i := slices.IndexFunc(knobs(), func(k knob) bool { return k.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no switch %q; the switches are %s", name, knobNames())
		}
		choice, err := knobs()[i].parse(raw[name])
		if err != nil {
			return nil, err
		}
		out[name] = choice
	}
	return out, nil
}

func (k knob) parse(text string) (Choice, error) {
	words := strings.Fields(text)
	if len(words) == 0 || !slices.Contains(k.words, words[0]) {
		return Choice{}, fmt.Errorf("switch %s: %q is none of %s", k.name, text, strings.Join(k.words, ", "))
	}
	choice := Choice{Word: words[0]}
	for _, w := range words[1:] {
		option, value, timed := strings.Cut(w, "=")
		known := slices.Contains(k.options, option) && !timed || slices.Contains(k.options, option+"=") && timed
		if !known {
			return Choice{}, fmt.Errorf("switch %s: %q is no option of it; these are: %s", k.name, w, strings.Join(k.options, " "))
		}
		if d, err := time.ParseDuration(value); timed && (err != nil || d <= 0) {
			return Choice{}, fmt.Errorf("switch %s: %q is no length of time, as in %s=3s", k.name, value, option)
		}
		if choice.Options == nil {
			choice.Options = make(map[string]string)
		}
		choice.Options[option] = value
	}
	return choice, nil
}

func knobNames() string {
	var names []string
	for _, k := range knobs() {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}
