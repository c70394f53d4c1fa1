package scenario

import (
	"fmt"
	"strconv"
	"time"
)

// Code is what somebody learnt from a step. The words for it are in words/;
// String has those of JSON, which are never translated.
type Code string

// The codes. Who, Number, Left and Value of an Outcome say the rest.
const (
	Granted    Code = "granted"     // Number, where the lock gives one
	Bare       Code = "bare"        // SETNX: taken, without an expiry yet
	AtOnce     Code = "at-once"     // a mutex of the process let it in
	Assumed    Code = "assumed"     // no answer, taken for a yes
	HeldBy     Code = "held"        // Who, Number, Left
	Kept       Code = "kept"        // free, and kept for the waiter whose turn it is
	Denied     Code = "denied"      // nil: somebody has it
	Dead       Code = "dead"        // this token was given up
	NoAnswer   Code = "no-answer"   // the network
	NoServer   Code = "no-server"   // connection refused
	NoConn     Code = "no-conn"     // the pool has none left; nothing was sent
	NotGot     Code = "not-got"     // gave up waiting
	Waiting    Code = "waiting"     // Value: how
	Listening  Code = "listening"   // the subscription is confirmed
	Asleep     Code = "asleep"      //
	Cancelled  Code = "cancelled"   // somebody ended the wait
	InFlight   Code = "in-flight"   // the network holds the request
	Begun      Code = "begun"       // nothing has been sent yet
	Mine       Code = "mine"        // looked: still mine; Left
	Anyway     Code = "anyway"      // goes on without the lock
	Renewed    Code = "renewed"     //
	Other      Code = "other"       // Who, Number
	Gone       Code = "gone"        // nobody has it
	Released   Code = "released"    //
	NotYours   Code = "not-yours"   // somebody else's; it stays
	NothingYet Code = "nothing"     // nothing there
	Evicted    Code = "evicted"     // by an operator; Number where it was raised
	Changed    Code = "changed"     // an operator found another holder: Who, Number
	Seen       Code = "seen"        // an operator saw Who, Number, Left
	Value      Code = "value"       // read Value
	Taken      Code = "taken"       // written Value
	Unnumbered Code = "unnumbered"  // written Value, the guard had no number to compare
	Refused    Code = "refused"     // Number: highest seen; Value: what was to be written
	SplitNum   Code = "split"       // same number, other token
	NoRows     Code = "no-rows"     // the version is another one
	Entered    Code = "entered"     // Number
	Charged    Code = "charged"     // Value: how often now
	Already    Code = "already"     // the first answer again
	FloorAt    Code = "floor"       // Number
	Done       Code = "done"        // no reply to speak of
	OverNow    Code = "over"        // the lease has ended
	StillHeld  Code = "still-held"  // Who, Left
	ThrownOut  Code = "thrown-out"  // evicted by the server
	Full       Code = "full"        // OOM: nothing is thrown out
	Stopped    Code = "stopped"     //
	Empty      Code = "empty"       // is back, empty
	CutOff     Code = "cut-off"     // the replica
	Promoted   Code = "promoted"    //
	Jumped     Code = "jumped"      // the clock; Left: by how much
	Replicas   Code = "replicas"    // Value: how many have it
	NotHere    Code = "not-here"    // this thread does not hold it
	NotBegun   Code = "not-begun"   // not acquired, and said so
	CalledFail Code = "called-fail" // not acquired, reported as a failure of the work
	Broke      Code = "error"       // Value: what Redis said
)

// Outcome is what an actor learnt, in parts.
type Outcome struct {
	Code   Code
	Who    string
	Number string
	Left   time.Duration
	Value  string
	Agreed int // masters of a quorum that said yes; 0 where there is none
}

// String is the outcome in the words of the lab, as JSON has them.
func (o Outcome) String() string {
	who := o.Who
	if o.Number != "" && o.Who != "" {
		who += " " + o.Number
	}
	switch o.Code {
	case Granted:
		return joined("granted", o.Number) + o.agreed()
	case Denied:
		return "denied" + o.agreed()
	case Stopped, Empty:
		return joined(string(o.Code), o.Value)
	case HeldBy:
		if o.Left < 0 {
			return "held by " + who + ", no expiry"
		}
		return "held by " + who + ", " + tenths(o.Left)
	case Bare:
		return "granted, no expiry yet"
	case Kept:
		return "free, kept for another waiter"
	case Mine:
		return "mine, " + tenths(o.Left) + " left"
	case Other:
		return "other: " + who
	case Released:
		return "1 released"
	case NotYours:
		return "0 somebody else's"
	case NothingYet:
		return "-1 nothing there"
	case Renewed:
		return "ok"
	case Changed:
		return "changed: " + or(who, "nobody")
	case Seen:
		return "holder " + who + ", " + tenths(o.Left)
	case Evicted:
		if o.Number != "" {
			return "1 released, number raised to " + o.Number
		}
		return "1 released"
	case Refused:
		return joined("0 seen", o.Number)
	case SplitNum:
		return "-1 same number, other token"
	case NoRows:
		return "0 rows"
	}
	return o.rest(who)
}

func (o Outcome) rest(who string) string {
	switch o.Code {
	case Value:
		return o.Value
	case Entered, FloorAt:
		return joined(string(o.Code), o.Number)
	case Unnumbered:
		return "taken, no number to compare"
	case Already:
		return "already done"
	case NoAnswer:
		return "no answer"
	case NoServer:
		return "connection refused"
	case NoConn:
		return "no connection left in the pool; nothing was sent"
	case NotGot:
		return "not acquired"
	case StillHeld:
		return "still held by " + who + ", " + tenths(o.Left)
	case Full:
		return "OOM, nothing was thrown out"
	case Jumped:
		return fmt.Sprintf("%+d s", int64(o.Left/time.Second))
	case Replicas:
		return o.Value + " replicas have it"
	case NotHere:
		return "0 not this thread's"
	case NotBegun:
		return "not acquired: nothing was begun"
	case CalledFail:
		return "not acquired, reported as failed work"
	case Anyway:
		return "not acquired, works without it"
	case Broke:
		return "error: " + o.Value
	}
	return string(o.Code)
}

// agreed says how many masters of a quorum said yes.
func (o Outcome) agreed() string {
	if o.Agreed == 0 {
		return ""
	}
	return fmt.Sprintf(" by %d of %d", o.Agreed, len(quorumNodes()))
}

func joined(word, number string) string {
	if number == "" {
		return word
	}
	return word + " " + number
}

// tenths writes a length of time as "7.6 s".
func tenths(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// Belief is what an actor would answer if it were asked.
type Belief string

// What actors can think.
const (
	ThinksNothing Belief = "not held"
	ThinksHeld    Belief = "held"
	ThinksAsking  Belief = "asking"
	ThinksWaiting Belief = "waiting"
	ThinksUnknown Belief = "unknown"
	ThinksLost    Belief = "lost"
	ThinksFree    Belief = "needs no lock"
	IsCrashed     Belief = "crashed"
)

// LockState is what Redis says of the lock.
type LockState struct {
	Known   bool // false: nobody could ask
	Held    bool
	Holder  string // an actor's name; "" when the value is nobody's known
	Number  string
	Left    time.Duration
	Forever bool // no expiry of an actor's
}

// String is the state as JSON has it: "B 34, 8300 ms".
func (l LockState) String() string {
	switch {
	case !l.Known:
		return "unreachable"
	case !l.Held:
		return "free"
	}
	who := joined(or(l.Holder, "somebody"), l.Number)
	if l.Forever {
		return who + ", no expiry"
	}
	return who + ", " + strconv.FormatInt(l.Left.Milliseconds(), 10) + " ms"
}
