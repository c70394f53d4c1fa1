package tui

import (
	"fmt"
	"strings"
	"time"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

// buttonLines are the lines at the panel's foot that never scroll away.
const buttonLines = 2

// releaseRoom is how many lines of the panel's text show.
func (m root) releaseRoom() int { return max(1, m.bodyHeight()-buttonLines) }

func (m root) releaseBody() []string {
	text := m.releaseText()
	room := m.releaseRoom()
	lines := window(text, m.release.top, room)
	for len(lines) < room {
		lines = append(lines, "")
	}
	more := ""
	if len(text)-m.release.top > room {
		more = m.theme.Muted.Wrap(fmt.Sprintf(" %s more below (Down)", plural(len(text)-m.release.top-room, "line")))
	}
	return append(lines[:room:room], more, m.buttons())
}

// releaseText is what the panel says.
func (m root) releaseText() []string {
	p := m.release
	switch {
	case p.stage == done:
		return m.outcomeText()
	case p.stage == reading && p.lost != "":
		return []string{"", " " + m.theme.Warn.Wrap(p.row.name+": "+p.lost)}
	case p.stage == reading:
		return []string{"", " Reading " + p.row.name + m.theme.Glyph.Ellipsis}
	case p.seen.Key == "":
		return []string{"", " " + m.theme.Strong.Wrap(p.row.name), "", " " + m.theme.Warn.Wrap(p.blocked)}
	}
	lines := []string{" " + m.theme.Strong.Wrap("Release this lock by force?") + "  Nothing has been done yet."}
	for _, text := range []string{p.news, p.blocked, p.lost} {
		for _, l := range theme.Wrap(wire.Clean(text), m.width-4) {
			lines = append(lines, " "+m.theme.Warn.Wrap(l))
		}
	}
	lines = append(lines, "")
	lines = append(lines, m.facts(m.reviewFacts()...)...)
	if len(p.plan.Steps) == 0 {
		return lines
	}
	lines = append(lines, m.facts(fact{"consequence", p.plan.Consequence(), m.theme.Warn})...)
	lines = append(lines, " "+m.theme.Label.Wrap("What will be sent (it compares before it acts):"))
	lines = append(lines, m.stepLines(p.plan)...)
	return append(lines, m.facts(m.smallPrint()...)...)
}

// reviewFacts are what an operator needs to decide, the most needed first.
func (m root) reviewFacts() []fact {
	p, now, th := m.release, m.now, m.theme
	l, r := &p.seen, p.row
	if p.blocked == "" { // the facts stay live as long as they are of this holder
		l = &p.live
		if fresh := m.feed.row(r.id); fresh != nil && sameHolders(fresh.lock, l) {
			r = fresh
		}
	}
	var holders []string
	for _, h := range p.seen.Holders {
		holders = append(holders, holderInFull(h, now))
	}
	return []fact{
		{"target", m.reviewTarget(), th.Text},
		{"lock", p.seen.Key.String(), th.Strong},
		{"holder", strings.Join(holders, "\n"), th.Strong},
		{"ends", endWords(l, r, now), th.Text},
		{"evidence", m.evidence(r), th.Text},
		{"waiters", reviewWaiters(l), th.Text},
		{"fence", p.seen.Fence, th.Fence},
		{"library", fmt.Sprintf("%s (%s), %s", p.seen.Label, p.seen.Confidence, p.seen.Kind), th.Text},
	}
}

// smallPrint is what an operator may want to know besides.
func (m root) smallPrint() []fact {
	guard := ""
	if m.release.plan.Weak {
		guard = "weaker than usual: this holder's id may name a later acquisition too, so the deadline is compared as well"
	}
	return []fact{
		{"afterwards", m.release.seen.Note, m.theme.Text},
		{"guard", guard, m.theme.Text},
	}
}

func reviewWaiters(l *inspect.Lock) string {
	if l.Waiters == nil {
		return ""
	}
	return waitersInFull(l.Waiters)
}

func (m root) reviewTarget() string {
	s := m.server
	parts := []string{s.Name, fmt.Sprintf("db %d", m.release.seen.DB)}
	if s.Role != "" {
		parts = append(parts, s.Role)
	}
	if s.Sandbox {
		parts = append(parts, "the sandbox: no harm can be done")
	} else if s.Env != "" {
		parts = append(parts, "environment "+s.Env)
	}
	return strings.Join(parts, ", ")
}

// endWords say when the lock ends by itself, and that waiting may be safer.
func endWords(l *inspect.Lock, r *row, now time.Time) string {
	text := l.Expiry(now)
	left, expires := l.Left(now)
	switch {
	case l.Persistent && l.Deadline.IsZero():
		return "NO EXPIRY: only a release ends it (" + text + ")"
	case expires && r.renewals() > 0:
		return text + ", unless it is renewed again"
	case expires && left > 0 && left < time.Minute && l.State == family.Held:
		return text + "; if nobody renews it, it ends by itself: waiting is safer"
	}
	return text
}

// evidence says what speaks for a living holder, and what for a dead one. It is
// no verdict.
func (m root) evidence(r *row) string {
	var said []string
	if r.lock.State == family.Lapsed {
		said = append(said, "its own deadline is over")
	}
	for _, e := range m.evidenceOf(r) {
		said = append(said, e.Says+" ("+e.How+")")
	}
	if len(said) == 0 {
		return "none either way"
	}
	return strings.Join(said, "\n")
}

// stepLines are the steps of a plan: what each does, and the command.
func (m root) stepLines(plan inspect.Plan) []string {
	var lines []string
	for _, s := range plan.Steps {
		for _, l := range theme.Wrap(wire.Clean(s.Says), m.width-6) {
			lines = append(lines, "   "+l)
		}
		for _, l := range theme.Wrap(s.Call.Brief(), m.width-8) {
			lines = append(lines, "     "+m.theme.Command.Wrap(l))
		}
	}
	return lines
}

// outcomeText says truly what happened.
func (m root) outcomeText() []string {
	p := m.release
	paint := map[tone]theme.Paint{fine: m.theme.Good, warn: m.theme.Warn, bad: m.theme.Danger}[outcomeTone(p.outcome.Word)]
	lines := []string{"", " " + paint.Wrap(string(p.outcome.Word)), ""}
	for _, l := range theme.Wrap(wire.Clean(p.outcome.Detail(&p.plan)), m.width-4) {
		lines = append(lines, " "+l)
	}
	if p.outcome.Word == inspect.Released && p.outcome.NowErr == nil {
		now := "Nobody holds it now."
		if len(p.outcome.Now) > 0 && len(p.outcome.Now[0].Holders) > 0 {
			now = "It was taken at once by " + p.outcome.Now[0].HolderWords() + "."
		}
		lines = append(lines, "", " "+wire.Clean(now))
	}
	return append(lines, "", m.theme.Muted.Wrap(" Enter goes back to the list, which shows who takes it next."))
}

// buttons are the choices. Cancel has the focus when the panel opens.
func (m root) buttons() string {
	p, th := m.release, m.theme
	switch {
	case p.stage == done:
		return "  " + th.Focus.Wrap(m.bracket("OK", true))
	case p.stage == sending:
		return "   sending" + th.Glyph.Ellipsis
	case p.stage == reading:
		return "  " + th.Focus.Wrap(m.bracket("Cancel", true))
	case p.typing():
		ask := fmt.Sprintf("  %s is guarded. Type %s and press Enter to arm it: ", m.server.Name, th.Strong.Wrap(m.server.ArmingName()))
		return ask + p.typed.view(th, max(8, m.width-theme.Width(ask)-2))
	}
	cancel, release := th.Focus, th.Button
	if p.hot {
		cancel, release = th.Button, th.FocusHot
	}
	if !p.offered() {
		retry, _ := m.keys.Get(keymap.Refresh)
		return "  " + cancel.Wrap(m.bracket("Cancel", true)) + "   " +
			th.Muted.Wrap("Release is off. "+keymap.Name(retry.Keys[0])+" reviews what is there now.")
	}
	return "  " + cancel.Wrap(m.bracket("Cancel", !p.hot)) + "  " + release.Wrap(m.bracket("Release", p.hot)) +
		th.Muted.Wrap("   Tab to the other, Enter to choose")
}

// bracket marks the focused choice without colour too.
func (m root) bracket(label string, focused bool) string {
	if focused {
		return m.theme.Glyph.Cursor + "[ " + label + " ]"
	}
	return " [ " + label + " ]"
}
