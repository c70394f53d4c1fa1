package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// entered is what Enter has done in a form.
type entered int

const (
	stays entered = iota
	armsNow
	complete
)

// enter takes the line that is typed into and goes to the next; after the last
// one all of them are looked at again.
func (f *form) enter(now time.Time) entered {
	if now.Sub(f.opened) < quiet {
		return stays
	}
	line := f.lines[f.at]
	f.said = f.wrong(f.at)
	switch {
	case f.said != "" && line.kind == armLine:
		*f = f.set(field{})
		f.said = "that is not the name of this target; nothing was changed"
		return stays
	case f.said != "":
		return stays
	case line.kind == armLine:
		f.lines, f.at = f.lines[1:], 0
		return armsNow
	case f.at+1 < len(f.lines):
		f.at++
		return stays
	}
	for i := range f.lines {
		if why := f.wrong(i); why != "" {
			f.at, f.said = i, why
			return stays
		}
	}
	return complete
}

// formDone takes a line, and after the last one does what the form is for.
func (m root) formDone() (root, tea.Cmd) {
	p := &m.release
	switch p.form.enter(m.now) {
	case armsNow:
		p.armed = true
		m.armed = m.now.Add(armedFor)
	case complete:
		return m.formSend()
	}
	return m, nil
}

// formSend does what the form is for. Where a sign of life has come up since it
// was opened, what that asks for is asked for now.
func (m root) formSend() (root, tea.Cmd) {
	p := &m.release
	f := &p.form
	if f.act == toLater {
		d, _ := f.span() // it was looked at before
		return m.remind(p.row, d), nil
	}
	if m.wall() != "" && !f.has(proofLine) {
		text, ask := m.proof(f.act)
		f.lines = append(f.lines, formLine{kind: proofLine, ask: "Type " + ask, want: text})
		f.at, f.said = len(f.lines)-1, "a sign of life came up meanwhile: "+m.wall()
		return m, nil
	}
	if f.has(proofLine) && f.reason() == "" {
		f.said = "a reason is needed; it is written into the audit"
		return m, nil
	}
	if why := m.off(f.act); why != "" {
		f.said = why
		return m, nil
	}
	return m.send(f.plan, verbOf(f.act, p.closer.note != nil), f.reason())
}

func (f *form) has(kind lineKind) bool {
	for _, l := range f.lines {
		if l.kind == kind {
			return true
		}
	}
	return false
}

// verbOf is the verb that does the same on the command line.
func verbOf(c choice, held bool) string {
	switch {
	case c == toTTL:
		return "ttl"
	case c == toHold && held:
		return "unhold"
	case c == toHold:
		return "hold"
	}
	return "release"
}
