package wire

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Value is what the lock's key holds. In redis-cli it reads
//
//	bq1TnEJm0zYw2xkR9sVfQA:34:since=2026-11-30T09:13:00Z host=web-1 pid=4242 label=nightly text="batch 7" at=1796029980.123456
//
// Token, number and the time at the end are set by the script; that time is the
// server's. The rest is what the holder said of itself when it asked, since by
// its own clock.
type Value struct {
	Token string // names this one acquisition; any text without a colon
	Fence string // decimal
	// Since is when the lock was granted: by the server's clock where the value
	// tells it, else by the holder's.
	Since time.Time
	About
}

// About is what a holder or a waiter tells of itself, for people. None of it
// decides anything.
type About struct {
	Host  string
	PID   int64  // 0: not told
	Label string // a short name of the work
	Text  string // anything else, short
}

// The longest texts of an About, in bytes.
const (
	MaxHost  = 255
	MaxLabel = 64
	MaxText  = 256
)

// ErrAbout says that a text of an About is too long or not UTF-8.
var ErrAbout = errors.New("wire: host, label and text must be UTF-8 of at most 255, 64 and 256 bytes")

// Check returns ErrAbout where a text is too long for a lock's value.
func (a About) Check() error {
	if len(a.Host) > MaxHost || len(a.Label) > MaxLabel || len(a.Text) > MaxText ||
		!utf8.ValidString(a.Host+a.Label+a.Text) {
		return ErrAbout
	}
	return nil
}

// String is the form in which an About stands in a value: words of key=value,
// quoted where they hold more than plain letters.
func (a About) String() string {
	var b strings.Builder
	add := func(key, value string) {
		if value == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(key)
		b.WriteByte('=')
		if bare(value) {
			b.WriteString(value)
		} else {
			b.WriteString(strconv.Quote(value))
		}
	}
	add("host", a.Host)
	if a.PID != 0 {
		add("pid", strconv.FormatInt(a.PID, 10))
	}
	add("label", a.Label)
	add("text", a.Text)
	return b.String()
}

// bare reports whether s can stand without quotes.
func bare(s string) bool {
	for _, r := range s {
		if r <= ' ' || r == '"' || r == '\\' || !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}

// String is the value as far as its holder writes it, with Since as its own
// clock's time.
func (v Value) String() string {
	return v.Token + ":" + v.Fence + ":" + AboutSince(v.Since, v.About.String())
}

// AboutSince is what a holder tells of itself, about, with its own time before
// it, to the millisecond at most.
func AboutSince(t time.Time, about string) string {
	return "since=" + t.UTC().Format("2006-01-02T15:04:05.999Z") + " " + about
}

// ParseValue reads a lock's value; ok is false when lockcore did not write it.
func ParseValue(raw string) (v Value, ok bool) {
	token, rest, ok := strings.Cut(raw, ":")
	if !ok || token == "" {
		return Value{}, false
	}
	fence, rest, ok := strings.Cut(rest, ":")
	if !ok || !ValidFence(fence) {
		return Value{}, false
	}
	words, ok := parseWords(rest)
	if !ok {
		return Value{}, false
	}
	at, ok := granted(words)
	if !ok {
		return Value{}, false
	}
	return Value{Token: token, Fence: fence, Since: at, About: aboutOf(words)}, true
}

// granted is when the lock was, as the words tell.
func granted(words map[string]string) (time.Time, bool) {
	if at, found := words["at"]; found {
		seconds, micros, _ := strings.Cut(at, ".")
		s, err1 := strconv.ParseInt(seconds, 10, 64)
		us, err2 := strconv.ParseInt(micros, 10, 64)
		return time.Unix(s, us*1000).UTC(), err1 == nil && err2 == nil && len(micros) == 6
	}
	t, err := time.Parse(time.RFC3339Nano, words["since"])
	return t.UTC(), err == nil
}

// ParseWaiter reads an entry of the fair queue's hash: until when, by the
// server's clock, the waiter is waited for, and what it told of itself.
func ParseWaiter(raw string) (deadline time.Time, about About, ok bool) {
	ms, rest, found := strings.Cut(raw, ":")
	n, err := strconv.ParseInt(ms, 10, 64)
	if !found || err != nil {
		return time.Time{}, About{}, false
	}
	words, ok := parseWords(rest)
	return time.UnixMilli(n).UTC(), aboutOf(words), ok
}

func aboutOf(words map[string]string) About {
	pid, _ := strconv.ParseInt(words["pid"], 10, 64) // what is no number was not told
	return About{Host: words["host"], PID: pid, Label: words["label"], Text: words["text"]}
}

// parseWords reads key=value words. Unknown keys are kept: a later version may
// tell more.
func parseWords(s string) (map[string]string, bool) {
	words := make(map[string]string, 5)
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		key, rest, ok := strings.Cut(s, "=")
		if !ok || key == "" || strings.ContainsAny(key, " \"") {
			return words, false
		}
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return words, false
			}
			words[key], _ = strconv.Unquote(quoted) // QuotedPrefix has checked it
			s = rest[len(quoted):]
			continue
		}
		words[key], s, _ = strings.Cut(rest, " ")
	}
	return words, true
}
