package tui

import (
	"fmt"

	osc52 "github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/wire"
)

// copy asks the terminal to put a text on the user's clipboard (OSC 52): it
// works through ssh, where the terminal allows it.
func (s *screen) copy(text string) error {
	_, err := osc52.New(text).WriteTo(s)
	return err
}

// ring has the terminal ring its bell.
func (s *screen) ring() error {
	_, err := s.Write([]byte{'\a'})
	return err
}

// outlet is what reaches the terminal beside the screen.
type outlet struct {
	clipboard func(text string) error
	bell      func() error
	acts      *inFlight
}

// copied says what was copied. Whether the terminal took it cannot be known.
type copiedMsg struct {
	what string
	err  error
}

func (m root) copyText(what, text string) tea.Cmd {
	send := m.outlet.clipboard
	return func() tea.Msg { return copiedMsg{what, send(text)} }
}

// copyKey copies a row's key. A key that holds more than plain text is copied as
// redis-cli takes it in quotes: pasted raw it could act in a shell.
func (m root) copyKey(r *row) tea.Cmd {
	key := string(r.lock.Key)
	if r.lock.Key.String() != key {
		key = wire.Word(key)
	}
	return m.copyText("the key "+r.lock.Key.String(), key)
}

func (c copiedMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	if c.err != nil {
		return m.say(bad, "not copied: "+c.err.Error()), nil
	}
	return m.say(fine, fmt.Sprintf("%s sent to the clipboard, if this terminal allows it (OSC 52)", c.what)), nil
}
