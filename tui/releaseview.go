package tui

import (
	"strings"

	"fencepost/lockcore/inspect"
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
