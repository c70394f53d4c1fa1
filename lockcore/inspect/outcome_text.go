package inspect

import (
	"fmt"
	"strings"

	"fencepost/lockcore/wire"
)

// Detail is the outcome in one line for people, without its first word.
func (o *Outcome) Detail(p *Plan) string {
	key := p.Lock.Key
	if p.Lock.HasField {
		key += "#" + p.Lock.Field
	}
	return key.String() + ": " + o.sentence(p)
}

func (o *Outcome) sentence(p *Plan) string {
	switch o.Word {
	case Released:
		if len(p.Holders) == 0 {
			return "cleaned up" + o.receiptText() + o.waitersText(p)
		}
		return holders(p) + o.receiptText() + o.waitersText(p)
	case TTLSet:
		return fmt.Sprintf("%s has it for %s from now%s%s", holders(p), Span(p.hold.life), o.receiptText(), o.waitersText(p))
	case Held:
		return fmt.Sprintf("%s is out; the operator has it for %s%s", holders(p), Span(p.hold.life), o.receiptText())
	case Gone:
		return holders(p) + " no longer held it; nothing was changed" + o.nowText()
	case Changed:
		return whyText(o.Why) + "; nothing was changed" + o.nowText()
	case Refused, Failed:
		return "nothing was changed: " + o.errText()
	case Unknown:
		return o.lostText() + o.nowText()
	case Partial:
		return o.partText() + o.nowText()
	}
	return o.errText()
}

func holders(p *Plan) string {
	switch {
	case len(p.Holders) == 1 && p.Holders[0].ID == "" && p.Holders[0].Label != "":
		return "the holder of " + p.Holders[0].Label
	case len(p.Holders) == 1 && p.Holders[0].ID == "":
		return "the holder (who left no name)"
	case len(p.Holders) == 1:
		return p.Holders[0].ID.String()
	case len(p.Holders) == 0:
		return "the ones who waited"
	}
	return fmt.Sprintf("%d holders", len(p.Holders))
}

// whyText says what is not as it was seen. Only a holder of another name is
// said to be another one.
func whyText(why wire.Why) string {
	switch why {
	case wire.WhyOthers:
		return "others hold it too by now"
	case wire.WhyType:
		return "something of another type stands there now"
	case wire.WhyFence:
		return "it was taken again under the same holder's id: its fencing number has moved"
	case wire.WhyDeadline:
		return "its deadline has moved: renewed, or taken again under the same holder's id"
	}
	return "somebody else holds it now"
}

func (o *Outcome) receiptText() string {
	if o.Receipt {
		return " (the reply was lost; the receipt that the script left proves it)"
	}
	return ""
}

func (o *Outcome) waitersText(p *Plan) string {
	switch {
	case o.Told == wire.ToldFailed:
		return "; waiters could not be told: " + o.ToldErr
	case o.Told == wire.ToldNobody:
		return ""
	case p.pushes():
		return "; the signal that waiters block on is there"
	case o.Told == 0 && p.Lock.reading.Waiters == nil:
		return ""
	case o.Told == 0:
		return "; nobody listened" + p.whereText()
	case o.Told == 1:
		return "; 1 waiting client told" + p.whereText()
	}
	return fmt.Sprintf("; %d waiting clients told%s", o.Told, p.whereText())
}

// pushes reports whether the plan wakes by an element in a list.
func (p *Plan) pushes() bool {
	for _, s := range p.Steps {
		if v := s.Call.Wake().Verb; v == wire.WakePush || v == wire.WakeReset || s.Call.Name == "LPUSH" {
			return true
		}
	}
	return false
}

// whereText: a node of a Cluster counts the receivers that are connected to it.
func (p *Plan) whereText() string {
	for _, s := range p.Steps {
		if s.Call.Wake().Verb == wire.WakeBoth || s.Call.Name == "SPUBLISH" {
			return " on this node; others were told too"
		}
	}
	return ""
}

func (o *Outcome) lostText() string {
	text := "the reply was lost (" + o.errText() + "); "
	if o.CalledOff {
		return text + "the command had not run and was called off: it cannot run any more"
	}
	return text + "the command may have run, or may still run"
}

func (o *Outcome) partText() string {
	var parts []string
	for i, s := range o.Steps {
		text := fmt.Sprintf("step %d (%s): %s", i+1, s.Step.Says, strings.ToLower(string(s.Word)))
		if s.Word == Changed {
			text += ", " + whyText(s.Why)
		}
		if s.Err != nil {
			text += ", " + wire.Clean(s.Err.Error())
		}
		parts = append(parts, text)
	}
	return "done in part only: " + strings.Join(parts, "; ")
}

func (o *Outcome) nowText() string {
	switch {
	case o.NowErr != nil:
		return "; what is there now could not be read: " + reasonOf(o.NowErr)
	case len(o.Now) == 0:
		return "; now nobody holds it"
	case len(o.Now[0].Holders) == 0:
		return fmt.Sprintf("; now it is %s", o.Now[0].State)
	case o.Now[0].Holders[0].ID == "":
		return "; now it is held (the holder leaves no name)"
	}
	return "; now held by " + o.Now[0].HolderWords()
}

func (o *Outcome) errText() string {
	if o.Err == nil {
		return "no reason was given"
	}
	if words, ok := Reason(o.Err); ok && o.Word == Failed { // a server that refused says best why
		return words
	}
	return wire.Clean(o.Err.Error())
}
