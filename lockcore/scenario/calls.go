package scenario

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fencepost/lockcore/wire"
)

// on is where a call goes: to a server, below a prefix and with its own length
// of a second, or onto the screen as the actor would have typed it.
type on struct {
	prefix string
	short  func(time.Duration) time.Duration
	warped bool
	quote  bool // onto the screen
}

// key is the name of a key or channel there.
func (o on) key(name string) string { return o.prefix + name }

// ms is a length of time there, in milliseconds.
func (o on) ms(d time.Duration) string { return strconv.FormatInt(o.short(d).Milliseconds(), 10) }

// value marks what the store is to hold, which a screen shows in quotes.
func (o on) value(v string) string {
	if o.quote {
		return quoteMark + v
	}
	return v
}

// keys are the keys of a lock there.
func (o on) keys(name string) wire.Keys {
	k, err := wire.NewKeys(o.prefix+"lock:", name)
	if err != nil {
		panic("scenario: " + err.Error()) // names are checked when a file is read
	}
	return k
}

// quoteMark stands before an argument that a screen shows in quotes. No key and
// no value of the lab begins with it.
const quoteMark = "\x01"

// The lab's own scripts: what libraries do, in the forms that the stories are about.
//
//go:embed scripts/*.lua
var scriptFiles embed.FS

// luaScripts are the lab's scripts by name.
func script(name string) *wire.Script {
	text, err := scriptFiles.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic("scenario: " + err.Error()) // embedded: it is there
	}
	return wire.NewScript(name, string(text))
}

// show is calls as a reader would type them: a script by its name, as FCALL
// has it, empty arguments left out.
func show(calls []wire.Call) string {
	var lines []string
	for _, c := range calls {
		lines = append(lines, showCall(c))
	}
	if len(lines) > 1 {
		return "MULTI; " + strings.Join(lines, "; ") + "; EXEC"
	}
	return strings.Join(lines, "")
}

func showCall(c wire.Call) string {
	words := []string{c.Name}
	if c.Script != nil {
		words = append([]string{c.Script.Name, strconv.Itoa(len(c.Keys))}, c.Keys...)
	}
	for _, a := range c.Args {
		switch bare, quoted := strings.CutPrefix(a, quoteMark); {
		case quoted:
			words = append(words, strconv.Quote(bare))
		case a != "":
			words = append(words, wire.Word(a))
		}
	}
	return strings.Join(words, " ")
}

func showReplies(replies []any) string {
	if len(replies) == 1 {
		return showReply(replies[0])
	}
	return showReply(replies)
}

// showReply is a reply as redis-cli would have it on one line. The time in a
// lock's value is left out: it is measured, and a transcript has none.
func showReply(reply any) string {
	switch r := reply.(type) {
	case nil:
		return "nil"
	case error:
		return "(error) " + wire.Clean(r.Error())
	case string:
		if v, ok := wire.ParseValue(r); ok {
			return v.Token + ":" + v.Fence
		}
		return wire.Clean(r)
	case []any:
		parts := make([]string, len(r))
		for i, p := range r {
			parts[i] = showReply(p)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(reply)
}
