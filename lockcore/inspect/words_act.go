package inspect

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

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
	case l.TTL >= practicallyForever:
		return "one look does not tell; its lease has " + l.Expiry(now) + " left"
	case left <= 0:
		return "its lease was to end " + SpanOf(-left) + " ago"
	}
	return "one look does not tell; " + SpanOf(left) + " of its lease were left"
}

// HolderText is all that is known of a holder, on one line and safe to print.
func HolderText(h family.Holder, now time.Time) string {
	parts := []string{holderWords(h)}
	if h.Label != "" && h.ID != "" && h.Label != h.ID.String() { // else it is said already
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
	switch {
	case h.Over():
		parts = append(parts, "its own lease is over")
	case h.HasTTL:
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

// Question is what an operator is asked before a plan is carried out.
func (p *Plan) Question() string {
	switch p.Act {
	case SetTTL:
		return "Let this lock expire in " + SpanOf(p.Life()) + "?"
	case Hold:
		return "Take this lock for the operator, for " + SpanOf(p.Life()) + "?"
	}
	if p.lifts {
		return "Lift the hold on this lock?"
	}
	return "Release this lock by force?"
}

// proofLen is how many of a holder's last characters are to be typed: enough to
// prove that it was read. maxProof is the longest name that is asked for whole.
const (
	proofLen = 6
	maxProof = 64
)

// Proof is what an operator types to prove that it was read who or what a plan
// is about, and what that is called: the end of the one holder's id, else, where
// it is short or cannot be typed, the name of the lock.
func (p *Plan) Proof() (text, ask string) {
	if len(p.Holders) == 1 {
		if id := string(p.Holders[0].ID); typable(id) && utf8.RuneCountInString(id) >= proofLen {
			return lastRunes(id), "the last six characters of the holder"
		}
	}
	name := p.Lock.Key.String()
	if utf8.RuneCountInString(name) > maxProof {
		return lastRunes(name), "the last six characters of the lock's key"
	}
	return name, "the lock's key"
}

func lastRunes(s string) string {
	r := []rune(s)
	return string(r[len(r)-proofLen:])
}

func typable(s string) bool {
	for _, r := range s {
		if r == ' ' || r == utf8.RuneError || !wire.Printable(r) {
			return false
		}
	}
	return s != ""
}

// Afterwards is what becomes of the holder whose lock the plan takes away; ""
// where nothing is known of it, or there is none.
func (p *Plan) Afterwards() string {
	if p.Act == SetTTL || p.lifts {
		return ""
	}
	return p.Lock.Afterwards()
}

// Afterwards is what becomes of the holder once the lock is taken away from it;
// "" where nothing is known of that, or nobody holds the lock any more.
func (l *Lock) Afterwards() string {
	if l.State != family.Held {
		return ""
	}
	return wire.Clean(l.Note)
}
