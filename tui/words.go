package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

// staleAfter is the age from which a fact is shown as old.
const staleAfter = 3 * time.Second

// sight is a moment at which a row is looked at: now, and up to when what the row
// says is known to hold.
type sight struct {
	now, known time.Time
	live       bool // its node answers
}

// sight is how a row is seen at a moment.
func (m root) sight(r *row, now time.Time) sight {
	known, live := m.feed.known(r)
	return sight{now, known, live}
}

// age is how old a row's facts are; a row that is gone was told so at gone.
func (s sight) age() time.Duration { return max(0, s.now.Sub(s.known)) }

// stale reports whether a countdown from the facts would pretend to know: they
// are old, or nobody can say whether they still hold.
func (s sight) stale() bool { return !s.live || s.age() > staleAfter }

// asOf is the moment for which a row's times are shown: now while the facts are
// fresh, else the moment up to which they were known to hold.
func (s sight) asOf() time.Time {
	if s.stale() {
		return s.known
	}
	return s.now
}

// asHeard is the moment for which the times of a lock that a panel read itself
// are shown: now, or where its row is not heard of any more the moment up to which
// either was known to hold, and words that say so.
func (m root) asHeard(l *inspect.Lock, id string) (at time.Time, words string) {
	r := m.feed.row(id)
	if r == nil || !r.goneAt().IsZero() {
		return m.now, ""
	}
	s := m.sight(r, m.now)
	if l.SampledAt.After(s.known) {
		s.known = l.SampledAt
	}
	if !s.stale() {
		return m.now, ""
	}
	return s.known, " when the server was last heard, " + ago(s.known, m.now)
}

// expiry says in few cells when the lock ends by itself. A "?" says that this
// was so when the server was last heard.
func (r *row) expiry(s sight) string {
	text := r.expiryAt(s.asOf())
	if r.goneAt().IsZero() && s.stale() {
		text += "?"
	}
	return text
}

func (r *row) expiryAt(at time.Time) string {
	l := r.lock
	switch {
	case !r.goneAt().IsZero():
		return "gone"
	case l.State == family.Lapsed:
		return "lapsed"
	case l.State == family.Free:
		return "free"
	case l.State == family.Cooling && l.Persistent:
		return "cooling"
	case l.Persistent && l.Endless():
		return "no expiry"
	case !l.Persistent && l.TTL >= practicallyForever:
		return "> 100 y"
	}
	return short(l.Deadline.Sub(at))
}

// practicallyForever is the TTL, in milliseconds, from which a lock is shown as
// one without expiry.
const practicallyForever = 100 * 365 * 24 * 3600 * 1000

// short says what is left in at most eleven cells: tenths below ten seconds,
// and at zero that the server has to be asked.
func short(left time.Duration) string {
	switch {
	case left <= 0:
		return "due, asking"
	case left < time.Second:
		return fmt.Sprintf("%d ms", left.Milliseconds())
	case left < 10*time.Second:
		return fmt.Sprintf("%d.%d s", left/time.Second, left%time.Second/(100*time.Millisecond))
	}
	return inspect.SpanOf(left)
}

// coarse says a past time in its largest unit: "12 s", "3 min".
func coarse(d time.Duration) string {
	d = max(0, d)
	if d < time.Second {
		return "0 s"
	}
	two := strings.Fields(inspect.SpanOf(d))
	return strings.Join(two[:2], " ")
}

// ageWords is the age of a row's facts, calm while they are fresh.
func (s sight) ageWords() string {
	if d := s.age(); s.stale() || d >= 2*time.Second {
		return strings.ReplaceAll(coarse(d), " ", "")
	}
	return "now"
}

// kindWords is the lock's kind in at most six cells where short is set.
func kindWords(k family.Kind, shortened bool) string {
	if k == family.Semaphore && shortened {
		return "sem"
	}
	return string(k)
}

// waiterWords is the number of waiters, as far as the server shows any.
func waiterWords(w *family.Waiters) string {
	switch {
	case w == nil:
		return ""
	case w.Count < 0:
		return "some"
	}
	return strconv.FormatInt(w.Count, 10)
}

// stateWords is the state, or that the server has said the lock is gone.
func (r *row) stateWords() string {
	if !r.goneAt().IsZero() {
		return "gone"
	}
	return string(r.lock.State)
}

// nameOf is what a row is called: its key, with the database where that is not
// the first.
func nameOf(l *inspect.Lock) string {
	text := l.Key.String()
	if l.HasField {
		text += " field " + l.Field.String()
	}
	if l.DB != 0 {
		text = strconv.Itoa(l.DB) + "/" + text
	}
	return text
}

// textOf is what a filter looks through besides the name.
func textOf(l *inspect.Lock) string {
	parts := []string{l.Resource.String(), holderText(l), l.Family, l.Label, string(l.Kind), string(l.State), l.Fence}
	if l.Endless() && l.State != family.Free {
		parts = append(parts, "no expiry")
	}
	return strings.Join(parts, "\n")
}

func holderText(l *inspect.Lock) string {
	var b strings.Builder
	for _, h := range l.Holders {
		b.WriteString(h.ID.String() + " " + h.Label + " " + h.Host + " ")
	}
	return b.String()
}

// holderCell names who holds a lock in w cells: the host where the library
// tells it, else the id, and how many more there are.
func holderCell(l *inspect.Lock, g theme.Glyphs, w int) string {
	hs := l.Holders
	if len(hs) == 0 {
		return "nobody"
	}
	name, tail := holderName(hs[0]), ""
	if hs[0].Count > 1 {
		tail = fmt.Sprintf(" x%d", hs[0].Count)
	}
	if len(hs) > 1 {
		tail = fmt.Sprintf(" +%d", len(hs)-1)
	}
	return g.CutMiddle(name, w-len(tail)) + tail
}

func holderName(h family.Holder) string {
	switch {
	case h.Host != "" && h.PID != 0:
		return fmt.Sprintf("%s:%d", wire.Clean(h.Host), h.PID)
	case h.Host != "":
		return wire.Clean(h.Host)
	case h.ID == "":
		return inspect.NoName
	}
	return h.ID.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
