package inspect

import (
	"cmp"
	"fmt"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// practicallyForever is the TTL, in milliseconds, from which a lock is shown as
// one without expiry: such a number is a mistake of units, not a lease.
const practicallyForever = 100 * 365 * 24 * 3600 * 1000

var units = []struct {
	ms   int64
	name string
}{
	{365 * 24 * 3600 * 1000, "y"},
	{24 * 3600 * 1000, "d"},
	{3600 * 1000, "h"},
	{60 * 1000, "min"},
	{1000, "s"},
}

// Span says a time in milliseconds in its two largest units ("3 h 12 min",
// "29 s"), and below a second in milliseconds. It never rounds up: a lock is
// not said to have longer than it has.
func Span(ms int64) string {
	if ms < 0 {
		return "-" + Span(-ms)
	}
	for i, u := range units {
		if ms < u.ms {
			continue
		}
		text := fmt.Sprintf("%d %s", ms/u.ms, u.name)
		if i+1 < len(units) {
			if rest := ms % u.ms / units[i+1].ms; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return fmt.Sprintf("%d ms", ms)
}

// SpanOf is Span of a duration.
func SpanOf(d time.Duration) string { return Span(d.Milliseconds()) }

// Expiry says in words when a lock ends by itself, as of now.
func (l *Lock) Expiry(now time.Time) string {
	switch {
	case l.State == family.Lapsed && !l.Deadline.IsZero() && now.After(l.Deadline):
		return "over for " + SpanOf(now.Sub(l.Deadline))
	case l.Persistent && !l.Deadline.IsZero():
		if left := l.Deadline.Sub(now); left > 0 {
			return SpanOf(left) + " (in its value)"
		}
		return "over for " + SpanOf(now.Sub(l.Deadline))
	case l.Persistent:
		return "no expiry"
	case l.TTL >= practicallyForever:
		return "> 100 y (practically no expiry)"
	}
	left, _ := l.Left(now)
	if left <= 0 {
		return "due"
	}
	return SpanOf(left)
}

// HolderWords names who holds a lock, on one line and safe to print.
func (l *Lock) HolderWords() string {
	switch len(l.Holders) {
	case 0:
		return "nobody"
	case 1:
		return holderWords(l.Holders[0])
	}
	return fmt.Sprintf("%s and %d more", holderWords(l.Holders[0]), len(l.Holders)-1)
}

// NoName is what stands for a holder of which nothing tells who it is.
const NoName = "(no name)"

func holderWords(h family.Holder) string {
	text := cmp.Or(h.ID.String(), h.Label, NoName)
	if h.Mode != "" {
		text += " " + wire.Clean(h.Mode)
	}
	if h.Count > 1 {
		text += fmt.Sprintf(" ×%d", h.Count)
	}
	return text
}
