package tui

import (
	"fmt"
	"strings"

	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

func (m root) bulkBody() []string { return m.withFoot(m.bulkText(), m.bulk.top, m.bulkFoot()) }

func (m root) bulkRoom() int { return max(1, m.bodyHeight()-len(m.bulkFoot())-1) }

// bulkText is the list of what will be released, or the report of what was.
func (m root) bulkText() []string {
	b := &m.bulk
	if b.stage == reading {
		lines := []string{"", " Reading " + plural(len(b.items), "lock") + m.theme.Glyph.Ellipsis}
		return append(lines, m.warned(b.blocked)...)
	}
	lines := []string{" " + m.theme.Strong.Wrap(b.title()) + b.titleRest()}
	lines = append(lines, m.warned(b.blocked)...)
	lines = append(lines, m.facts(fact{"target", m.bulkTarget(), m.theme.Text})...)
	if b.stage <= filling && b.blocked == "" {
		lines = append(lines, m.facts(fact{"consequence", "Where a holder is still at work, two may act at once; nothing here can stop its writes.", m.theme.Warn})...)
	}
	lines = append(lines, "")
	for i := range b.items {
		lines = append(lines, m.bulkItemLines(i)...)
	}
	if b.stopped != "" {
		lines = append(lines, "")
		lines = append(lines, m.warned(b.stopped+".")...)
	}
	if b.stage == done {
		lines = append(lines, "", m.theme.Muted.Wrap(" Enter goes back to the list. What was not released keeps its mark."))
	}
	return lines
}

func (b *bulk) title() string {
	switch b.stage {
	case sending:
		return "Releasing, one after the other"
	case done:
		return b.summary()
	}
	if b.count() == 1 {
		return "Release this lock by force?"
	}
	return fmt.Sprintf("Release these %s by force?", plural(b.count(), "lock"))
}

func (b *bulk) titleRest() string {
	if b.stage <= filling {
		return "  Nothing has been done yet."
	}
	return ""
}

func (m root) bulkTarget() string {
	target := m.server.Name
	if danger := m.server.dangerWords(); danger != "" {
		target += ", " + danger
	}
	return target
}

// bulkItemLines are one lock: what holds it, or what came of it.
func (m root) bulkItemLines(i int) []string {
	b, th := &m.bulk, m.theme
	it := &b.items[i]
	mark, paint := "   ", th.Text
	var text string
	switch {
	case it.left != "":
		mark, paint, text = " - ", th.Muted, "left out: "+it.left
	case it.done:
		text = string(it.outcome.Word) + ": " + strings.TrimPrefix(it.outcome.Detail(&it.plan), it.seen.Name()+": ")
		paint = map[tone]theme.Paint{fine: th.Good, warn: th.Warn, bad: th.Danger}[outcomeTone(it.outcome.Word)]
	case b.stage == sending && i == b.at:
		text = "sending" + th.Glyph.Ellipsis
	case b.stage >= sending:
		text = "not touched"
	case m.movedFrom(it):
		text = "was held by " + it.seen.HolderWords()
	default:
		text = "held by " + it.seen.HolderWords() + ", " + m.endsShort(it)
		if it.alive != "" {
			mark, paint = " "+th.Glyph.Flag+" ", th.Warn
			text += "; at work? " + it.alive
		}
	}
	lines := []string{mark + th.Strong.Wrap(th.Glyph.CutMiddle(it.name, m.width-4))}
	for _, l := range theme.Wrap(wire.Clean(text), m.width-8) {
		lines = append(lines, "     "+paint.Wrap(l))
	}
	for _, w := range it.warnings {
		lines = append(lines, m.warned("  "+w)...)
	}
	return lines
}

// movedFrom reports whether the list says already that who is asked about does not
// hold it any more.
func (m root) movedFrom(it *bulkItem) bool {
	r := m.feed.row(it.id)
	return r != nil && (!r.goneAt().IsZero() || !sameHolders(r.lock, &it.seen))
}

func (m root) endsShort(it *bulkItem) string {
	l := &it.seen
	if l.Persistent && l.Deadline.IsZero() {
		return "NO EXPIRY"
	}
	at, heard := m.asHeard(l, it.id)
	if left, expires := l.Left(at); !expires || left <= 0 {
		return l.Expiry(at) + heard
	}
	return l.Expiry(at) + " left" + heard
}

// bulkFoot is the form, or the button.
func (m root) bulkFoot() []string {
	b := &m.bulk
	switch {
	case b.stage == done:
		return []string{"  " + m.theme.Focus.Wrap(m.bracket("OK", true))}
	case b.stage == sending:
		return []string{"   sending" + m.theme.Glyph.Ellipsis}
	case b.typing():
		return m.formFoot(b.form, "")
	}
	text := "   " + m.theme.Muted.Wrap("r reads them again")
	return []string{"  " + m.theme.Focus.Wrap(m.bracket("Cancel", true)) + text}
}
