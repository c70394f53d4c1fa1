package theme

import "github.com/charmbracelet/lipgloss"

// v1: Bubble Tea's own init asks the terminal for its background colour and
// waits five seconds for an answer, so on a terminal that does not answer (a
// pty of a script, a serial line) even --version starts late. Saying first what
// the background is leaves nothing to ask. Go runs the init functions of ready
// packages in the order of their import paths, and fencepost/tui/theme sorts
// before github.com/charmbracelet/bubbletea, as long as this package imports
// nothing but what Bubble Tea needs too: lipgloss, termenv, x/ansi and the parts
// of the standard library that these import themselves.
//
// Nothing is drawn by this answer: the theme uses the sixteen colours of the
// user's own palette, which suit his background already.
func init() { lipgloss.SetHasDarkBackground(true) }
