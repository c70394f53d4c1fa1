package inspect

import (
	"fmt"

	"fencepost/lockcore/wire"
)

// Word is what became of a release, as contract.md prints it.
type Word string

// The outcomes. Unknown: the reply was lost, and nothing proves what happened.
const (
	Released Word = "RELEASED"
	Gone     Word = "GONE"
	Changed  Word = "CHANGED"
	Refused  Word = "REFUSED"
	Unknown  Word = "UNKNOWN"
	Partial  Word = "PARTIAL"
	Failed   Word = "ERROR" // nothing was sent
)

// Outcome is what became of a plan, and what is there now.
type Outcome struct {
	Word Word
	// Told is how many receivers the wake-up reached; wire.ToldFailed where the
	// server refused it (ToldErr says why), wire.ToldNobody where the family's
	// waiters poll.
	Told    int64
	ToldErr string
	// Now is what holds the key after the release, by a look of its own; nil
	// where nobody does. NowErr is why that look failed.
	Now    []Lock
	NowErr error
	// Receipt says that a lost reply was proven by the key that the script left.
	Receipt bool
	Err     error // for Refused, Unknown and Failed: safe to print
}

// Detail is the outcome in one line for people, without its first word.
func (o *Outcome) Detail(p *Plan) string {
	key := p.Lock.Key
	switch o.Word {
	case Released:
		return fmt.Sprintf("%s: %s%s%s", key, holders(p), o.receiptText(), o.waitersText())
	case Gone:
		return fmt.Sprintf("%s: %s no longer held it; nothing was changed%s", key, holders(p), o.nowText())
	case Changed:
		return fmt.Sprintf("%s: somebody else holds it now; nothing was changed%s", key, o.nowText())
	case Refused:
		return fmt.Sprintf("%s: nothing was changed: %s", key, o.errText())
	case Unknown:
		return fmt.Sprintf("%s: the reply was lost (%s)%s", key, o.errText(), o.nowText())
	}
	return fmt.Sprintf("%s: %s", key, o.errText())
}

func holders(p *Plan) string {
	switch {
	case len(p.Holders) == 1 && p.Holders[0].ID == "":
		return "the holder, who left no name,"
	case len(p.Holders) == 1:
		return p.Holders[0].ID.String()
	}
	return fmt.Sprintf("%d holders", len(p.Holders))
}

func (o *Outcome) receiptText() string {
	if o.Receipt {
		return " (the reply was lost; the receipt that the script left proves it)"
	}
	return ""
}

func (o *Outcome) waitersText() string {
	switch {
	case o.Told == wire.ToldFailed:
		return "; waiters could not be told: " + o.ToldErr
	case o.Told == wire.ToldNobody:
		return ""
	case o.Told == 1:
		return "; 1 waiter told"
	}
	return fmt.Sprintf("; %d waiters told", o.Told)
}

func (o *Outcome) nowText() string {
	switch {
	case o.NowErr != nil:
		return "; what is there now could not be read: " + wire.Clean(o.NowErr.Error())
	case len(o.Now) == 0:
		return "; now nobody holds it"
	case len(o.Now[0].Holders) == 0:
		return fmt.Sprintf("; now it is %s", o.Now[0].State)
	case o.Now[0].Holders[0].ID == "":
		return "; now it is held again (the holder leaves no name)"
	}
	return "; now held by " + o.Now[0].Holders[0].ID.String()
}

func (o *Outcome) errText() string {
	if o.Err == nil {
		return "no reason was given"
	}
	return wire.Clean(o.Err.Error())
}
