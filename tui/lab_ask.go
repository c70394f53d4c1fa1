package tui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fencepost/lockcore/scenario"
	"fencepost/tui/theme"
)

// question is the index of the question that comes before the next step in this
// world.
func (s *labStage) question() (int, bool) {
	if s.step >= len(s.front().steps()) {
		return 0, false
	}
	return s.asked(s.front().steps()[s.step])
}

// asked is the index of the question before a step.
func (s *labStage) asked(before int) (int, bool) {
	name := s.front().world.Name
	for i, a := range s.story.Asks {
		if a.Before == before && (len(a.Worlds) == 0 || slices.Contains(a.Worlds, name)) {
			return i, true
		}
	}
	return 0, false
}

// answer takes an answer. The first one counts.
func (m root) answer(n int) root {
	s := m.lab.stage
	q, ok := s.question()
	if !ok || s.answers[q] != 0 || n > len(m.words().Text(s.story).Asks[q].Answers) {
		return m
	}
	return m.change(func(s *labStage) {
		s.answers = maps.Clone(s.answers)
		s.answers[q] = n
	})
}

// score counts the right first answers.
func (s *labStage) score() (right, of int) {
	for q, a := range s.answers {
		of++
		if a == s.story.Asks[q].Right {
			right++
		}
	}
	return right, of
}

// questionLines ask before the reveal; after it they say what was right.
func (m root) questionLines(width int) []string {
	s, w := m.lab.stage, m.words()
	text := w.Text(s.story)
	if q, ok := s.question(); ok {
		return m.askLines(text.Asks[q], s.answers[q], width)
	}
	if s.step == 0 || s.ended() {
		return nil
	}
	q, ok := s.asked(s.number())
	if !ok {
		return nil
	}
	right := s.story.Asks[q].Right
	verdict := w.Say("right")
	if given := s.answers[q]; given != right {
		verdict = w.Say("wrong", "n", strconv.Itoa(right))
	}
	lead := w.Say("answer") + ": " + verdict + ". "
	return indented(theme.Wrap(lead+oneLine(text.Asks[q].Reveal), width-4), " ", "   ")
}

func (m root) askLines(a scenario.AskText, given, width int) []string {
	w := m.words()
	lines := indented(theme.Wrap(oneLine(a.Question), width-4), " ? ", "   ")
	lines[0] = " " + m.theme.Strong.Wrap("?") + lines[0][2:]
	score := ""
	if right, of := m.score(); of > 0 {
		score = w.Say("score", "n", strconv.Itoa(right), "of", strconv.Itoa(of))
	}
	var row string
	for i, answer := range a.Answers {
		part := fmt.Sprintf("%d %s", i+1, oneLine(answer))
		if given == i+1 {
			part = m.theme.Focus.Wrap(fmt.Sprintf("[%d] %s", i+1, oneLine(answer)))
		}
		if row != "" && theme.Width(row)+theme.Width(part)+4 > width-4 {
			lines = append(lines, "   "+row)
			row = ""
		}
		if row != "" {
			row += "     "
		}
		row += part
	}
	if score != "" && theme.Width(row)+theme.Width(score)+5 <= width {
		row = theme.Pad(row, width-4-theme.Width(score)) + m.theme.Muted.Wrap(score)
	}
	return append(lines, "   "+row)
}

// closing are the three lines at the end, and how far the verdict reaches.
func (m root) closing(width int) []string {
	s, w := m.lab.stage, m.words()
	text := w.Text(s.story)
	run := s.front().run.Run
	paint := m.theme.Good
	if run.Verdict == scenario.Unsafe {
		paint = m.theme.Danger
	}
	lines := labelled(m.theme.Strong.Wrap(w.Say("verdict")), paint, oneLine(w.Reach(s.story, run)), width)
	if world := s.story.World(run.World); world != nil && run.Reach() == scenario.Here {
		lines = append(lines, labelled("", m.theme.Muted, w.Say("broken-by", "names", strings.Join(world.BrokenBy, ", ")), width)...)
	}
	if at := scenario.PartAt(append([]*scenario.Run{run}, s.runs()...)...); at > 0 {
		lines = append(lines, labelled("", theme.Paint{}, w.Say("part-at", "n", strconv.Itoa(at)), width)...)
	}
	for _, l := range [][2]string{{"lesson", text.Lesson}, {"code", text.Code}, {"watch", text.Watch}} {
		if l[1] != "" {
			lines = append(lines, labelled(m.theme.Strong.Wrap(w.Say(l[0])), theme.Paint{}, oneLine(l[1]), width)...)
		}
	}
	if counted := m.signalWords(); counted != "" && m.height >= 34 {
		lines = append(lines, labelled(m.theme.Strong.Wrap(w.Say("signals")), theme.Paint{}, counted, width)...)
	}
	return lines
}

// signalWords are the counters that the reader's own metrics would show, as they
// stand at the end.
func (m root) signalWords() string {
	run := m.lab.stage.front().run
	if len(run.Steps) == 0 {
		return ""
	}
	counts := run.Steps[len(run.Steps)-1].View.Signals
	var out []string
	for _, s := range run.Signals {
		out = append(out, fmt.Sprintf("%s %d", s, counts[s]))
	}
	return strings.Join(out, ", ")
}

// runs are those of the story's own worlds.
func (s *labStage) runs() []*scenario.Run {
	var out []*scenario.Run
	for _, w := range s.worlds[:min(len(s.worlds), len(s.story.Worlds))] {
		out = append(out, w.run.Run)
	}
	return out
}

// labelIndent is where the text behind a label begins.
const labelIndent = 15

func labelled(label string, paint theme.Paint, text string, width int) []string {
	var out []string
	for i, part := range theme.Wrap(text, width-labelIndent-1) {
		lead := " " + theme.Pad(label, labelIndent-1)
		if i > 0 {
			lead = strings.Repeat(" ", labelIndent)
		}
		out = append(out, lead+paint.Wrap(part))
	}
	return out
}

func indented(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if i == 0 {
			out[i] = first + l
			continue
		}
		out[i] = rest + l
	}
	return out
}
