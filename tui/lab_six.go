package tui

import (
	"slices"
	"strconv"

	"fencepost/tui/theme"
)

// Behind the last step come the end, then the six questions that one can ask of
// any lock that went wrong, and then which of them would have found this one.
const (
	stepEnd = iota + 1
	stepSix
	stepFound
)

// last is how far a stage goes.
func (s *labStage) last() int {
	if s.free != nil {
		return len(s.front().steps())
	}
	return len(s.front().steps()) + stepFound
}

// asksSix reports whether the six questions are on the screen, and whether the
// answer is.
func (s *labStage) asksSix() (on, told bool) {
	n := s.step - len(s.front().steps())
	return n >= stepSix, n >= stepFound
}

// sixLines are the six questions.
func (m root) sixLines(width int) []string {
	s, w := m.lab.stage, m.words()
	_, told := s.asksSix()
	lines := []string{" " + m.theme.Strong.Wrap(w.Say("six"))}
	for i, q := range w.Six() {
		mark := "  "
		found := told && slices.Contains(s.story.FoundBy, i+1)
		if found {
			mark = "x "
		}
		parts := indented(theme.Wrap(q, width-7), " "+mark+strconv.Itoa(i+1)+"  ", "      ")
		for _, p := range parts {
			if found {
				p = m.theme.Strong.Wrap(p)
			}
			lines = append(lines, p)
		}
	}
	switch {
	case told && len(s.story.FoundBy) > 0:
		return append(lines, " "+w.Say("six-found"))
	case told:
		return append(lines, " "+w.Say("six-open"))
	}
	return append(lines, " "+m.theme.Muted.Wrap(w.Say("six-next")))
}
