package tui

import (
	"fmt"

	osc52 "github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"
)

// copy asks the terminal to put a text on the user's clipboard (OSC 52): it
// works through ssh, where the terminal allows it.
func (s *screen) copy(text string) error {
	_, err := osc52.New(text).WriteTo(s)
	return err
}

// copied says what was copied. Whether the terminal took it cannot be known.
type copiedMsg struct {
	what string
	err  error
}

func (m root) copyText(what, text string) tea.Cmd {
	send := m.clipboard
	return func() tea.Msg { return copiedMsg{what, send(text)} }
}

func (c copiedMsg) apply(m root) (root, tea.Cmd) {
	if c.err != nil {
		return m.say(bad, "not copied: "+c.err.Error()), nil
	}
	return m.say(fine, fmt.Sprintf("%s sent to the clipboard, if this terminal allows it (OSC 52)", c.what)), nil
}
