package tui

import (
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

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
