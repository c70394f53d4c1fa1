package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
)

// holderFacts name every holder in full, and who held before.
func (m root) holderFacts(r *row) []fact {
	l := r.lock
	out := []fact{{name: "state", value: r.stateWords() + ", " + string(l.Kind) + " of " + l.Label}}
	since := m.sight(r, m.now).asOf().Sub(l.SampledAt).Milliseconds()
	for _, h := range l.Holders {
		h.TTL -= since // what it had left when it was read runs down as the lock's own does
		out = append(out, fact{name: "holder", value: holderInFull(h, m.now), paint: m.theme.Strong})
	}
	if len(l.Holders) == 0 {
		out = append(out, fact{name: "holder", value: "nobody"})
	}
	return append(out, fact{name: "before", value: r.holderBefore()}, fact{name: "fence", value: l.Fence, paint: m.theme.Fence})
}

func holderInFull(h family.Holder, now time.Time) string {
	text := h.ID.String()
	if text == "" {
		text = "(it leaves no name)"
	}
	var more []string
	if h.Mode != "" {
		more = append(more, h.Mode)
	}
	if h.Count > 1 {
		more = append(more, fmt.Sprintf("%d times", h.Count))
	}
	if h.Label != "" {
		more = append(more, h.Label)
	}
	if h.Host != "" {
		more = append(more, "host "+h.Host)
	}
	if h.PID != 0 {
		more = append(more, fmt.Sprintf("process %d", h.PID))
	}
	if !h.Since.IsZero() {
		more = append(more, "says since "+clock(h.Since, now))
	}
	if h.HasTTL {
		left := "its own time is over"
		if h.TTL > 0 {
			left = "its own time left " + inspect.Span(h.TTL)
		}
		more = append(more, left)
	}
	if len(more) > 0 {
		text += "\n" + strings.ReplaceAll(strings.Join(more, ", "), "\n", `\n`)
	}
	return text
}

// timeFacts are the times, in words and as raw numbers.
func (m root) timeFacts(r *row) []fact {
	l, s := r.lock, m.sight(r, m.now)
	ends := l.Expiry(s.asOf())
	if s.stale() && r.goneAt().IsZero() {
		ends += " when the server was last heard, " + ago(s.known, m.now)
	}
	if l.State == family.Free {
		ends = "" // there is no hold that could end
	}
	deadline := ""
	if !l.Deadline.IsZero() && l.TTL < practicallyForever {
		deadline = utc(l.Deadline)
		if !s.stale() || !r.goneAt().IsZero() {
			deadline = clock(l.Deadline, m.now)
		}
		deadline += fmt.Sprintf(", give or take %d ms", l.UncertaintyMS())
	}
	return []fact{{name: "ends", value: ends}, {name: "deadline", value: deadline}}
}

// evidenceFacts say what speaks for a living holder and what for a dead one, who
// else wants the lock, and how each is known. There is no verdict among them.
func (m root) evidenceFacts(r *row) []fact {
	var out []fact
	for _, e := range m.evidenceOf(r) {
		if r.lock.Waiters != nil && e.How == r.lock.Waiters.How {
			continue // it stands among the waiters
		}
		text := e.Says
		if e.For != inspect.Neither {
			text += ": speaks " + string(e.For)
		}
		out = append(out, fact{name: "evidence", value: text + " (" + howKnown(e.How, e.Inferred) + ")"})
	}
	if r.watched.Missed {
		out = append(out, fact{name: "evidence", value: "changes under this holder may have been missed"})
	}
	out = append(out, fact{name: "wanted by", value: waitersInFull(r.lock.Waiters)})
	for _, sign := range m.contentionOf(r) {
		out = append(out, fact{name: "wanted by", value: sign.Says + " (" + howKnown(sign.How, sign.Inferred) + ")"})
	}
	if m.exam.id == r.id {
		for _, what := range m.exam.look.Unknown {
			out = append(out, fact{name: "not known", value: what})
		}
		if m.exam.err != nil {
			out = append(out, fact{name: "not known", value: "more: " + cleanError(m.exam.err)})
		}
	}
	return named(out)
}

// named leaves out a name that stands above already.
func named(list []fact) []fact {
	last := ""
	for i := range list {
		if list[i].value == "" {
			continue
		}
		if list[i].name == last {
			list[i].name = ""
		} else {
			last = list[i].name
		}
	}
	return list
}

func howKnown(how string, inferred bool) string {
	if inferred {
		return how + ", inferred"
	}
	return how
}

func waitersInFull(w *family.Waiters) string {
	if w == nil {
		return "its library leaves no trace of who waits"
	}
	count := "some wait"
	switch {
	case w.Count == 0:
		count = "nobody waits"
	case w.Count > 0:
		count = strconv.FormatInt(w.Count, 10) + " waiting"
	}
	text := count + " (" + w.How + ")"
	for _, id := range w.IDs {
		text += "\n" + id.String()
	}
	return text
}

// dataFacts say where the facts come from and how old they are.
func (m root) dataFacts(r *row) []fact {
	n := m.feed.view.Node(r.lock)
	if n == nil {
		return []fact{{name: "data", value: "read " + ago(r.lock.SampledAt, m.now)}}
	}
	said := n.Words(m.now) + "; "
	if !n.Heard.IsZero() && n.Reach == inspect.Live {
		said += "the server was last heard " + ago(n.Heard, m.now) + ", "
	}
	said += "this lock was read " + ago(r.lock.SampledAt, m.now)
	if r.watched.Unread != "" {
		said += "; since then it cannot be read: " + r.watched.Unread
	}
	return []fact{
		{name: "data", value: said},
		{name: "clock", value: n.ClockWords()},
	}
}

// lockFacts say what it is.
func (m root) lockFacts(r *row) []fact {
	l := r.lock
	resource := l.Resource.String()
	if l.Resource == l.Key {
		resource = ""
	}
	raw := fmt.Sprintf("%d ms when it was read", l.TTL)
	if l.Persistent {
		raw = "-1: the key has none"
	}
	var companions []string
	for _, c := range l.Companions {
		companions = append(companions, c.String())
	}
	out := []fact{
		{name: "family", value: fmt.Sprintf("%s (%s, %s)", l.Label, l.Family, l.Confidence)},
		{name: "may also be", value: strings.Join(l.Candidates, ", ")},
		{name: "resource", value: resource},
		{name: "key", value: fmt.Sprintf("%s in db %d on %s", l.Type, l.DB, l.Node)},
		{name: "TTL", value: raw},
		{name: "companions", value: strings.Join(companions, "\n")},
		{name: "afterwards", value: l.Afterwards()},
	}
	if m.opts.Explain != nil {
		out = append(out, fact{name: "in the demo", value: m.opts.Explain(string(l.Key))})
	}
	return out
}

// clock is a moment on a wall clock, in UTC, and how far away it is.
func clock(t, now time.Time) string {
	text := utc(t)
	if d := now.Sub(t); d >= 0 {
		return text + " (" + seconds(d) + " ago)"
	}
	return text + " (in " + seconds(t.Sub(now)) + ")"
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

// seconds is a time in its two largest units, none smaller than a second.
func seconds(d time.Duration) string {
	if d < time.Second {
		return "0 s"
	}
	return inspect.SpanOf(d.Truncate(time.Second))
}
