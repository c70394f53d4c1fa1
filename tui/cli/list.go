package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/target"
	"fencepost/lockcore/wire"
)

// listVerb prints the live locks once.
func listVerb() verb {
	return verb{
		name: "list", short: "print the live locks once",
		long: "The last line says what was looked at, so that an empty list can be believed.\n" +
			"Exit 8 when not everything could be.",
		target: needsTarget, flags: []string{string(groupLook), "json"}, exits: []int{exitIncomplete}, run: runList,
	}
}

func runList(ctx context.Context, inv *invocation) int {
	if _, err := inv.query(); err != nil { // before anything is connected to
		return inv.fail(err)
	}
	t, code := inv.open(ctx)
	if t == nil {
		return code
	}
	defer t.Close()
	locks, cov, err := inv.collect(ctx, t)
	if err != nil {
		return inv.fail(err)
	}
	if inv.opts.json {
		err = inv.printListJSON(t, locks, cov)
	} else {
		inv.printList(t, locks, cov)
	}
	switch {
	case err != nil:
		return inv.fail(err)
	case !cov.Complete:
		return exitIncomplete
	}
	return exitOK
}

// collect scans once and returns what the flags ask for, in order.
func (inv *invocation) collect(ctx context.Context, t *target.Target) ([]inspect.Lock, inspect.Coverage, error) {
	shareProcessors()
	q, err := inv.query()
	if err != nil {
		return nil, inspect.Coverage{}, err
	}
	in, closing, err := inv.inspector(ctx, t)
	if err != nil {
		return nil, inspect.Coverage{}, err
	}
	defer closing()
	found := map[string]inspect.Lock{}
	cov, err := in.Scan(ctx, q, func(p inspect.Progress) bool {
		for _, l := range p.Found {
			found[l.Node+" "+l.RowID()] = l // a later look at the same row knows more
		}
		return true
	})
	if err != nil {
		return nil, cov, err
	}
	if t.Info.Mode == target.Cluster && cov.Nodes == 1 {
		cov.Nodes = max(1, t.Info.Nodes) // --single looks at one of them
	}
	now := time.Now()
	locks := make([]inspect.Lock, 0, len(found))
	for _, l := range found {
		if inv.wanted(&l, now) {
			locks = append(locks, l)
		}
	}
	sortLocks(locks)
	inspect.Relate(locks)
	return locks, cov, nil
}

func (inv *invocation) printList(t *target.Target, locks []inspect.Lock, cov inspect.Coverage) {
	if len(locks) > 0 {
		writeTable(inv.out, locks, time.Now(), inv.width())
		fmt.Fprintln(inv.out)
	}
	for _, line := range t.Info.Unknown {
		fmt.Fprintln(inv.err, "fencepost:", wire.Clean(line))
	}
	for _, line := range cov.Errors {
		fmt.Fprintln(inv.err, "fencepost:", line)
	}
	fmt.Fprintln(inv.out, coverageLine(cov, len(locks)))
}

func (inv *invocation) printListJSON(t *target.Target, locks []inspect.Lock, cov inspect.Coverage) error {
	doc := listDoc{
		Schema: "fencepost/list/1", Server: newServerDoc(t), Coverage: newCoverageDoc(cov), Locks: make([]lockDoc, len(locks)),
	}
	for i := range locks {
		doc.Locks[i] = newLockDoc(&locks[i])
	}
	return inv.printJSON(doc)
}

// printJSON prints one document. It is indented for the eye on a terminal and
// one line elsewhere; < > & stand as they are.
func (inv *invocation) printJSON(doc any) error {
	enc := json.NewEncoder(inv.out)
	enc.SetEscapeHTML(false)
	if inv.isTerminal(inv.out) {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(doc)
}

func newServerDoc(t *target.Target) serverDoc {
	in := &t.Info
	d := serverDoc{
		Addr: t.Addr(), Mode: in.Mode, Role: in.Role, Version: in.Version, User: in.User, Env: in.Env,
		Unknown: list(in.Unknown),
	}
	if in.HasTime {
		ms := in.TimeOffset.Milliseconds()
		d.TimeOffsetMS = &ms
	}
	return d
}
