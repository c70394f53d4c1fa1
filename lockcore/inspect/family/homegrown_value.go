package family

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"fencepost/lockcore/wire"
)

// class is what kind of value people put into a lock.
type class string

const (
	classNone    class = ""
	classFlag    class = "a flag"
	classState   class = "a state"
	classEmpty   class = "empty"
	classCount   class = "a small number"
	classNumber  class = "a number"
	classTime    class = "a time"
	classISO     class = "a date"
	classHostPID class = "a host and a process"
	classJSON    class = "JSON"
	classToken   class = "a token"
	classBinary  class = "random bytes"
	classText    class = "an owner's name"
)

// classOf sorts a string by its value.
func classOf(s *Sample) class {
	v := line(s.Value)
	switch v {
	case "":
		if s.Len == 0 {
			return classEmpty
		}
		return classNone
	case "1", "true", "True", "TRUE", "t", "yes", "y", "on", "ok", "OK", "x", "locked", "lock", "taken", "held", "busy":
		return classFlag
	case "LOCKED", "UNLOCKED", "Locked", "Unlocked", "unlocked", "open", "closed", "OPEN", "CLOSED", "false", "off":
		return classState
	}
	switch _, isTime := timeIn(v); {
	case isTime && v[0] >= '0' && v[0] <= '9' && (len(v) < 19 || v[4] != '-'):
		return classTime
	case isTime:
		return classISO
	case isInt(v) && len(v) <= 2:
		return classCount // counted up, by INCR
	case isInt(v):
		return classNumber // a process, a user
	case v[0] == '{' && (v[len(v)-1] == '}' || !s.Whole):
		return classJSON
	case !s.Whole || s.Len > 256:
		return classNone
	case !utf8.ValidString(v):
		if s.Len >= 8 && s.Len <= 64 {
			return classBinary
		}
		return classNone
	case libraryToken(v):
		return classToken
	case hasHostPID(v):
		return classHostPID
	case strings.ContainsAny(v, "\n\r\x00<>"):
		return classNone
	}
	return classText
}

// line is a value without the end of line that a shell leaves behind it, as
// uuidgen | redis-cli -x SET does. The holder is named by the whole.
func line(v string) string { return strings.TrimSuffix(strings.TrimSuffix(v, "\n"), "\r") }

// libraryToken reports whether a value has the shape of a random token, as
// libraries make them and people by hand too.
func libraryToken(v string) bool {
	switch n := len(v); {
	case n == 36:
		return isUUID(strings.ToLower(v))
	case n < 10 || n > 128:
		return false
	}
	var upperCase, lower, digits int
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upperCase++
		case c == '+' || c == '/' || c == '=' || c == '_' || c == '-' || c == '.':
		default:
			return false
		}
	}
	if isHex(v, len(v)) {
		return digits > 0
	}
	if strings.HasPrefix(v, "0.") && isDigits(v[2:]) { // a random number as text
		return true
	}
	return upperCase > 1 && lower > 1 && digits > 0 && !strings.ContainsAny(v, ".")
}

// oneOff reports whether a text is too long and too mixed for a name that comes
// again: a ULID, a xid, a cuid, a random word. Only of one case, or it would have
// been taken for a token at once.
func oneOff(v string) bool {
	var letters, digits int
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		default:
			return false
		}
	}
	return len(v) >= 20 && letters >= 4 && digits >= 4
}

// timeIn reads a time in seconds, milliseconds, microseconds, nanoseconds or as
// a date, in milliseconds since 1970.
func timeIn(v string) (int64, bool) {
	if ms, ok := epochS(v); ok {
		return ms, true
	}
	if ms, ok := epochMS(v); ok {
		return ms, true
	}
	if ms, ok := epochNS(v); ok {
		return ms, true
	}
	if len(v) == 16 {
		if n, ok := parseInt(v); ok && n/1000 >= firstMS && n/1000 < lastMS {
			return n / 1000, true
		}
	}
	if len(v) < 19 || len(v) > 40 || v[4] != '-' {
		return 0, false
	}
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, v); err == nil && t.UnixMilli() >= firstMS && t.UnixMilli() < lastMS {
			return t.UnixMilli(), true
		}
	}
	return 0, false
}

// lockJSON reports whether a JSON text has a word that locks have.
func lockJSON(v string) bool {
	for _, word := range [...]string{"owner", "holder", "lock", "token", "pid", "host", "worker", "acquired", "expires"} {
		if strings.Contains(v, word) {
			return true
		}
	}
	return false
}

// describe reads host, process, start and name out of a text that a holder
// wrote of itself, and returns the fence that stands in it, if any. What is not
// understood stays empty.
func describe(h *Holder, text string) (fence string) {
	if strings.HasPrefix(text, "{") {
		return describeJSON(h, text)
	}
	if strings.Contains(text, "=") {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == '&' }) {
			if k, v, ok := strings.Cut(word, "="); ok {
				note(h, k, v)
			}
		}
		return ""
	}
	who := text
	if name, at, ok := strings.Cut(text, "@"); ok && name != "" {
		who = at
	}
	if host, pid, ok := anyHostPID(who); ok {
		h.Host, h.PID = host, pid
	}
	return ""
}

// anyHostPID reads "web-1:4242" with any of the usual separators. A word alone
// is no host: user:17 is somebody else's name.
func anyHostPID(s string) (host string, pid int64, ok bool) {
	for _, sep := range [...]byte{':', '|', '/'} {
		host, pid, ok = hostPID(s, sep)
		if ok && !strings.ContainsAny(host, ":|/") && (host == "localhost" || strings.ContainsAny(host, "-.0123456789")) {
			return host, pid, true
		}
	}
	return "", 0, false
}

func hasHostPID(s string) bool {
	_, _, ok := anyHostPID(s)
	return ok
}

// describeJSON reads the fields of a record that is not too large.
func describeJSON(h *Holder, text string) (fence string) {
	if len(text) > 64<<10 {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var fields map[string]any
	if dec.Decode(&fields) != nil {
		return ""
	}
	for k, v := range fields {
		var s string
		switch v := v.(type) {
		case string:
			s = v
		case json.Number:
			s = v.String()
		default:
			continue
		}
		note(h, k, s)
		if low := strings.ToLower(k); (low == "fence" || strings.HasPrefix(low, "fencing")) && wire.ValidFence(s) {
			fence = s
		}
	}
	return fence
}

// note takes one word that a holder wrote of itself.
func note(h *Holder, key, value string) {
	if value == "" || len(value) > 255 {
		return
	}
	switch strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(key, "_", ""), "-", "")) {
	case "host", "hostname", "node", "machine", "server", "pod", "ip":
		h.Host = wire.Clean(value)
	case "pid", "processid":
		h.PID, _ = parseInt(value)
	case "owner", "holder", "worker", "name", "lockedby", "client", "instance", "ownerid", "workerid", "clientid", "job":
		h.Label = wire.Clean(value)
	case "since", "acquiredat", "lockedat", "acquired", "createdat", "startedat", "timestamp", "ts", "time":
		if ms, ok := timeIn(value); ok {
			h.Since = at(ms)
		}
	}
}
