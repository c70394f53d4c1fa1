package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
)

// choice is one thing that can be done about a lock.
type choice int

// The choices. Cancel has the focus when the panel opens.
const (
	toCancel choice = iota
	toRelease
	toWait
	toTTL
	toLater
	toHold
	toOne
)

// gentle are the choices besides the two buttons, the gentlest first.
var gentle = []choice{toWait, toTTL, toLater, toHold, toOne}

// chosenBy is the choice that a key stands for.
func chosenBy(id keymap.ID) (choice, bool) {
	c, ok := map[keymap.ID]choice{
		keymap.ReviewWait: toWait, keymap.ReviewTTL: toTTL, keymap.ReviewLater: toLater, keymap.ReviewHold: toHold, keymap.ReviewOne: toOne,
	}[id]
	return c, ok
}

// otherButton is the other one of the two; from anything else, Cancel. A Release
// that is off gets no focus.
func (m root) otherButton() choice {
	if m.release.focus == toCancel && m.off(toRelease) == "" {
		return toRelease
	}
	return toCancel
}

// moveFocus goes up and down through the gentle choices and Cancel. Release is
// beside Cancel, not below it: who only meant to scroll must not come upon it.
func (m root) moveFocus(id keymap.ID) choice {
	all := append(slices.Clone(gentle), toCancel)
	if m.release.blocked != "" {
		return toCancel
	}
	i := slices.Index(all, m.release.focus)
	switch {
	case i < 0:
		return toCancel
	case id == keymap.Up:
		return all[max(0, i-1)]
	}
	return all[min(len(all)-1, i+1)]
}

// offers is the plan that releases a lock, and why some choices are not there.
func (m root) offers(l inspect.Lock) (inspect.Plan, map[choice]string) {
	off := map[choice]string{}
	in := m.opts.Inspector
	plan, err := in.PlanRelease(l)
	switch {
	case err != nil:
		off[toRelease], off[toOne] = refusalText(err), refusalText(err)
	case len(l.Holders) == 0:
		off[toOne] = "nobody holds it"
	case len(l.Holders) == 1:
		off[toOne] = "it has one holder; Release is for that one"
	}
	if _, err := in.PlanTTL(l, time.Minute); err != nil {
		off[toTTL] = refusalText(err)
	}
	if _, err := in.PlanHold(l, inspect.MinHold, m.opts.Operator, "x"); err != nil {
		off[toHold] = refusalText(err)
	}
	return plan, off
}

// refusalText is why there is no plan, without the words that say so.
func refusalText(err error) string {
	text := cleanError(err)
	for _, lead := range []error{inspect.ErrTTL, inspect.ErrNoHold, inspect.ErrNoRelease} {
		text = strings.TrimPrefix(text, strings.TrimPrefix(lead.Error(), "inspect: ")+": ")
	}
	return text
}

// off says why a choice is not to be had; "" where it is.
func (m root) off(c choice) string {
	p := &m.release
	switch c {
	case toCancel:
		return ""
	case toWait, toLater:
		if p.blocked != "" {
			return "it is not as it was"
		}
		return ""
	}
	if c == toHold && p.closer.note != nil {
		return m.mayNot()
	}
	if why := m.mayNot(); why != "" {
		return why
	}
	return p.off[c]
}

// replica is the role of a server that takes no changes.
const replica = "replica"

// mayNot says why nothing at all may be changed about the panel's lock.
func (m root) mayNot() string {
	p := &m.release
	switch {
	case m.server.ReadOnly != "":
		return "this target is read-only"
	case m.server.Role == replica:
		return "this server is a replica: act on its master"
	case p.blocked != "":
		return "it is not as it was"
	case p.lost != "":
		return "the server does not answer"
	}
	return ""
}

// wall says why it takes more than Enter to change this lock: it is production,
// or something speaks for a living holder; "" on a quiet lock.
func (m root) wall() string {
	if m.server.Guarded {
		return m.server.envWords()
	}
	if alive := m.alive(); alive != "" {
		return "its holder seems to be at work: " + alive
	}
	return ""
}

// envWords name a guarded target.
func (s Server) envWords() string {
	if s.Env != "" {
		return "this is " + s.Env
	}
	return "it has no environment and is not this machine: it counts as production"
}

// choose does a choice, or asks for what it needs to know.
func (m root) choose(c choice) (root, tea.Cmd) {
	p := &m.release
	if why := m.off(c); why != "" {
		if m.server.ReadOnly != "" {
			why += ": " + m.server.ReadOnly + "; nothing was changed"
		}
		return m.say(warn, nameOfChoice(p, c)+": "+why), nil
	}
	p.focus = c
	switch c {
	case toCancel:
		return m.leaveRelease(), nil
	case toWait:
		return m.waitFor(p.row, p.live), nil
	case toOne:
		p.stage, p.pick, p.top = picking, 0, 0
		m.notice = notice{}
		return m, nil
	case toRelease:
		if m.wall() == "" {
			return m.send(p.plan, "release", "")
		}
	}
	return m.openForm(c), nil
}

// nameOfChoice is what a choice is called on the screen.
func nameOfChoice(p *release, c choice) string {
	switch c {
	case toCancel:
		return "Cancel"
	case toWait:
		return "Wait and tell me"
	case toTTL:
		return "Set the TTL"
	case toLater:
		return "Ask again later"
	case toHold:
		if p.closer.note != nil {
			return "Lift the hold"
		}
		return "Put a hold"
	case toOne:
		return "Release one"
	}
	if n := len(p.seen.Holders); n > 1 {
		return fmt.Sprintf("Release all %d", n)
	}
	return "Release"
}

// aboutChoice says in a few words what a choice does.
func aboutChoice(p *release, c choice) string {
	switch c {
	case toWait:
		return "a notice and a bell when it is free or handed over"
	case toTTL:
		return "let it end by itself after some time"
	case toLater:
		return "a reminder in some minutes"
	case toHold:
		if p.closer.note != nil {
			return "give it up, and wake who waits"
		}
		return "take it for the operator; nobody else gets it"
	case toOne:
		return fmt.Sprintf("of the %d who hold it", len(p.seen.Holders))
	}
	return ""
}

// pickKey chooses one of several holders.
func (m root) pickKey(id keymap.ID) (root, tea.Cmd) {
	p := &m.release
	switch id {
	case keymap.Close:
		p.stage, p.top = asking, 0
	case keymap.Confirm:
		return m.openForm(toOne), nil
	case keymap.Up, keymap.Prev:
		p.pick = max(0, p.pick-1)
	case keymap.Down, keymap.Next:
		p.pick = min(len(p.seen.Holders)-1, p.pick+1)
	}
	return m, nil
}
