package tui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// In a terminal that is too small to show the question no key answers it, and
// none that comes just as it grows.
func TestNoKeyAnswersWhatIsNotSeen(t *testing.T) {
	run(t, empty(), func(b *bench) {
		b.hold("order:1", redissonA, 50*time.Second)
		b.pass(10 * time.Second)
		b.press("u")
		b.pass(time.Second)
		b.program.Send(tea.WindowSizeMsg{Width: 40, Height: 10})
		b.press("tab", "enter")
		b.pass(time.Second)
		b.program.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
		b.program.Send(press("tab"))
		b.program.Send(press("enter"))
		b.pass(time.Second)
		if b.do("EXISTS", "order:1") != int64(1) {
			t.Error("what nobody saw was done")
		}
		b.want(">[ Cancel ]", "Release this lock by force?")
		b.press("tab", "enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED")
	})
}
