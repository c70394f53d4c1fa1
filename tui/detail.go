package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
)

// detail shows all that is known of one lock.
type detail struct {
	id  string
	top int
	// plan is what a release would send, noPlan why there is none. It is made
	// when the holders change, not when the screen is drawn.
	plan   inspect.Plan
	noPlan string
}

func (m root) openDetail(r *row) root {
	m.detail = detail{id: r.id}
	m.detail.plan, m.detail.noPlan = m.planOf(r)
	return m.open(atDetail)
}

func (m root) planOf(r *row) (inspect.Plan, string) {
	plan, err := m.opts.Inspector.PlanRelease(*r.lock)
	if err != nil {
		return plan, cleanError(err)
	}
	return plan, ""
}

// sync makes the plan anew where the lock has changed hands.
func (d detail) sync(m root) detail {
	if r := m.feed.row(d.id); r != nil && !sameHolders(&d.plan.Lock, r.lock) {
		d.plan, d.noPlan = m.planOf(r)
	}
	return d
}

func (m root) detailKey(id keymap.ID) (root, tea.Cmd) {
	r := m.feed.row(m.detail.id)
	switch {
	case id == keymap.Back:
		return m.back(), nil
	case id == keymap.Refresh:
		return m.askNow()
	case r == nil && (id == keymap.OpenRelease || id == keymap.Copy || id == keymap.CopyCommands):
		return m.say(warn, "this lock is gone"), nil
	case id == keymap.OpenRelease:
		return m.openRelease(r)
	case id == keymap.CopyCommands:
		return m.copyCommands(r)
	case id == keymap.Copy:
		return m, m.copyKey(r)
	}
	m.detail.top = scrolled(m.detail.top, id, len(m.detailLines()), m.bodyHeight())
	return m, nil
}

func (m root) detailBody() []string {
	return window(m.detailLines(), m.detail.top, m.bodyHeight())
}

func (m root) detailLines() []string {
	r := m.feed.row(m.detail.id)
	if r == nil {
		return []string{"", " The server said that this lock is gone."}
	}
	l := r.lock
	lines := []string{"", " " + m.theme.Strong.Wrap(r.name)}
	if !r.gone.IsZero() {
		lines = append(lines, " "+m.theme.Warn.Wrap("The server said "+coarse(m.now.Sub(r.gone))+" ago that it is gone. Below is what was known."))
	}
	for _, w := range l.Warnings {
		lines = append(lines, m.facts(fact{"warning", w.Text + " (" + w.Code + ")", m.theme.Warn})...)
	}
	lines = append(lines, "")
	lines = append(lines, m.facts(m.lockFacts(r)...)...)
	lines = append(lines, m.facts(holderFacts(l, m.now)...)...)
	lines = append(lines, m.facts(m.timeFacts(r)...)...)
	return append(append(lines, ""), m.planLines()...)
}

// lockFacts say what it is.
func (m root) lockFacts(r *row) []fact {
	l := r.lock
	resource := l.Resource.String()
	if l.Resource == l.Key {
		resource = ""
	}
	out := []fact{
		{name: "resource", value: resource},
		{name: "library", value: fmt.Sprintf("%s (%s, %s)", l.Label, l.Family, l.Confidence)},
		{name: "may also be", value: strings.Join(l.Candidates, ", ")},
		{name: "kind, state", value: string(l.Kind) + ", " + r.stateWords()},
		{name: "key", value: fmt.Sprintf("%s in db %d on %s", l.Type, l.DB, l.Node)},
		{name: "fence", value: l.Fence},
		{name: "waiters", value: waitersInFull(l.Waiters)},
	}
	for _, sign := range m.contentionOf(r) {
		out = append(out, fact{name: "others", value: sign.Says + " (" + sign.How + ")"})
	}
	var companions []string
	for _, c := range l.Companions {
		companions = append(companions, c.String())
	}
	out = append(out, fact{name: "companions", value: strings.Join(companions, "\n")})
	if m.opts.Explain != nil {
		out = append(out, fact{name: "in the demo", value: m.opts.Explain(string(l.Key))})
	}
	return out
}

func waitersInFull(w *family.Waiters) string {
	if w == nil {
		return "its library leaves no trace of them"
	}
	count := "some"
	if w.Count >= 0 {
		count = strconv.FormatInt(w.Count, 10)
	}
	text := count + " (seen by: " + w.How + ")"
	for _, id := range w.IDs {
		text += "\n" + id.String()
	}
	return text
}

// holderFacts name every holder in full.
func holderFacts(l *inspect.Lock, now time.Time) []fact {
	if len(l.Holders) == 0 {
		return []fact{{name: "holder", value: "nobody"}}
	}
	var out []fact
	for _, h := range l.Holders {
		out = append(out, fact{name: "holder", value: holderInFull(h, now)})
	}
	return out
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
		more = append(more, fmt.Sprintf("its own TTL %d ms", h.TTL))
	}
	if len(more) > 0 {
		text += "\n" + strings.ReplaceAll(strings.Join(more, ", "), "\n", `\n`)
	}
	return text
}

// timeFacts are the times, in words and as raw numbers.
func (m root) timeFacts(r *row) []fact {
	l := r.lock
	raw := fmt.Sprintf("%d ms when asked", l.TTL)
	if l.Persistent {
		raw = "-1: the key has none"
	}
	deadline := ""
	if !l.Deadline.IsZero() && l.TTL < practicallyForever {
		deadline = clock(l.Deadline, m.now) + fmt.Sprintf(", give or take %d ms", l.Uncertainty.Milliseconds())
	}
	return []fact{
		{name: "ends", value: l.Expiry(m.sight(r, m.now).asOf())},
		{name: "TTL", value: raw},
		{name: "deadline", value: deadline},
		{name: "asked", value: clock(l.SampledAt, m.now)},
		{name: "held", value: r.heldWords(m.sight(r, m.now).known)},
		{name: "renewed", value: r.watched.Beat.Words(m.sight(r, m.now).known)},
		{name: "before", value: r.before},
		{name: "afterwards", value: l.Note},
	}
}

// heldWords say for how long the present holder has it, as far as is known.
func (r *row) heldWords(known time.Time) string {
	since, exact := r.watched.HeldSince()
	switch {
	case since.IsZero():
		return ""
	case exact:
		return "for " + inspect.SpanOf(max(0, known.Sub(since)))
	}
	return "for at least " + inspect.SpanOf(max(0, known.Sub(since)))
}

// planLines are what a release would send.
func (m root) planLines() []string {
	d := m.detail
	if d.noPlan != "" {
		return m.facts(fact{name: "release", value: d.noPlan})
	}
	review, _ := m.keys.Get(keymap.OpenRelease)
	copies, _ := m.keys.Get(keymap.CopyCommands)
	lines := []string{" " + m.theme.Label.Wrap(fmt.Sprintf("A release would send (%s reviews it, %s copies it):", review.Names(), copies.Names()))}
	return append(lines, m.stepLines(d.plan)...)
}
