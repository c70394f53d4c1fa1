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

// releaseRoom is how many lines of the panel's text show.
func (m root) releaseRoom() int { return max(1, m.bodyHeight()-len(m.panelFoot())-1) }

// releaseBody is the text, a line that says how much of it is below, and the
// choices, which never scroll away.
func (m root) releaseBody() []string {
	return m.withFoot(m.releaseText(), m.release.top, m.panelFoot())
}

// withFoot draws a text that scrolls over lines that do not.
func (m root) withFoot(text []string, top int, foot []string) []string {
	room := max(1, m.bodyHeight()-len(foot)-1)
	lines := window(text, top, room)
	more := m.rule()
	if below := len(text) - top - room; below > 0 {
		more = m.ruleWith(plural(below, "more line") + " below (PgDn)")
	} else if top > 0 {
		more = m.ruleWith("PgUp goes up")
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return append(append(lines[:room:room], more), foot...)
}

// ruleWith is a rule with a text in it.
func (m root) ruleWith(text string) string {
	n := m.width - theme.Width(text) - 5
	if n < 1 {
		return m.theme.Muted.Wrap(" " + text)
	}
	g := m.theme.Glyph.Rule
	return m.theme.Rule.Wrap(strings.Repeat(g, 2)+" ") + m.theme.Muted.Wrap(text) + m.theme.Rule.Wrap(" "+strings.Repeat(g, n))
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
	case p.stage == picking:
		return m.pickText()
	}
	plan := m.shownPlan()
	lines := []string{" " + m.theme.Strong.Wrap(m.question(plan)) + "  Nothing has been done yet."}
	readOnly := ""
	if m.server.ReadOnly != "" {
		readOnly = "Nothing may be changed here: " + m.server.ReadOnly
	}
	for _, text := range []string{p.news, p.blocked, p.lost, readOnly} {
		lines = append(lines, m.warned(text)...)
	}
	lines = append(lines, m.facts(m.reviewFacts()...)...)
	if len(plan.Steps) == 0 {
		return append(lines, m.facts(m.otherFacts(plan)...)...)
	}
	lines = append(lines, m.facts(fact{"consequence", plan.Consequence(), m.theme.Warn})...)
	lines = append(lines, m.facts(m.otherFacts(plan)...)...)
	lines = append(lines, " "+m.theme.Label.Wrap("What will be sent (it compares before it acts):"))
	return append(lines, m.stepLines(plan, p.unfolded)...)
}

// question is what the panel asks.
func (m root) question(plan inspect.Plan) string {
	p := &m.release
	switch {
	case p.stage != filling:
		return "Release this lock by force?"
	case p.form.act == toLater:
		return "Be reminded of this lock?"
	case p.form.act == toOne:
		return "Release one of its holders by force?"
	case len(plan.Steps) > 0:
		return plan.Question()
	case p.form.act == toTTL:
		return "Let this lock expire?"
	}
	return "Take this lock for the operator?"
}

// shownPlan is the plan that would be sent: of the form, while one is filled in.
func (m root) shownPlan() inspect.Plan {
	if m.release.stage == filling || m.release.stage == sending {
		if m.release.stage == sending {
			return m.release.sent
		}
		return m.release.form.plan
	}
	return m.release.plan
}

func (m root) warned(text string) []string {
	var lines []string
	for part := range strings.SplitSeq(text, "\n") {
		for _, l := range theme.Wrap(wire.Clean(part), m.width-4) {
			lines = append(lines, " "+m.theme.Warn.Wrap(l))
		}
	}
	return lines
}

// reviewFacts are what an operator needs to decide, the most needed first. They
// stay live as long as they are of the holder that is asked about.
func (m root) reviewFacts() []fact {
	p, now, th := m.release, m.now, m.theme
	l := &p.seen
	if p.blocked == "" {
		l = &p.live
	}
	var holders []string
	for _, h := range p.seen.Holders {
		holders = append(holders, inspect.HolderText(h, now))
	}
	ends := "" // what changed hands or is gone runs down no more
	if p.blocked == "" {
		at, heard := m.asHeard(l, p.row.id)
		ends = endWords(l, m.alive() != "", at) + heard
	}
	facts := []fact{
		{"target", m.reviewTarget(), th.Text},
		{"lock", p.seen.Name() + m.familyWords(), th.Strong},
		{"holder", strings.Join(holders, "\n"), th.Strong},
		{"on hold", m.holdWords(), th.Warn},
		{"also on", m.alsoWords(), th.Warn},
		{"ends", ends, th.Text},
	}
	var signs []string
	for _, e := range m.signs() {
		if l.Waiters == nil || e.How != l.Waiters.How { // those stand below
			signs = append(signs, signText(e))
		}
	}
	if len(signs) == 0 {
		signs = []string{p.seen.Evidence(now)}
	}
	facts = append(facts, fact{"evidence", strings.Join(signs, "\n"), th.Text})
	return append(facts,
		fact{"waiters", m.reviewWaiters(l), th.Text},
		fact{"fence", p.seen.Fence, th.Fence})
}

// familyWords say whose lock it is, and how sure that is.
func (m root) familyWords() string {
	l := &m.release.seen
	return fmt.Sprintf("  (%s %s, %s)", wire.Clean(l.Label), l.Kind, l.Confidence)
}

// alsoWords say that the lock is kept on other masters too, and how to reach all.
func (m root) alsoWords() string {
	if len(m.release.also) == 0 {
		return ""
	}
	mark, _ := m.keys.Get(keymap.Mark)
	return strings.Join(m.release.also, ", ") + ": this is for one of them; mark all its rows (" + keymap.Name(mark.Keys[0]) + ") to act on each"
}

// holdWords say who has put the lock on hold, and why.
func (m root) holdWords() string {
	n := m.release.closer.note
	if n == nil {
		return ""
	}
	return fmt.Sprintf("by %s, since %s, until %s: %s", n.By, n.Since.UTC().Format("15:04:05"), n.Until.UTC().Format("15:04:05 UTC"), n.Reason)
}

// reviewWaiters say who waits, and how that is known.
func (m root) reviewWaiters(l *inspect.Lock) string {
	var parts []string
	if l.Waiters != nil {
		parts = append(parts, waitersInFull(l.Waiters))
	}
	for _, s := range m.contentionOf(m.release.row) {
		if l.Waiters == nil || s.How != l.Waiters.How {
			parts = append(parts, s.Says+" ("+s.How+")")
		}
	}
	return strings.Join(parts, "\n")
}

// otherFacts are what an operator may want to know besides.
func (m root) otherFacts(plan inspect.Plan) []fact {
	p, th := m.release, m.theme
	var out []fact
	for _, text := range append(plan.Said, p.closer.foreseen...) {
		out = append(out, fact{"note", text, th.Warn})
	}
	out = append(out, fact{"guard", plan.Guard.String(), th.Text}, fact{"afterwards", plan.Afterwards(), th.Text})
	if m.exam.id == p.row.id {
		for _, text := range m.exam.look.Unknown {
			out = append(out, fact{"not known", text, th.Muted})
		}
	}
	return out
}

// dangerWords say how careful one has to be with a target; "" where nobody has
// said anything of it.
func (s Server) dangerWords() string {
	switch {
	case s.Sandbox:
		return "the sandbox: no harm can be done"
	case s.Env != "":
		return "environment " + s.Env
	case s.Guarded:
		return "no environment: guarded as production"
	}
	return ""
}

func (m root) reviewTarget() string {
	s := m.server
	parts := []string{s.Name, fmt.Sprintf("db %d", m.release.seen.DB)}
	if s.Role != "" {
		parts = append(parts, s.Role)
	}
	if danger := s.dangerWords(); danger != "" {
		parts = append(parts, danger)
	}
	if len(m.feed.view.Nodes) > 1 {
		parts[0] = m.release.seen.Node
	}
	return strings.Join(parts, ", ")
}

// endWords say when the lock ends by itself, and that waiting may be safer.
func endWords(l *inspect.Lock, alive bool, now time.Time) string {
	text := l.Expiry(now)
	left, expires := l.Left(now)
	switch {
	case l.State == family.Free:
		return "" // there is no hold that could end
	case l.Persistent && l.Deadline.IsZero():
		return "NO EXPIRY: only a release ends it"
	case expires && alive:
		return text + ", unless it is renewed again"
	case expires && left > 0 && left < time.Minute && l.State == family.Held:
		return text + "; if nobody renews it, it ends by itself: waiting is safer"
	}
	return text
}

// stepLines are the steps of a plan: what each does, and the command; a script
// by its name, or unfolded.
func (m root) stepLines(plan inspect.Plan, unfolded bool) []string {
	var lines []string
	for _, s := range plan.Steps {
		for _, l := range theme.Wrap(wire.Clean(s.Says), m.width-6) {
			lines = append(lines, "   "+l)
		}
		text := []string{s.Call.Brief()}
		if unfolded {
			text = strings.Split(s.Call.String(), "\n")
		}
		for _, t := range text {
			for _, l := range theme.Wrap(wire.Clean(t), m.width-8) {
				lines = append(lines, "     "+m.theme.Command.Wrap(l))
			}
		}
	}
	return lines
}

// pickText lists the holders to choose from.
func (m root) pickText() []string {
	p := m.release
	lines := []string{" " + m.theme.Strong.Wrap("Release which of its holders?") + "  Nothing has been done yet.", ""}
	lines = append(lines, m.facts(fact{"lock", p.seen.Name(), m.theme.Strong})...)
	lines = append(lines, "")
	for i, h := range p.seen.Holders {
		text := " " + m.theme.Glyph.Cut(wire.Clean(inspect.HolderText(h, m.now)), m.width-6)
		if i == p.pick {
			lines = append(lines, " "+m.theme.Focus.Wrap(m.theme.Glyph.Cursor+text))
			continue
		}
		lines = append(lines, "  "+text)
	}
	return lines
}

// outcomeText says truly what happened: the plan's end, the waiters apart from
// it, what could not be written down, and who came next.
func (m root) outcomeText() []string {
	p := m.release
	paint := map[tone]theme.Paint{fine: m.theme.Good, warn: m.theme.Warn, bad: m.theme.Danger}[outcomeTone(p.outcome.Word)]
	lines := []string{"", " " + paint.Wrap(string(p.outcome.Word)), ""}
	for _, l := range theme.Wrap(wire.Clean(p.outcome.Detail(&p.sent)), m.width-4) {
		lines = append(lines, " "+l)
	}
	for _, w := range p.warnings {
		lines = append(lines, m.warned(w)...)
	}
	for _, s := range p.outcome.Steps {
		if s.Plainly && s.Word.Done() {
			lines = append(lines, " It was done between WATCH and EXEC: this user may run no scripts.")
		}
	}
	lines = append(lines, "")
	lines = append(lines, m.wrapped(p.nowWords())...)
	switch p.after {
	case "":
	case afterBegun:
		lines = append(lines, " "+m.theme.Muted.Wrap("Next: "+afterBegun+m.theme.Glyph.Ellipsis))
	default:
		lines = append(lines, m.wrapped("Next: "+p.after+".")...)
	}
	return append(lines, "", m.theme.Muted.Wrap(" Enter goes back to the list."))
}

// nowWords say who has the lock just after the release; "" once it is known who
// took it next.
func (p *release) nowWords() string {
	now := p.outcome.Now
	switch {
	case p.outcome.Word != inspect.Released || p.outcome.NowErr != nil:
		return ""
	case p.sentOne() && len(now) > 0:
		return "The others hold on: " + now[0].HolderWords() + "."
	case p.after != afterBegun:
		return ""
	case len(now) > 0 && len(now[0].Holders) > 0:
		return "It was taken at once by " + now[0].HolderWords() + "."
	}
	return "Nobody holds it now."
}

// sentOne reports whether some of several holders were to stay.
func (p *release) sentOne() bool { return len(p.sent.Holders) < len(p.sent.Lock.Holders) }

func (m root) wrapped(text string) []string {
	var lines []string
	for _, l := range theme.Wrap(wire.Clean(text), m.width-4) {
		lines = append(lines, " "+l)
	}
	return lines
}
