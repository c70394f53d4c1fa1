package cli

import (
	"fmt"
	"slices"
	"strings"

	"fencepost/lockcore/scenario"
)

// handout is a story in Markdown, for those who were in the room: what happens
// in each world, with the commands that were sent, and what is to be learnt.
func handout(p plan, runs []played) string {
	var b strings.Builder
	words, s := p.words, p.story
	text := words.Text(s)
	fmt.Fprintf(&b, "# %s\n\n`%s`\n\n%s\n", md(text.Title), s.Name, md(text.Story))
	for i, r := range runs {
		fmt.Fprintf(&b, "\n## %s: %s\n\n`%s` · %s · %s\n\n",
			words.Say("world", "n", fmt.Sprint(i+1), "of", fmt.Sprint(len(runs))), md(or(text.World[r.World], r.World)),
			switches(r.Run), words.Say("where-"+string(r.Where)), words.Say("seed", "seed", fmt.Sprint(r.Seed)))
		for _, st := range r.Steps {
			handoutStep(&b, words, s, r.Run, st)
		}
		fmt.Fprintf(&b, "\n**%s** %s\n", words.Say("verdict"), md(words.Reach(s, r.Run)))
		if w := s.World(r.World); w != nil && r.Reach() == scenario.Here && len(w.BrokenBy) > 0 {
			fmt.Fprintf(&b, "\n%s\n", words.Say("broken-by", "names", "`"+strings.Join(w.BrokenBy, "`, `")+"`"))
		}
	}
	bare := make([]*scenario.Run, len(runs))
	for i := range runs {
		bare[i] = runs[i].Run
	}
	if at := scenario.PartAt(bare...); at > 0 {
		fmt.Fprintf(&b, "\n**%s**\n", words.Say("part-at", "n", fmt.Sprint(at)))
	}
	for i, a := range text.Asks {
		fmt.Fprintf(&b, "\n> **%s** %s\n", words.Say("question"), md(a.Question))
		for j, answer := range a.Answers {
			mark := " "
			if j+1 == s.Asks[i].Right {
				mark = "x"
			}
			fmt.Fprintf(&b, "> - [%s] %s\n", mark, md(answer))
		}
		fmt.Fprintf(&b, ">\n> %s\n", md(a.Reveal))
	}
	b.WriteString("\n")
	for _, l := range [][2]string{{"lesson", text.Lesson}, {"code", text.Code}, {"watch", text.Watch}} {
		if l[1] != "" {
			fmt.Fprintf(&b, "- **%s** %s\n", words.Say(l[0]), md(l[1]))
		}
	}
	handoutSix(&b, words, s)
	return b.String()
}

// handoutSix are the six questions, those marked that would have found it.
func handoutSix(b *strings.Builder, words *scenario.Words, s *scenario.Scenario) {
	fmt.Fprintf(b, "\n%s\n\n", words.Say("six"))
	for i, q := range words.Six() {
		mark := " "
		if slices.Contains(s.FoundBy, i+1) {
			mark = "x"
		}
		fmt.Fprintf(b, "- [%s] %d. %s\n", mark, i+1, md(q))
	}
}

func handoutStep(b *strings.Builder, words *scenario.Words, s *scenario.Scenario, r *scenario.Run, st scenario.Step) {
	number := fmt.Sprintf("**%d**", st.N)
	if st.Auto {
		number = "·"
	}
	fmt.Fprintf(b, "- %s `%s` %s", number, scenario.Seconds(st.At), md(words.Tell(s, r, st)))
	if st.Times > 1 {
		fmt.Fprintf(b, " (%s)", words.Say("times", "n", fmt.Sprint(st.Times), "t", scenario.Seconds(st.Last)))
	}
	if st.Emulated {
		fmt.Fprintf(b, " (%s)", words.Say("emulated"))
	}
	for _, v := range st.Broken {
		fmt.Fprintf(b, " **%s**", words.Rule(v.Rule))
	}
	b.WriteString("\n")
	lines := 0
	for _, d := range st.Dids {
		lines += len(d.Sent)
	}
	if lines == 0 {
		return
	}
	b.WriteString("  ```\n")
	for _, d := range st.Dids {
		for _, sent := range d.Sent {
			fmt.Fprintf(b, "  %s\n    %s\n", clean(sent.Line), clean(sent.Reply))
		}
	}
	b.WriteString("  ```\n")
}

// md makes a text harmless in Markdown.
func md(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "`", `\`+"`", "_", `\_`).Replace(clean(s))
}
