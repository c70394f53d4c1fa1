package scenario

// Verb is what an actor does in a step.
type Verb string

// The verbs of a story's steps. See grammar for what each takes.
const (
	Acquire   Verb = "acquire"   // ask for the lock once, as the switch acquire says
	Try       Verb = "try"       // acquire by one that goes on waiting when it fails
	LastTry   Verb = "last-try"  // try, and give up when it fails
	Wait      Verb = "wait"      // acquire and wait, as the switch wait says
	Subscribe Verb = "subscribe" // listen for the release
	Sleep     Verb = "sleep"     // wait for what was subscribed to
	Cancel    Verb = "cancel"    // somebody ends the wait
	Resume    Verb = "resume"    // finish what was begun
	Resend    Verb = "resend"    // the client library sends the last request again
	Told      Verb = "told"      // the library's answer reaches the actor's code
	GiveUp    Verb = "give-up"   // stop asking, and clean up
	Again     Verb = "again"     // release, and acquire anew
	Renew     Verb = "renew"
	Release   Verb = "release"
	AskHeld   Verb = "ask-held" // "do I hold it?"

	Read   Verb = "read"
	Write  Verb = "write" // write this value
	Take   Verb = "take"  // write what was read less this
	Put    Verb = "put"   // write without asking for any lock
	Enter  Verb = "enter" // show the number to the guard
	Check  Verb = "check" // look whether the lock is still mine
	Pay    Verb = "pay"   // ask a service that compares nothing
	Mark   Verb = "mark"  // write "paid"
	Report Verb = "report"
	Floor  Verb = "floor" // read what the guard has seen, for the next acquire

	Work  Verb = "work"  // go on, without a stop
	Stall Verb = "stall" // the worker is stuck; its process lives
	Pause Verb = "pause" // the whole process stops
	Wake  Verb = "wake"
	Crash Verb = "crash"
	Fail  Verb = "fail"  // the work fails before the unlock
	Leave Verb = "leave" // stop being inside without an unlock
	Hand  Verb = "hand"  // give the work and the unlock to another
	Block Verb = "block" // take a connection of the pool

	Split   Verb = "split" // cut an actor off from the lock server
	Heal    Verb = "heal"
	Deliver Verb = "deliver" // let a held request through

	Over    Verb = "over"    // look: the lease has ended
	Fill    Verb = "fill"    // fill the memory until a key is thrown out
	Stop    Verb = "stop"    // the server stops, or that master of a quorum
	Start   Verb = "start"   // it comes back, empty
	Detach  Verb = "detach"  // the replica hears of nothing any more
	Promote Verb = "promote" // the replica becomes the server
	Clock   Verb = "clock"   // the server's clock jumps
	Settle  Verb = "settle"  // let time pass until here

	Look   Verb = "look"   // an operator looks at the lock
	Delete Verb = "delete" // an operator deletes it, as the switch release says
	Evict  Verb = "evict"  // an operator releases what it saw, as the switch number says
)

// takes says what stands behind a verb.
type takes int

const (
	nothing takes = iota
	seconds       // a length of time, required
	maybe         // a length of time, or nothing
	amount        // a whole number
	signed        // seconds with a sign
	someone       // an actor's name
	aKey          // "lock" or "number"
	aNode         // a master of a quorum, or nothing
)

// rule of the grammar for one verb.
type grammar struct {
	takes  takes
	inside bool // needs an actor that believes it is inside; else the step does not happen
	begins bool // "begin" may stand before it
	who    who
}

type who int

const (
	people   who = iota // an actor
	network             // N
	server              // -
	operator            // any actor; it is an operator from then on
)

// verbs is the closed list.
func verbs() map[Verb]grammar {
	return map[Verb]grammar{
		Acquire: {begins: true}, Try: {}, LastTry: {}, Wait: {takes: maybe}, Subscribe: {}, Sleep: {}, Cancel: {},
		Resume: {}, Resend: {}, Told: {}, GiveUp: {}, Again: {inside: true},
		Renew: {}, Release: {inside: true, begins: true}, AskHeld: {inside: true},
		Read: {inside: true}, Write: {takes: amount, inside: true, begins: true},
		Take: {takes: amount, inside: true, begins: true}, Put: {takes: amount},
		Enter: {inside: true}, Check: {inside: true}, Pay: {takes: amount, inside: true}, Mark: {inside: true},
		Report: {}, Floor: {},
		Work: {takes: seconds, inside: true}, Stall: {takes: seconds}, Pause: {takes: seconds}, Wake: {}, Crash: {},
		Fail: {inside: true}, Leave: {}, Hand: {takes: someone, inside: true}, Block: {takes: seconds, inside: true},
		Split: {takes: someone, who: network}, Heal: {takes: someone, who: network}, Deliver: {takes: someone, who: network},
		Over: {who: server}, Fill: {takes: aKey, who: server}, Stop: {takes: aNode, who: server}, Start: {takes: aNode, who: server},
		Detach: {who: server}, Promote: {who: server}, Clock: {takes: signed, who: server}, Settle: {who: server},
		Look: {who: operator}, Delete: {who: operator}, Evict: {who: operator},
	}
}
