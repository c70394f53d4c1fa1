package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

func inspectVerb() verb {
	return verb{
		name: "inspect", args: "KEY", short: "everything known about one lock",
		long:    "--explain says of every family of locks why it does or does not claim this key.",
		maxArgs: 1, target: needsTarget, flags: []string{"key-b64", "explain", "json"}, exits: []int{exitGone}, run: runInspect,
	}
}

// seen is all that was read of one key.
type seen struct {
	sample   *family.Sample
	verdicts []family.Verdict
	locks    []inspect.Lock
	holds    []*inspect.HoldNote // of each lock; nil where nobody holds it
	plans    []inspect.Plan      // of each lock: its release
	noPlan   []string
}

func runInspect(ctx context.Context, inv *invocation) int {
	key, err := inv.oneKey()
	if err != nil {
		return inv.fail(err)
	}
	t, code := inv.open(ctx)
	if t == nil {
		return code
	}
	defer t.Close()
	in, closing, err := inv.inspector(ctx, t)
	if err != nil {
		return inv.fail(err)
	}
	defer closing()
	s, err := inv.see(ctx, in, key)
	if err != nil {
		return inv.fail(fmt.Errorf("the key cannot be read: %s", wire.Clean(err.Error())))
	}
	if inv.opts.json {
		if err := inv.printJSON(s.doc(t, key, inv.opts.explain)); err != nil {
			return inv.fail(err)
		}
	} else {
		inv.printSeen(s, key)
	}
	if s.sample.Type == family.None && len(s.locks) == 0 {
		return exitGone
	}
	return exitOK
}

// oneKey is the key that was named, as text or in base64.
func (inv *invocation) oneKey() (string, error) {
	switch {
	case len(inv.args) == 1 && inv.opts.keyB64 == "":
		return inv.args[0], nil
	case len(inv.args) == 1:
		return "", usagef("--key-b64 is the key: leave out the other one")
	case inv.opts.keyB64 == "":
		return "", usagef("it is: %s", inv.verb.synopsis())
	}
	key, err := base64.StdEncoding.DecodeString(inv.opts.keyB64)
	if err != nil {
		return "", usagef("--key-b64 takes base64, as list --json shows it in key_b64")
	}
	return string(key), nil
}

func (inv *invocation) see(ctx context.Context, in *inspect.Inspector, key string) (seen, error) {
	ctx, cancel := inv.step(ctx)
	defer cancel()
	db := in.Nodes()[0].DB
	var s seen
	var err error
	// The raw look comes first: it asks for the idle time, which reading resets.
	if s.sample, s.verdicts, err = in.Explain(ctx, db, key); err != nil {
		return s, err
	}
	if s.locks, err = in.LookKey(ctx, db, key); err != nil {
		return s, err
	}
	if s.sample.Type == family.None && len(s.locks) == 0 {
		_, err = in.Exists(ctx, db, key) // what cannot be read is not taken for gone
		return s, err
	}
	for i := range s.locks {
		note, err := in.HoldOf(ctx, &s.locks[i])
		if err != nil {
			return s, err
		}
		p, err := in.PlanRelease(s.locks[i])
		why := ""
		if err != nil {
			why = strings.TrimPrefix(err.Error(), "inspect: ")
		}
		s.holds, s.plans, s.noPlan = append(s.holds, note), append(s.plans, p), append(s.noPlan, why)
	}
	return s, nil
}

// rows prints what has a value, one thing a line.
func (inv *invocation) row(name, text string) {
	if text != "" {
		fmt.Fprintf(inv.out, "  %-12s %s\n", name, text)
	}
}

func (inv *invocation) printSeen(s seen, key string) {
	now := time.Now()
	for i := range s.locks {
		if i > 0 {
			fmt.Fprintln(inv.out)
		}
		inv.printLock(&s.locks[i], now)
		inv.printActs(&s, i)
	}
	switch {
	case len(s.locks) > 0:
	case s.sample.Type == family.None:
		fmt.Fprintf(inv.out, "%s: there is no such key%s\n", wire.Escape(key), escapedHint(key))
	default:
		fmt.Fprintf(inv.out, "%s: no lock of any library that is known (--explain says why)\n", wire.Escape(key))
	}
	if s.sample.Type != family.None {
		inv.printRaw(s.sample)
	}
	if inv.opts.explain {
		inv.printVerdicts(s.verdicts)
	}
}

func (inv *invocation) printLock(l *inspect.Lock, now time.Time) {
	fmt.Fprintln(inv.out, l.Name())
	inv.row("library", fmt.Sprintf("%s (%s, %s)", wire.Clean(l.Label), l.Family, l.Confidence))
	inv.row("may also be", strings.Join(l.Candidates, ", "))
	inv.row("kind", fmt.Sprintf("%s, %s", l.Kind, l.State))
	if l.Resource != l.Key {
		inv.row("resource", l.Resource.String())
	}
	inv.row("where", fmt.Sprintf("%s, db %d", wire.Escape(l.Node), l.DB))
	for _, h := range l.Holders {
		inv.row("holder", inspect.HolderText(h, now))
	}
	if l.State != family.Free { // else there is no hold that could end
		inv.row("ends", l.Expiry(now))
	}
	inv.row("evidence", l.Evidence(now))
	inv.row("fence", l.Fence)
	if w := l.Waiters; w != nil {
		inv.row("waiters", waiterText(w))
	}
	for _, c := range l.Companions {
		inv.row("companion", c.String())
	}
	for _, w := range l.Warnings {
		inv.row("warning", wire.Clean(w.Text)+" ("+w.Code+")")
	}
	inv.row("if released", l.Afterwards())
}

func waiterText(w *family.Waiters) string {
	text := "there are some"
	if w.Count >= 0 {
		text = fmt.Sprint(w.Count)
	}
	text += " (" + w.How + ")"
	for _, id := range w.IDs {
		text += " " + id.String()
	}
	return text
}

// printActs prints what can be done to a lock, and who holds it on purpose.
func (inv *invocation) printActs(s *seen, i int) {
	if note := s.holds[i]; note != nil {
		inv.row("on hold", fmt.Sprintf("by %s until %s: %s", wire.Clean(note.By), note.Until.UTC().Format(time.RFC3339), wire.Clean(note.Reason)))
	}
	inv.row("no release", wire.Clean(s.noPlan[i]))
	for n, step := range s.plans[i].Steps {
		inv.row(fmt.Sprintf("release, %d", n+1), step.Says)
	}
	inv.row("guard", s.plans[i].Guard.String())
}

// rawMost is how many entries, and bytes of a value, are printed.
const rawMost = 32

func (inv *invocation) printRaw(sm *family.Sample) {
	fmt.Fprintf(inv.out, "\nwhat stands there: %s of %d\n", sm.Type, sm.Len)
	if sm.HasIdle {
		idle := "for less than 1 s" // the server counts whole seconds
		if sm.Idle > 0 {
			idle = "for " + inspect.Span(sm.Idle*1000)
		}
		inv.row("untouched", idle+" before this look")
	}
	if sm.Type == family.String {
		inv.row("value", wire.Escape(sm.Value[:min(len(sm.Value), 16*rawMost)]))
	}
	for i, p := range sm.Pairs {
		if i == rawMost {
			inv.row("…", fmt.Sprintf("%d more", sm.Len-rawMost))
			break
		}
		inv.row("entry", strings.TrimSpace(wire.Escape(p.A)+" "+wire.Escape(p.B)))
	}
}

func (inv *invocation) printVerdicts(vs []family.Verdict) {
	fmt.Fprintln(inv.out, "\nwhich rules were tried on this key")
	for _, v := range vs {
		mark := "no "
		if len(v.Claims) > 0 {
			mark = "yes"
		}
		fmt.Fprintf(inv.out, "  %s %-22s %s\n", mark, v.Family.ID, wire.Clean(v.Why))
	}
}
