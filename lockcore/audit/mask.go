package audit

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

// commands are a plan's steps as they go out, one line each: the script by its
// name, keys and holders in full, every other value masked. A lock's value may
// hold more than its holder: what an application put there is its own affair.
func commands(p *inspect.Plan) []string {
	var known []string
	for _, h := range p.Holders {
		known = append(known, string(h.ID))
	}
	out := make([]string, 0, len(p.Steps))
	for _, s := range p.Steps {
		out = append(out, s.Node+": "+command(s.Call, known))
	}
	return out
}

func command(c wire.Call, known []string) string {
	var words []string
	if c.Script != nil {
		words = append(words, "EVAL", "<"+c.Script.Name+" "+c.Script.SHA[:8]+">", strconv.Itoa(len(c.Keys)))
		for _, k := range c.Keys {
			words = append(words, wire.Word(k))
		}
	} else {
		words = append(words, c.Name)
	}
	for i, a := range c.Args {
		if c.Script == nil && i == 0 {
			words = append(words, wire.Word(a)) // the key, or the channel
			continue
		}
		words = append(words, mask(c, a, known))
	}
	return strings.Join(words, " ")
}

// mask shows an argument if it is a holder, a number, or a word of the scripts'
// own; of anything else how long it is, and a mark by which two of them can be
// told to be the same.
func mask(c wire.Call, arg string, known []string) string {
	if arg == c.Wake().Target || slices.Contains(known, arg) || plainWord(arg) {
		return wire.Word(arg)
	}
	sum := sha256.Sum256([]byte(arg))
	return fmt.Sprintf("<%d bytes, sha256 %x>", len(arg), sum[:4])
}

// plainWord reports whether an argument is a small number or one of the words
// that the scripts take.
func plainWord(s string) bool {
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return true
	}
	return slices.Contains([]string{
		"", "any", "same", "deadlines", "=", "?", "mode", "read", "write", "__write__",
		"DEL", "HDEL", "ZREM", "SREM", "INCRBY", "LPUSH", "PUBLISH", "SPUBLISH", "BOTH", "RESET", "TTL", "HOLD", "PX", "NX",
	}, s)
}
