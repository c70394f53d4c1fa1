package inspect

import (
	"slices"
	"strings"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Words is the kind as people read it: "handed over", "lost expiry".
func (k EventKind) Words() string {
	if k == WasThere {
		return "there"
	}
	return strings.ReplaceAll(string(k), "-", " ")
}

// Words says what happened as people read it: a new time by an operator's hand, or
// a sooner end, is no renewal to them.
func (e *Event) Words() string {
	switch {
	case e.Kind != WasRenewed:
		return e.Kind.Words()
	case e.Note == setByOperator:
		return "TTL set"
	case e.TTL >= 0 && e.PrevTTL > e.TTL+int64(time.Second/time.Millisecond):
		return "shortened"
	}
	return e.Kind.Words()
}

// Name is the lock that the event is about, with its field; "" for an event of
// the feed itself. It is safe to print.
func (e *Event) Name() string {
	name := e.Key.String()
	if e.HasField {
		name += " field " + e.Field.String()
	}
	return name
}

// Text is what follows the words of an event: where it was, the holders, the
// time, the fencing token, a mark that says how it was learned, and the note.
// where and mark may be empty. It is safe to print if they are.
func (e *Event) Text(where, mark string) string {
	fence := ""
	if e.Fence != "" && e.Kind != WasRenewed {
		fence = "fence " + wire.Clean(e.Fence)
	}
	parts := slices.DeleteFunc([]string{where, e.HolderWords(), e.TTLWords(), fence, mark}, func(s string) bool { return s == "" })
	if note := wire.Clean(e.Note); note != "" {
		if e.Key != "" { // of the feed itself it is all there is to say
			note = "- " + note
		}
		parts = append(parts, note)
	}
	return strings.Join(parts, "  ")
}

// Words names a holder; safe to print.
func (w Who) Words() string {
	switch {
	case !w.Known:
		return "somebody"
	case w.ID == "":
		return NoName
	}
	return w.ID.String()
}

// HolderWords names who holds after an event, and who held before: "a -> b", "of
// a", "by b"; "" where the event says nothing of them. It is safe to print.
func (e *Event) HolderWords() string {
	switch {
	case e.Key == "":
		return ""
	case e.Previous.Known && e.Holder.Known:
		return e.Previous.Words() + " -> " + e.Holder.Words()
	case e.Previous.Known:
		return "of " + e.Previous.Words()
	case !e.Holder.Known && (e.Kind == WasThere || e.Kind == FeedGap):
		return ""
	}
	return "by " + e.Holder.Words()
}

// lasting is for how long a lock was taken or renewed: a look comes a moment later,
// when 8 s are 7.99 s already.
func lasting(ms int64) string {
	const second, late = 1000, 100
	if ms > second && ms%second >= second-late {
		ms += late
	}
	return Span(ms)
}

// TTLWords says what is left after an event, and what was before; "" where that
// is not known.
func (e *Event) TTLWords() string {
	switch {
	case e.Key == "":
		return ""
	case e.Kind == LostExpiry && e.PrevTTL >= 0:
		return "no expiry, " + Span(e.PrevTTL) + " were left"
	case e.Kind == WasRenewed && e.TTL >= 0 && e.PrevTTL >= 0:
		return Span(e.PrevTTL) + " -> " + lasting(e.TTL)
	case e.TTL >= 0:
		return "for " + lasting(e.TTL)
	case e.TTL == family.NoTTL:
		return "no expiry"
	case e.PrevTTL > 0:
		return Span(e.PrevTTL) + " before its time"
	}
	return ""
}
