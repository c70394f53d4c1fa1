package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fencepost/lockcore/scenario"
	"fencepost/lockcore/wire"
)

// listedStory is a story in the list.
type listedStory struct {
	Name   string           `json:"name"`
	Title  string           `json:"title"`
	Worlds []string         `json:"worlds"`
	RunsOn []scenario.Where `json:"runs_on"`
}

// listStories prints what there is to play.
func (inv *invocation) listStories(words *scenario.Words) int {
	all, err := inv.stories()
	if err != nil {
		return inv.fail(err)
	}
	if inv.opts.json {
		out := struct {
			Scenarios []listedStory `json:"scenarios"`
		}{Scenarios: []listedStory{}}
		for _, s := range all {
			out.Scenarios = append(out.Scenarios, listed(s, words))
		}
		enc := json.NewEncoder(inv.out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(out); err != nil {
			return inv.fail(err)
		}
		return exitOK
	}
	fmt.Fprint(inv.out, "A story is played in worlds that differ in one switch: fencepost simulate NAME\n"+
		"Runs in: S the sandbox, R a Redis that you name, O servers that the lab starts itself.\n\n")
	for _, s := range all {
		l := listed(s, words)
		fmt.Fprintf(inv.out, "%-24s %-3s %s\n%s%s\n", wire.Clean(l.Name), letters(l.RunsOn), wire.Clean(l.Title),
			strings.Repeat(" ", 29), strings.Join(l.Worlds, " · "))
	}
	return exitOK
}

func listed(s *scenario.Scenario, words *scenario.Words) listedStory {
	l := listedStory{Name: s.Name, Title: words.Text(s).Title, RunsOn: s.Runs}
	for _, w := range s.Worlds {
		l.Worlds = append(l.Worlds, w.Name)
	}
	return l
}

func letters(runs []scenario.Where) string {
	var b strings.Builder
	for _, w := range runs {
		b.WriteString(strings.ToUpper(string(w[:1])))
	}
	return b.String()
}

// checkStory reads a file, says what is wrong with it, and plays its worlds in
// the sandbox to see whether they end as it says.
func (inv *invocation) checkStory(ctx context.Context) int {
	s, err := readStory(inv.opts.lab.check)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(inv.err, wire.Clean(strings.TrimRight(line, "\n")))
		}
		return exitError
	}
	if !s.RunsAt(scenario.Sandbox) {
		fmt.Fprintf(inv.out, "%s: the file is sound; it does not run in the sandbox, so it was not played\n", s.Name)
		return exitOK
	}
	code := exitOK
	for i := range s.Worlds {
		w := &s.Worlds[i]
		ends := w.Ends
		run, err := lab{where: scenario.Sandbox}.play(ctx, s, w, &ends, 1)
		if err != nil {
			return inv.fail(fmt.Errorf("world %s: %w", w.Name, err))
		}
		if run.AsFiled() {
			fmt.Fprintf(inv.out, "%s, world %s: %s, as the file says\n", s.Name, w.Name, run.Verdict)
			continue
		}
		fmt.Fprintf(inv.out, "%s, world %s: it ended %s, broken %s; the file says %s, broken %s\n", s.Name, w.Name,
			run.Verdict, marks(run.Broken), ends.Verdict, marks(ends.Broken))
		code = exitError
	}
	return code
}

// marks are broken rules as a file has them.
func marks(broken []scenario.Violation) string {
	if len(broken) == 0 {
		return "nothing"
	}
	out := make([]string, len(broken))
	for i, v := range broken {
		out[i] = v.String()
	}
	return strings.Join(out, ", ")
}
