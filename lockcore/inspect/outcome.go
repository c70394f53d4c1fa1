package inspect

import (
	"cmp"
	"time"

	"fencepost/lockcore/wire"
)

// Word is what became of a plan, as contract.md prints it.
type Word string

// The outcomes. Unknown: the reply was lost, and nothing proves what happened.
// Partial: done on some keys or masters of the lock only.
const (
	Released Word = "RELEASED"
	TTLSet   Word = "TTL SET"
	Held     Word = "HELD" // for the operator
	Gone     Word = "GONE"
	Changed  Word = "CHANGED"
	Refused  Word = "REFUSED"
	Unknown  Word = "UNKNOWN"
	Partial  Word = "PARTIAL"
	Failed   Word = "ERROR" // nothing was sent
)

// Done reports whether the plan did what it says.
func (w Word) Done() bool { return w == Released || w == TTLSet || w == Held }

// word is what an act is called when it was done.
func (a Act) word() Word {
	return [...]Word{Release: Released, SetTTL: TTLSet, Hold: Held}[a]
}

// Outcome is what became of a plan, and what is there now.
type Outcome struct {
	Word Word
	// Why says what was not as seen, where Word is Changed; "" where the server
	// did not tell.
	Why wire.Why
	// Told is how many receivers the wake-up reached; wire.ToldFailed where the
	// server refused it (ToldErr says why), wire.ToldNobody where there was
	// nobody to tell.
	Told    int64
	ToldErr string
	// Now is what holds the key afterwards, by a look of its own; nil where
	// nobody does. NowErr is why that look failed.
	Now    []Lock
	NowErr error
	// Receipt says that a lost reply was proven by the key that the script left.
	Receipt bool
	// CalledOff says, of a lost reply, that the command had not run and cannot run
	// any more. Otherwise, where Word is Unknown, it may still.
	CalledOff bool
	Err       error // for Refused, Unknown, Partial and Failed: safe to print by Detail
	// Steps are the steps that were sent, and what became of each.
	Steps []StepOutcome
	// At is when the server had done it, by this machine's clock, at the latest.
	At time.Time
}

// StepOutcome is what became of one step.
type StepOutcome struct {
	Step      Step // as it was sent: without a receipt, where none may be written
	Word      Word
	Why       wire.Why
	Now       wire.Raw // what stands in the place of what was seen, when changed
	Told      int64
	ToldErr   string
	Receipt   bool
	CalledOff bool
	// Plainly says that it was done between WATCH and EXEC, because this user may
	// run no scripts.
	Plainly bool
	Err     error
}

// RefuseBecause is the outcome of a plan that was not carried out at all.
func RefuseBecause(err error) Outcome {
	return Outcome{Word: Refused, Told: wire.ToldNobody, Err: err}
}

// add takes a step's outcome in, and reports whether to go on. One surprise
// before anything was done ends the plan; after that the rest is still done, as
// half a release helps nobody.
func (o *Outcome) add(s StepOutcome, act Act) (more bool) {
	o.Steps = append(o.Steps, s)
	o.tell(s)
	switch before := o.Word; {
	case before == "":
		o.Word, o.Why, o.Receipt, o.CalledOff, o.Err = s.Word, s.Why, s.Receipt, s.CalledOff, s.Err
	case s.Word == before, s.Word == Gone && before != Unknown, s.Step.After && s.Word.Done():
	case before == Gone && s.Word == act.word():
		o.Word, o.Receipt = s.Word, s.Receipt
	default:
		o.Word, o.Err = Partial, cmp.Or(o.Err, s.Err)
		if s.Word == Changed {
			o.Why = s.Why
		}
	}
	return o.Word.Done() || o.Word == Gone || o.Word == Partial
}

// tell adds up who was told. A failure is not hidden by an earlier success.
func (o *Outcome) tell(s StepOutcome) {
	switch {
	case s.Told == wire.ToldNobody:
	case s.Told == wire.ToldFailed:
		o.Told, o.ToldErr = s.Told, s.ToldErr
	case o.Told == wire.ToldNobody:
		o.Told = s.Told
	case o.Told >= 0:
		o.Told += s.Told
	}
}

// file reads the answer of a release script into a step's outcome.
func (s *StepOutcome) file(reply any, done Word) {
	r, err := wire.ParseRelease(reply)
	if err != nil {
		s.Word, s.Err = Unknown, err
		return
	}
	s.answer(r, done)
}

func (s *StepOutcome) answer(r wire.ReleaseReply, done Word) {
	switch r.Status {
	case wire.ReleaseDone:
		s.Word, s.Told, s.ToldErr = done, r.Told, wire.Clean(r.Err)
	case wire.ReleaseGone:
		s.Word = Gone
	case wire.ReleaseHalf:
		s.Word, s.Err = Partial, errText(r.Err)
	case wire.ReleaseOff:
		s.Word, s.CalledOff = Unknown, true
	default:
		s.Word, s.Why, s.Now = Changed, r.Why, r.Now
	}
}

// errText is an error whose text came from a server.
type errText string

func (e errText) Error() string { return wire.Clean(string(e)) }
