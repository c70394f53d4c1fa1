package tui

import (
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

// The last line names no key that does nothing: there is no other button beside
// one that stands alone.
func TestHintsAreOfWhatIsAsked(t *testing.T) {
	run(t, empty(), func(b *bench) {
		panel(b)
		b.want("Tab other button", "Esc cancel")
		b.hold("order:1", redissonB, 50*time.Second)
		b.pass(1200 * time.Millisecond)
		b.want("Release is off", "Esc cancel")
		b.never("other button")
		b.press("r")
		b.pass(time.Second)
		b.press("tab", "enter")
		b.pass(300 * time.Millisecond)
		b.want("RELEASED", "Esc back")
		b.never("other button", "Esc cancel")
	})
}

// What was refused was not done, however it was tried.
func TestWhatWasRefusedIsNotSaidToBeDone(t *testing.T) {
	d := newDirect(80, 24)
	for word, said := range map[inspect.Word]bool{inspect.Released: true, inspect.Refused: false, inspect.Changed: false, inspect.Gone: false} {
		d.m.release = release{outcome: inspect.Outcome{Word: word, Told: wire.ToldNobody, Steps: []inspect.StepOutcome{{Word: word, Plainly: true}}}}
		if text := strings.Join(d.m.outcomeText(), "\n"); strings.Contains(text, "It was done") != said {
			t.Errorf("%s:\n%s", word, text)
		}
	}
}
