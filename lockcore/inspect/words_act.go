package inspect

import (
	"fmt"
	"strings"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Name names the lock on one line and safe to print: its key, and its field.
func (l *Lock) Name() string {
	if l.HasField {
		return l.Key.String() + "#" + l.Field.String()
	}
	return l.Key.String()
}

// Evidence says what one look tells of whether the holder lives. It is no
// verdict: to see a renewal takes a second look.
func (l *Lock) Evidence(now time.Time) string {
	left, expires := l.Left(now)
	switch {
	case l.State == family.Lapsed:
		return "its own deadline is over"
	case l.State == family.Cooling:
		return "the work is said to be done"
	case l.State == family.Free:
		return "nobody holds it"
	case !expires:
		return "none either way: without expiry there is nothing to renew"
	case left <= 0:
		return "its lease was to end " + SpanOf(-left) + " ago"
	}
	return "one look does not tell; " + SpanOf(left) + " of its lease were left"
}

// HolderText is all that is known of a holder, on one line and safe to print.
func HolderText(h family.Holder, now time.Time) string {
	parts := []string{holderWords(h)}
	if h.Label != "" {
		parts = append(parts, wire.Clean(h.Label))
	}
	if h.Host != "" {
		parts = append(parts, "on "+wire.Clean(h.Host))
	}
	if h.PID != 0 {
		parts = append(parts, fmt.Sprintf("process %d", h.PID))
	}
	if !h.Since.IsZero() {
		parts = append(parts, "since "+h.Since.UTC().Format(time.RFC3339)+" ("+SpanOf(now.Sub(h.Since))+")")
	}
	if h.HasTTL {
		parts = append(parts, Span(h.TTL)+" of its own lease left")
	}
	return strings.Join(parts, ", ")
}

// Text says who took the lock next, in one sentence.
func (a *After) Text() string {
	switch {
	case a.Next == nil:
		return fmt.Sprintf("within %s nobody took it", SpanOf(a.Watched))
	case a.Same:
		return fmt.Sprintf("the same holder has it again, within %s: it put its lock back, or took it anew", SpanOf(a.Within))
	}
	return fmt.Sprintf("taken within %s by %s", SpanOf(a.Within), a.Next.HolderWords())
}
