package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

// form is what has to be filled in before something is changed. It sends exactly
// the plan that it shows.
type form struct {
	act    choice
	lines  []formLine
	at     int       // the line that is typed into
	opened time.Time // no enter counts in its first moment
	said   string    // what is wrong with what was typed
	plan   inspect.Plan
	noPlan string // why there is no plan yet
}

// formLine is one line of it.
type formLine struct {
	kind lineKind
	ask  string
	text field
	want string // what has to stand there, exactly; "" where that is free
}

// lineKind is what a line asks for.
type lineKind int

const (
	armLine    lineKind = iota // the environment's name
	spanLine                   // for how long
	countLine                  // how many locks these are
	proofLine                  // proof that the holder was read
	reasonLine                 // why, for the audit; optional
	mustReason                 // the same, not optional
)

// openForm asks for what a choice needs to know. What protects a lock of a living
// holder, or of production, is asked for in the same form.
func (m root) openForm(c choice) root {
	p := &m.release
	f := form{act: c, opened: m.now}
	if m.server.Guarded && !p.armed && c != toLater {
		f.lines = append(f.lines, m.armingLine())
	}
	switch c {
	case toTTL:
		f.lines = append(f.lines, formLine{kind: spanLine, ask: "Let it end in (30s, 10m, 2h)"})
	case toHold:
		if p.closer.note == nil {
			f.lines = append(f.lines, formLine{kind: spanLine, ask: "Hold it for (10s to 24h)"})
		}
	case toLater:
		f.lines = append(f.lines, formLine{kind: spanLine, ask: "Ask again in", text: offer("5m")})
	}
	p.form = f
	m = m.remake()
	f = p.form
	if c != toLater {
		f.lines = append(f.lines, m.wallLines(c)...)
	}
	p.form, p.stage, p.top, m.notice = f, filling, 0, notice{}
	return m.remake()
}

func (m root) armingLine() formLine {
	return formLine{kind: armLine, ask: "Type " + wire.Clean(m.server.ArmingName()) + " to arm this target", want: m.server.ArmingName()}
}

// wallLines ask for proof and reason where they are needed, else for a reason
// that may be left out. A reason that was given before is offered.
func (m root) wallLines(c choice) []formLine {
	before := offer(m.reason)
	holds := c == toHold && m.release.closer.note == nil
	if m.wall() == "" && !holds {
		return []formLine{{kind: reasonLine, ask: "Reason (may be left out)", text: before}}
	}
	var lines []formLine
	if m.wall() != "" {
		text, ask := m.proof(c)
		lines = append(lines, formLine{kind: proofLine, ask: "Type " + ask, want: text})
	}
	ask := "Reason, for the audit"
	if holds {
		ask = "Reason; it is kept beside the lock"
	}
	return append(lines, formLine{kind: mustReason, ask: ask, text: before})
}

// proof is what proves that the operator has read whom a choice is about.
func (m root) proof(c choice) (text, ask string) {
	p := &m.release
	about := inspect.Plan{Lock: p.seen, Holders: p.seen.Holders}
	if c == toOne {
		about.Holders = about.Holders[p.pick : p.pick+1]
	}
	return about.Proof()
}

// remake makes the plan anew from what is typed, and from the lock as it is now.
func (m root) remake() root {
	p := &m.release
	f := &p.form
	in := m.opts.Inspector
	var err error
	f.plan, f.noPlan = inspect.Plan{}, ""
	switch span, typed := f.span(); {
	case f.act == toLater:
		return m
	case f.act == toRelease:
		f.plan = p.plan
	case f.act == toOne:
		f.plan, err = in.PlanRelease(p.seen, idOf(p.seen.Holders[p.pick]))
	case f.act == toHold && p.closer.note != nil:
		f.plan = p.closer.lift
	case typed != nil:
		err = typed
	case f.act == toTTL:
		f.plan, err = in.PlanTTL(p.seen, span)
	case f.act == toHold:
		f.plan, err = in.PlanHold(p.seen, span, m.opts.Operator, f.reason())
	}
	if err != nil {
		f.noPlan = refusalText(err)
	}
	return m
}

// reason is what was typed as the reason.
func (f *form) reason() string {
	for _, l := range f.lines {
		if l.kind == reasonLine || l.kind == mustReason {
			return strings.TrimSpace(l.text.String())
		}
	}
	return ""
}

// wrong says what is wrong with a line; "" where nothing is.
func (f *form) wrong(i int) string {
	l := f.lines[i]
	typed := strings.TrimSpace(l.text.String())
	switch {
	case l.kind == armLine && typed != l.want:
		return "that is not the name of this target"
	case l.kind == countLine && typed != l.want:
		return "that is not how many these are"
	case l.kind == proofLine && typed != l.want && typed == "":
		return strings.TrimPrefix(l.ask, "Type ") + ", as it stands above"
	case l.kind == proofLine && typed != l.want:
		return "that is not " + strings.TrimPrefix(l.ask, "Type ")
	case l.kind == mustReason && typed == "":
		return "a reason is needed; it is written into the audit"
	case l.kind == spanLine && f.act == toLater:
		if d, err := f.span(); err != nil {
			return cleanError(err)
		} else if d < time.Second || d > 24*time.Hour {
			return "a reminder comes within a second to a day"
		}
	case l.kind == spanLine:
		return f.noPlan
	}
	return ""
}

// typing reports whether a line of the form has the focus.
func (p *release) typing() bool { return p.stage == filling && len(p.form.lines) > 0 }

// line is the line that is typed into.
func (f form) line() field { return f.lines[f.at].text }

// set puts the line that is typed into back, changed.
func (f form) set(text field) form {
	f.lines = append([]formLine(nil), f.lines...) // an earlier model keeps its own
	f.lines[f.at].text, f.said = text, ""
	return f
}

// move goes to another line.
func (f *form) move(by int) { f.at = (f.at + by + len(f.lines)) % len(f.lines) }

// formKey does what a key means in a form.
func (m root) formKey(id keymap.ID) (root, tea.Cmd) {
	p := &m.release
	f := &p.form
	switch id {
	case keymap.FormLeave:
		p.stage, p.top = asking, 0
		return m.say(fine, "nothing was changed"), nil
	case keymap.FormNext:
		f.move(1)
	case keymap.FormPrev:
		f.move(-1)
	case keymap.FormDone:
		return m.formDone()
	default:
		p.top = scrolled(p.top, id, len(m.releaseText()), m.releaseRoom())
	}
	return m, nil
}
