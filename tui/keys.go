package tui

import (
	"fmt"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
)

// typed takes what came from the keyboard.
//
// v1: what was read together comes as one message: "jjj" is one KeyMsg that no
// binding matches. It is replayed rune by rune, but what was typed before a
// dialog was drawn is dropped, and a paste is never taken for keys.
func (m root) typed(msg tea.KeyMsg) (root, tea.Cmd) {
	if m.unseen() {
		return m.unseenKey(msg.String())
	}
	if msg.Type != tea.KeyRunes || (len(msg.Runes) < 2 && !msg.Paste) {
		return m.key(msg.String())
	}
	if f, ok := m.input(); ok {
		return m.setInput(f.insert(clean(msg.Runes)))
	}
	if msg.Paste {
		return m.say(warn, "that was a paste; it was ignored, because here it would act as keys"), nil
	}
	var cmds []tea.Cmd
	where := m.front()
	for _, r := range msg.Runes {
		next, cmd := m.key(string(r))
		m, cmds = next, append(cmds, cmd)
		if m.front() != where && (m.front() == atRelease || m.front() == atBulk) {
			break
		}
	}
	return m, tea.Batch(cmds...)
}

// unseenKey is a key where the terminal is too small to show what it would do:
// only what ends the program counts, or lets it wait.
func (m root) unseenKey(name string) (root, tea.Cmd) {
	id, _ := m.keys.Match(m.scope(), name)
	return m, leaving(id)
}

// leaving is what ends the program, or lets it wait; nil for any other key.
func leaving(id keymap.ID) tea.Cmd {
	switch id {
	case keymap.Abort:
		return tea.Interrupt
	case keymap.Suspend:
		return tea.Suspend
	case keymap.Quit:
		return tea.Quit
	}
	return nil
}

// clean turns pasted text into one line without control characters.
func clean(runes []rune) []rune {
	out := make([]rune, 0, min(len(runes), maxInput))
	for _, r := range runes {
		switch {
		case len(out) >= maxInput:
			return out
		case unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r):
			out = append(out, r)
		}
	}
	return out
}

// scope is where the front screen's keys are looked up.
func (m root) scope() keymap.Scope {
	if _, ok := m.input(); ok {
		if m.front() == atRelease || m.front() == atBulk {
			return keymap.Form
		}
		return keymap.Input
	}
	if scope, ok := m.labScope(); ok {
		return scope
	}
	switch m.front() {
	case atDetail:
		return keymap.Detail
	case atRelease:
		return keymap.Release
	case atBulk:
		return keymap.Bulk
	case atHelp:
		return keymap.Help
	case atSort:
		return keymap.Sort
	case atEvents:
		return keymap.Events
	}
	return keymap.List
}

// key does what one key means here.
func (m root) key(name string) (root, tea.Cmd) {
	if f, ok := m.input(); ok {
		if next, used := f.key(m.keys, name); used {
			return m.setInput(next)
		}
	}
	id, ok := m.keys.Match(m.scope(), name)
	if !ok {
		return m.unknownKey(name), nil
	}
	if cmd := leaving(id); cmd != nil {
		return m, cmd
	}
	if id == keymap.OpenHelp {
		if m.front() == atHelp {
			return m.back(), nil
		}
		m.help = newHelp(m)
		return m.open(atHelp), nil
	}
	if m.inLab() {
		return m.labKeys(id)
	}
	switch m.front() {
	case atDetail:
		return m.detailKey(id)
	case atRelease:
		if m.release.typing() {
			return m.formKey(id)
		}
		return m.releaseKey(id)
	case atBulk:
		return m.bulkKey(id)
	case atHelp:
		return m.helpKey(id)
	case atSort:
		return m.sortKey(id)
	case atEvents:
		return m.eventsKey(id)
	}
	return m.listKey(id)
}

// unknownKey says quietly where the keys are listed. A word that must be read is
// not written over, and in a panel or the lab other words stand there.
func (m root) unknownKey(name string) root {
	if m.front() == atRelease || m.inLab() || m.notice.tone != fine {
		return m
	}
	help, _ := m.keys.Get(keymap.OpenHelp)
	return m.say(fine, fmt.Sprintf("%s does nothing here; %s lists the keys", keymap.Name(name), keymap.Name(help.Keys[0])))
}

// input is the line of text that has the focus, if there is one.
func (m root) input() (field, bool) {
	switch {
	case m.front() == atList && m.list.filtering:
		return m.list.filter, true
	case m.front() == atRelease && m.release.typing():
		return m.release.form.line(), true
	case m.front() == atBulk && m.bulk.typing():
		return m.bulk.form.line(), true
	case m.front() == atLab && m.lab.stage.seeking:
		return m.lab.stage.seek, true
	}
	return field{}, false
}

// setInput puts a changed line back.
func (m root) setInput(f field) (root, tea.Cmd) {
	switch m.front() {
	case atRelease:
		m.release.form = m.release.form.set(f)
		return m.remake(), nil
	case atBulk:
		m.bulk.form = m.bulk.form.set(f)
		return m, nil
	}
	if m.front() == atLab {
		return m.change(func(s *labStage) { s.seek = f }), nil
	}
	m.list.filter = f
	m.list = m.list.sync(m)
	return m, nil
}

// printable reports whether a key is text that can be typed into a line.
func printable(name string) (rune, bool) {
	if name == " " || name == "space" {
		return ' ', true
	}
	runes := []rune(name)
	return runes[0], len(runes) == 1 && unicode.IsPrint(runes[0]) && !strings.ContainsRune("\t\n", runes[0])
}
