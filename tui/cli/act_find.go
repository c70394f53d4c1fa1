package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// selects reports whether flags choose the locks, not a key.
func (inv *invocation) selects() bool {
	return len(inv.opts.match) > 0 || inv.opts.noExpiry || inv.opts.heldLongerThan > 0 || len(inv.opts.family) > 0
}

// readFlags takes key and holders from the command line, and refuses what does
// not go together, before anything is connected to.
func (a *act) readFlags() error {
	o := &a.opts
	if err := a.readKey(); err != nil {
		return err
	}
	for _, id := range o.ifHolder {
		a.holders = append(a.holders, wire.Raw(id))
	}
	for _, text := range o.ifHolderB64 {
		id, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return usagef("--if-holder-b64 takes base64, as list --json shows it in id_b64")
		}
		a.holders = append(a.holders, wire.Raw(id))
	}
	switch {
	case o.allHolders && len(a.holders) == 0:
		return usagef("--all-holders compares the holders given with all there are: name them by --if-holder")
	case a.selecting && (len(a.holders) > 0 || o.field != nil):
		return usagef("each of several locks is compared with the holder found: leave out --if-holder and --field")
	case o.dryRun:
		return nil
	case o.yes && !a.namesHolder():
		return usagef("--yes without --if-holder would act on whoever holds it by then: name who must still hold it")
	case !a.isTerminal(a.in) && (!o.yes || o.reason == "") && a.verb.name == "unhold":
		return usagef("without a terminal, --reason and --yes must be given")
	case !a.isTerminal(a.in) && (!o.yes || o.reason == ""):
		return usagef("without a terminal, who must still hold it (--if-holder), --reason and --yes must all be given")
	}
	return nil
}

// namesHolder reports whether it is said who must still hold the lock: by name,
// by a list to compare with, or by the verb itself, which acts on a hold only.
func (a *act) namesHolder() bool {
	return len(a.holders) > 0 || a.selecting || a.verb.name == "unhold"
}

// readKey is the key, or the reason why there is none.
func (a *act) readKey() error {
	o := &a.opts
	a.selecting = a.selects() // before a profile brings patterns of its own
	switch {
	case a.selecting && (a.key != "" || o.keyB64 != ""):
		return usagef("either a KEY or selectors (--match, --family, --no-expiry, --held-longer-than), not both")
	case a.selecting:
		return nil
	case o.keyB64 != "" && a.key != "":
		return usagef("--key-b64 is the key: leave out the other one")
	case o.keyB64 != "":
		key, err := base64.StdEncoding.DecodeString(o.keyB64)
		if err != nil {
			return usagef("--key-b64 takes base64, as list --json shows it in key_b64")
		}
		a.key = string(key)
	}
	if a.key == "" {
		return usagef("it is: %s", a.verb.synopsis())
	}
	return nil
}

// find looks for the lock and the holders that were named. Where there is
// nothing to act on, it says so, and the lock is nil: exit with code.
func (a *act) find(ctx context.Context) (l *inspect.Lock, holders []wire.Raw, code int) {
	locks, code := a.look(ctx)
	if locks == nil {
		return nil, nil, code
	}
	if l, code = a.pick(locks); l == nil {
		return nil, nil, code
	}
	holders, missing := a.match(l)
	switch {
	case l.State == family.Free && len(l.Holders) == 0 && slices.Equal(a.holders, []wire.Raw{""}):
		return l, nil, exitOK // nobody is to hold it, and nobody does
	case l.State == family.Held && len(l.Holders) == 0:
		return l, nil, exitOK // who holds it is not recorded: no plan can be made, which says so
	case len(missing) > 0 && len(l.Holders) == 0:
		hint := ""
		if l.State == family.Free {
			hint = " (--if-holder '' takes away what is left of it)"
		}
		a.say(inspect.Gone, l, fmt.Sprintf("%s no longer holds it; nobody does%s", missing[0], hint))
		return nil, nil, exitGone
	case len(missing) > 0:
		a.say(inspect.Changed, l, fmt.Sprintf("%s does not hold it; nothing was changed; it is held by %s", missing[0], l.HolderWords()))
		return nil, nil, exitChanged
	case a.opts.allHolders && len(holders) < len(l.Holders):
		a.say(inspect.Changed, l, fmt.Sprintf("%d hold it, and %d were named; nothing was changed", len(l.Holders), len(holders)))
		return nil, nil, exitChanged
	}
	return l, holders, exitOK
}

// db is the database that the target has selected.
func (a *act) db() int { return a.insp.Nodes()[0].DB }

func (a *act) say(w inspect.Word, l *inspect.Lock, text string) {
	fmt.Fprintf(a.out, "%s %s: %s\n", w, l.Name(), text)
}

// look reads what is at the key. nil: there is nothing; exit with code.
func (a *act) look(ctx context.Context) ([]inspect.Lock, int) {
	ctx, cancel := a.step(ctx)
	defer cancel()
	locks, err := a.insp.LookKey(ctx, a.db(), a.key)
	switch {
	case err != nil:
		return nil, a.unread("lock", err)
	case len(locks) > 0:
		return locks, exitOK
	}
	there, err := a.insp.Exists(ctx, a.db(), a.key)
	key := wire.Escape(a.key)
	switch {
	case err != nil:
		return nil, a.unread("key", err)
	case there:
		return nil, a.fail(fmt.Errorf("%s is there, and it is no lock of any library that is known; nothing was changed", key))
	}
	fmt.Fprintf(a.out, "%s %s: there is no such key%s\n", inspect.Gone, key, escapedHint(a.key))
	return nil, exitGone
}

// unread says why nothing is known of the lock, and so nothing is done.
func (a *act) unread(what string, err error) int {
	if inspect.Forbidden(err) {
		fmt.Fprintf(a.out, "%s %s: nothing was changed: the %s cannot be read: %s\n", inspect.Refused, wire.Escape(a.key), what, wire.Clean(err.Error()))
		return exitRefused
	}
	return a.fail(fmt.Errorf("the %s cannot be read: %s", what, wire.Clean(err.Error())))
}

// escapedHint is for a key that may have been copied from what list shows.
func escapedHint(key string) string {
	if !strings.Contains(key, `\`) {
		return ""
	}
	return " (list shows keys escaped: --key-b64 takes them as they are)"
}

// pick chooses the lock at a key: a hash may have several, each in a field.
func (a *act) pick(locks []inspect.Lock) (*inspect.Lock, int) {
	var fields []string
	for i := range locks {
		l := &locks[i]
		switch {
		case !l.HasField && a.opts.field == nil:
			return l, exitOK
		case l.HasField && a.opts.field != nil && (string(l.Field) == *a.opts.field || l.Field.String() == *a.opts.field):
			return l, exitOK
		case l.HasField:
			fields = append(fields, l.Field.String())
		}
	}
	if a.opts.field == nil {
		return nil, a.fail(usagef("the lock is a field of this hash: name it by --field; there are: %s", strings.Join(fields, ", ")))
	}
	if len(fields) == 0 {
		return nil, a.fail(usagef("the lock is the whole key, not a field of it: leave out --field"))
	}
	fmt.Fprintf(a.out, "%s %s: there is no lock in this field\n", inspect.Gone, wire.Escape(a.key+"#"+*a.opts.field))
	return nil, exitGone
}

// match finds the holders that were named among those of the lock; missing are
// the ones that do not hold it. An id may be given as it is, or as list shows it;
// a holder without one is named by its label, or by the words that stand for none.
func (a *act) match(l *inspect.Lock) (holders, missing []wire.Raw) {
	for _, given := range a.holders {
		as := func(same func(h family.Holder) bool) int { return slices.IndexFunc(l.Holders, same) }
		i := as(func(h family.Holder) bool { return h.ID == given })
		if i < 0 {
			i = as(func(h family.Holder) bool { return h.ID.String() == string(given) })
		}
		if i < 0 {
			i = as(func(h family.Holder) bool { return h.ID == "" && h.Label == string(given) })
		}
		if i < 0 && given == inspect.NoName {
			i, given = as(func(h family.Holder) bool { return h.ID == "" && h.Label == "" }), ""
		}
		if i < 0 {
			missing = append(missing, given)
			continue
		}
		name := l.Holders[i].ID
		if name == "" {
			name = given // as the lock tells several apart
		}
		if !slices.Contains(holders, name) {
			holders = append(holders, name)
		}
	}
	return holders, missing
}
