package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"fencepost/lockcore/audit"
	"fencepost/lockcore/wire"
)

func auditVerb() verb {
	return verb{
		name: "audit", short: "show what was changed with this program from this machine",
		long: "The newest comes last. An act without an outcome was not survived by the program that began it.\n" +
			"--json prints the lines of the file as they are.",
		target: noTarget, flags: []string{"audit", "max", "json"}, run: runAudit,
	}
}

func runAudit(_ context.Context, inv *invocation) int {
	log := inv.auditLog()
	switch {
	case log.Path() == "" && inv.opts.audit == "-":
		return inv.fail(usagef("--audit - writes to standard error, and keeps nothing to show"))
	case log.Path() == "":
		return inv.fail(fmt.Errorf("there is no audit: neither XDG_STATE_HOME nor HOME is set"))
	}
	if _, err := os.Stat(log.Path()); inv.opts.audit != "" && errors.Is(err, fs.ErrNotExist) {
		return inv.fail(fmt.Errorf("there is no audit at %s", wire.Clean(log.Path())))
	}
	acts, err := audit.Read(log.Path(), inv.opts.max)
	if err != nil {
		return inv.fail(err)
	}
	if acts.Torn > 0 {
		inv.warn(fmt.Sprintf("%d lines of %s cannot be read", acts.Torn, log.Path()))
	}
	if acts.More {
		inv.warn("there are older ones than those that are shown")
	}
	if inv.opts.json {
		return inv.auditJSON(acts)
	}
	if len(acts.List) == 0 {
		fmt.Fprintf(inv.out, "nothing was changed yet (%s)\n", log.Path())
	}
	for i, a := range acts.List {
		if i > 0 {
			fmt.Fprintln(inv.out)
		}
		inv.printAct(a)
	}
	return exitOK
}

func (inv *invocation) auditJSON(acts audit.Acts) int {
	enc := json.NewEncoder(inv.out)
	enc.SetEscapeHTML(false)
	for _, a := range acts.List {
		for _, l := range []*audit.Line{a.Intent, a.Result} {
			if l == nil {
				continue
			}
			if err := enc.Encode(l); err != nil {
				return inv.fail(err)
			}
		}
	}
	return exitOK
}

// printAct prints one act in a few lines. Everything in it once came from
// outside, and may have been edited since.
func (inv *invocation) printAct(a audit.Act) {
	word := "NO OUTCOME was written: look at the lock"
	if a.Result != nil {
		word = wire.Clean(a.Result.Outcome)
	}
	if a.Intent == nil {
		fmt.Fprintf(inv.out, "%s  %s (its intent is not in what was read)\n", a.Result.At.UTC().Format(timeLayout), word)
		return
	}
	w := a.Intent
	name := wire.Clean(w.Key)
	if w.Field != nil {
		name += "#" + wire.Clean(*w.Field)
	}
	fmt.Fprintf(inv.out, "%s  %s %s  %s\n", a.Intent.At.UTC().Format(timeLayout), wire.Clean(w.Verb), name, word)
	row := func(label, text string) {
		if text != "" {
			fmt.Fprintf(inv.out, "  %-8s %s\n", label, wire.Clean(text))
		}
	}
	var ids []string
	for _, h := range w.Holders {
		ids = append(ids, h.ID)
	}
	row("holder", strings.Join(ids, ", "))
	row("library", w.Family)
	row("on", fmt.Sprintf("%s db %d%s", w.Target, w.DB, inBrackets(w.Env)))
	row("by", fmt.Sprintf("%s on %s, as Redis user %s", w.OSUser, w.Host, orUnknown(w.RedisUser)))
	row("reason", w.Reason)
	row("evidence", w.Evidence)
	if a.Result != nil {
		row("error", a.Result.Error)
		row("then", thenText(a.Result.Result))
	}
}

const timeLayout = "2006-01-02 15:04:05Z"

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func thenText(r *audit.Result) string {
	if len(r.Now) == 0 {
		return ""
	}
	return "held by " + strings.Join(r.Now, ", ")
}
