package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
	"fencepost/tui/theme"
)

// eventsScreen shows what happens to the locks, the newest last, as `watch`
// prints it. Only what passes the list's filter shows.
type eventsScreen struct {
	up int // lines scrolled up from the newest; 0: it follows
}

// eventText is an event in words: with its key, or where the key is known, with
// the source that it was learned from.
func eventText(e *inspect.Event, key bool) string {
	where, mark := "", ""
	if key {
		where = e.Name()
	}
	switch {
	case !key && e.Inferred:
		mark = "(" + string(e.Source) + ", inferred)"
	case !key:
		mark = "(" + string(e.Source) + ")"
	case e.Inferred && e.Key != "":
		mark = "(inferred)"
	}
	return strings.TrimSpace(e.Words() + "  " + e.Text(where, mark))
}

// eventPaint makes stand out what an operator should see.
func (m root) eventPaint(k inspect.EventKind) theme.Paint {
	switch k {
	case inspect.WasRenewed, inspect.WasThere:
		return m.theme.Muted
	case inspect.Overwritten, inspect.LostExpiry, inspect.WasEvicted, inspect.WasFlushed, inspect.ForceReleased, inspect.OperatorHolds,
		inspect.FeedGap, inspect.SourceChanged:
		return m.theme.Warn
	}
	return m.theme.Text
}

// shownEvents are those that pass the list's filter: by their lock, while the
// list has it, or by their own words.
func (m root) shownEvents() []*inspect.Event {
	s := newSieve(m.list.filter.String())
	locks := m.locksOfEvents(!s.open())
	var out []*inspect.Event
	for i := range m.feed.events {
		e := &m.feed.events[i]
		passes := s.open() || e.Key == "" || s.passes(strings.ToLower(eventText(e, true)))
		if r := locks[eventRow(e)]; r != nil && passes == s.not {
			passes = s.passes(m.list.texts.of(r))
		}
		if passes {
			out = append(out, e)
		}
	}
	return out
}

// locksOfEvents are the rows that events are about, by id, where they are needed.
func (m root) locksOfEvents(needed bool) map[string]*row {
	if !needed {
		return nil
	}
	out := map[string]*row{}
	for i := range m.feed.events {
		out[eventRow(&m.feed.events[i])] = nil
	}
	for _, r := range m.feed.slots {
		if r == nil {
			continue
		}
		if _, ok := out[r.id]; ok {
			out[r.id] = r
		}
	}
	return out
}

// eventRow is the id of the row that an event is about.
func eventRow(e *inspect.Event) string { return e.Node + "/" + e.RowID() }

// eventLines are the lines of the screen, the newest last: as many events as fill
// so many lines.
func (m root) eventLines(most int) []string {
	events := m.shownEvents()
	var lines []string // backwards
	for i := len(events) - 1; i >= 0 && len(lines) < most; i-- {
		e := events[i]
		one := m.facts(fact{name: e.At.UTC().Format("15:04:05.000"), value: eventText(e, true), paint: m.eventPaint(e.Kind)})
		for j := len(one) - 1; j >= 0; j-- {
			lines = append(lines, one[j])
		}
	}
	out := make([]string, 0, len(lines))
	for i := len(lines) - 1; i >= 0; i-- {
		out = append(out, lines[i])
	}
	return out
}

// lastEvent is the newest event on one line, where the list has nothing else to
// say.
func (m root) lastEvent() string {
	if m.front() != atList {
		return ""
	}
	for i := len(m.feed.events) - 1; i >= 0; i-- {
		if e := &m.feed.events[i]; e.Key != "" {
			return m.theme.Muted.Wrap(" last: " + e.At.UTC().Format("15:04:05") + " UTC  " + m.theme.Glyph.Cut(wire.Clean(eventText(e, true)), m.width-24))
		}
	}
	return ""
}

func (m root) eventsBody() []string {
	head := " " + m.theme.Strong.Wrap("What happens to the locks") + m.theme.Muted.Wrap("  times in UTC, the newest last")
	if m.feed.missed > 0 {
		head += m.theme.Warn.Wrap("  " + pluralThousands(int64(m.feed.missed), "event") + " came too fast")
	}
	room := m.bodyHeight() - 1
	lines := m.eventLines(room + m.events.up)
	if len(lines) == 0 {
		text := " Nothing has happened yet."
		if want := m.list.filter.String(); want != "" {
			text = " Nothing has happened yet to what passes the filter."
		}
		return []string{head, "", text}
	}
	end := len(lines) - min(m.events.up, max(0, len(lines)-room))
	return append([]string{head}, lines[max(0, end-room):end]...)
}

// eventsKey scrolls: at the end the screen follows what comes.
func (m root) eventsKey(id keymap.ID) (root, tea.Cmd) {
	page := max(1, m.bodyHeight()-1)
	up := m.events.up
	switch id {
	case keymap.Back:
		return m.back(), nil
	case keymap.Up:
		up++
	case keymap.Down:
		up--
	case keymap.PageUp:
		up += page
	case keymap.PageDown:
		up -= page
	case keymap.HalfUp:
		up += page / 2
	case keymap.HalfDown:
		up -= page / 2
	case keymap.Top:
		up = 1 << 20
	case keymap.Bottom:
		up = 0
	}
	most := max(0, len(m.eventLines(1<<20))-page)
	m.events.up = max(0, min(up, most))
	return m, nil
}
