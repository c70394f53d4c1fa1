package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

func helpVerb() verb {
	return verb{
		name: "help", args: "[VERB]", short: "explain a verb", maxArgs: 1,
		run: func(_ context.Context, inv *invocation) int { return inv.help(inv.args) },
	}
}

// help prints the help of the verb that the words name, or the overview.
func (inv *invocation) help(words []string) int {
	if len(words) > 0 && words[0] == "help" {
		words = words[1:]
	}
	if len(words) == 0 {
		printOverview(inv.out)
		return exitOK
	}
	v, ok := findVerb(words[0])
	if !ok {
		return inv.fail(notAVerb(words[0]))
	}
	printVerb(inv.out, v)
	return exitOK
}

func printOverview(out io.Writer) {
	fmt.Fprint(out, "fencepost shows the locks in a Redis, and helps to release one safely.\n\nUsage: fencepost [VERB] [FLAGS]\n\n"+
		"Without a server fencepost opens a sandbox to try things on; list, watch and the other verbs need one (-h HOST -p PORT).\n\n")
	var rows [][2]string
	for _, v := range verbs() {
		rows = append(rows, [2]string{v.synopsis(), v.short})
	}
	printRows(out, rows)
	fmt.Fprint(out, "\nfencepost VERB --help shows the flags of a verb. Verbs and flags come in any order; -- ends flags.\n")
	for _, v := range verbs() {
		if v.target != noTarget {
			printGroup(out, "The server, named as in redis-cli", targetFlags())
			printEnvironment(out)
			break
		}
	}
	printGroup(out, "Always", filter(func(f flag) bool { return f.group == groupGeneral }))
}

func printVerb(out io.Writer, v verb) {
	fmt.Fprintf(out, "Usage: %s [FLAGS]\n\n%s.\n", v.synopsis(), strings.ToUpper(v.short[:1])+v.short[1:])
	if v.long != "" {
		fmt.Fprintf(out, "\n%s\n", v.long)
	}
	for _, g := range []struct {
		group group
		title string
	}{
		{groupLook, "Which locks"}, {groupAct, "What to do"}, {groupLab, "How to play it"}, {groupOutput, "Output"},
		{groupTarget, "The server, named as in redis-cli"}, {groupGeneral, "Always"},
	} {
		printGroup(out, g.title, filter(func(f flag) bool { return f.group == g.group && v.takes(f) }))
	}
	if v.target != noTarget {
		printEnvironment(out)
	}
	fmt.Fprint(out, "\nExit codes\n")
	var rows [][2]string
	for _, e := range exitMeanings {
		if e.code <= exitUsage || slices.Contains(v.exits, e.code) {
			rows = append(rows, [2]string{fmt.Sprint(e.code), e.text})
		}
	}
	printRows(out, rows)
}

func printEnvironment(out io.Writer) {
	fmt.Fprint(out, "\nFrom the environment\n")
	printRows(out, [][2]string{
		{"REDISCLI_AUTH", "password of the server"},
		{"FENCEPOST_SENTINEL_AUTH", "password of the Sentinels"},
		{"FENCEPOST_READ_ONLY", "1 lets only reading commands through"},
	})
}

func filter(keep func(flag) bool) []flag {
	var kept []flag
	for _, f := range flags() {
		if keep(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

func printGroup(out io.Writer, title string, group []flag) {
	if len(group) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", title)
	rows := make([][2]string, 0, len(group))
	for _, f := range group {
		rows = append(rows, [2]string{f.usage(), f.help})
	}
	printRows(out, rows)
}

// usage is how the flag is written: "-p, --port PORT".
func (f flag) usage() string {
	name := "--" + f.name
	if f.short != "" {
		name = "-" + f.short + ", " + name
	}
	return strings.TrimSpace(name + " " + f.value)
}

// printRows aligns two columns; a first column that is too wide for it has a
// line to itself.
func printRows(out io.Writer, rows [][2]string) {
	const widest = 28
	width := 0
	for _, r := range rows {
		if len(r[0]) <= widest {
			width = max(width, len(r[0]))
		}
	}
	for _, r := range rows {
		if len(r[0]) > width {
			fmt.Fprintf(out, "  %s\n  %*s  %s\n", r[0], width, "", r[1])
			continue
		}
		fmt.Fprintf(out, "  %-*s  %s\n", width, r[0], r[1])
	}
}
