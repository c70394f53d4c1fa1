package wire

import (
	"slices"
	"strconv"
	"strings"
)

// The fixed places in the keys and arguments of a release script, after
// scripts/release_head.lua.
const (
	keyLock, keyFence, keyList, keyReceipt, headKeys       = 0, 1, 2, 3, 4
	argDeadline, argFence, argVerb, argChannel, argMessage = 0, 1, 2, 3, 4
	argLife, argReceipt, headArgs                          = 5, 6, 7
	verbTTL, verbHold                                      = WakeVerb("TTL"), WakeVerb("HOLD")
)

// releaseScript puts the shared head before a script. Its comments stay here: a
// plan is printed as a line for a shell, which a person is to read.
func releaseScript(name, body string) *Script {
	var b strings.Builder
	for line := range strings.Lines(releaseHead + body) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "--") {
			b.WriteString(line)
		}
	}
	return NewScript(name, b.String())
}

// IsRelease reports whether a call is one of the release scripts: they have the
// guard, the wake-up and the receipt at the same places.
func (c Call) IsRelease() bool {
	return c.Script != nil && (strings.HasPrefix(c.Script.Name, "release_") || c.Script == scriptForce) &&
		len(c.Keys) >= headKeys && len(c.Args) >= headArgs
}

// Lock is the key that a release compares; of a plain command, its first key.
func (c Call) Lock() string {
	switch {
	case len(c.Keys) > 0:
		return c.Keys[keyLock]
	case len(c.Args) > 0:
		return c.Args[0]
	}
	return ""
}

// edit returns the call with keys and arguments that may be written to.
func (c Call) edit() Call {
	c.Keys, c.Args = slices.Clone(c.Keys), slices.Clone(c.Args)
	return c
}

// WithReceipt returns a release that leaves this receipt; other calls are
// returned as they are.
func (c Call) WithReceipt(r Receipt) Call {
	if !c.IsRelease() {
		return c
	}
	c = c.edit()
	c.Keys[keyReceipt], c.Args[argReceipt] = r.Key, receiptArg(r)
	if r.Key == "" {
		c.Keys[keyReceipt] = c.Keys[keyLock]
	}
	return c
}

// Receipt is the receipt that a release will leave; "" for none.
func (c Call) Receipt() Receipt {
	if !c.IsRelease() || c.Args[argReceipt] == "" {
		return Receipt{}
	}
	life, _ := strconv.ParseInt(c.Args[argReceipt], 10, 64) // written by receiptArg
	return Receipt{Key: c.Keys[keyReceipt], LifeMS: life}
}

// receiptOff stands in a receipt's place when its call has been given up.
const receiptOff = "off"

// CallOff gives a release up whose answer was lost: where no receipt stands, it
// puts a mark in its place, and the call, should it still reach the server
// within lifeMS, does nothing. Sent as often as need be, it does the same; see
// ParseCallOff. It is a plain command, and false where a call has no receipt.
func (c Call) CallOff(lifeMS int64) (Call, bool) {
	r := c.Receipt()
	if r.Key == "" {
		return Call{}, false
	}
	return Command("SET", r.Key, receiptOff, "NX", "PX", strconv.FormatInt(lifeMS, 10)), true
}

// ReadReceipt reads what stands in a receipt's place: the receivers told, by a
// release that was carried out; called off, by CallOff; or neither.
func ReadReceipt(value string) (told int64, off, ok bool) {
	if value == receiptOff {
		return ToldNobody, true, true
	}
	told, err := strconv.ParseInt(value, 10, 64)
	return told, false, err == nil
}

// WithGuard returns a release that also compares what g says; other calls are
// returned as they are.
func (c Call) WithGuard(g Guard) Call {
	if !c.IsRelease() {
		return c
	}
	c = c.edit()
	c.Args[argDeadline] = guardArg(g.DeadlineMS)
	if g.FenceKey != "" {
		c.Keys[keyFence], c.Args[argFence] = g.FenceKey, g.Fence
	}
	return c
}

// WithPublish returns a release that publishes by this verb instead, where it
// publishes at all.
func (c Call) WithPublish(verb WakeVerb) Call {
	if !c.IsRelease() || !c.publishes() {
		return c
	}
	c = c.edit()
	c.Args[argVerb] = string(verb)
	return c
}

func (c Call) publishes() bool {
	switch WakeVerb(c.Args[argVerb]) {
	case WakePublish, WakeSPublish, WakeBoth:
		return true
	}
	return false
}

// Wake is how a release wakes the waiters. The channel of a fair lock's first
// waiter is known to the script only: then Target is a prefix of it.
func (c Call) Wake() Wake {
	if !c.IsRelease() {
		return Wake{}
	}
	w := Wake{Verb: WakeVerb(c.Args[argVerb]), Target: c.Args[argChannel], Message: c.Args[argMessage]}
	if w.Verb == WakePush || w.Verb == WakeReset {
		w.Target = c.Keys[keyList]
		w.LifeMS, _ = strconv.ParseInt(c.Args[argLife], 10, 64) // written by lifeArg
	}
	return w
}

// WithTTL returns a call that makes the same comparison as a release and then,
// in place of it, lets the lock expire in ms milliseconds. False where the
// script cannot: the lock's time is not its key's.
func (c Call) WithTTL(ms int64) (Call, bool) {
	if !c.keeps() || ms <= 0 {
		return c, false
	}
	return c.instead(verbTTL, "", "", ms), true
}

// Hold puts an operator in the place of the holders.
type Hold struct {
	Holder string // as the family names its holders
	LifeMS int64  // the lock is the operator's for so long
	Note   string // key in the lock's slot that says so to people, for as long
	Text   string // what stands there
}

// WithHold returns a call that makes the same comparison as a release and then,
// in place of it, gives the lock to h.Holder. False where the script cannot.
func (c Call) WithHold(h Hold) (Call, bool) {
	if !c.keeps() || h.LifeMS <= 0 || h.Holder == "" || h.Note == "" || !c.swaps() {
		return c, false
	}
	c = c.instead(verbHold, h.Holder, h.Text, h.LifeMS)
	c.Keys[keyList] = h.Note
	return c.Exactly(), true
}

// Exactly returns a release that also asks that nothing be there beside what was
// seen: no other field, no other member. Other calls are returned as they are.
func (c Call) Exactly() Call {
	if n := c.Names(); n > 0 {
		c = c.edit()
		c.Args[headArgs+1] = strconv.Itoa(n)
	}
	return c
}

// Names is how many fields or members of its key a release names; 0 where it
// does not name them.
func (c Call) Names() int {
	switch {
	case !c.IsRelease():
	case c.Script == scriptReleaseHash:
		n, _ := strconv.Atoi(c.Args[headArgs+2]) // written by hashArgs
		return n
	case c.Script == scriptReleaseMembers:
		return len(c.Args) - headArgs - 4
	}
	return 0
}

func (c Call) instead(verb WakeVerb, channel, message string, ms int64) Call {
	c = c.edit()
	c.Args[argVerb], c.Args[argChannel], c.Args[argMessage] = string(verb), channel, message
	c.Args[argLife], c.Keys[keyList] = strconv.FormatInt(ms, 10), c.Keys[keyLock]
	return c
}

// keeps reports whether a script knows what to do in place of a release.
func (c Call) keeps() bool {
	if !c.IsRelease() {
		return false
	}
	switch c.Script {
	case scriptReleaseString:
		return len(c.Keys) == headKeys || c.Args[headArgs+1] == "same"
	case scriptReleaseHash:
		return c.Args[headArgs] == "DEL"
	case scriptReleaseMembers:
		return c.Args[headArgs] == "ZREM" && len(c.Keys) == headKeys
	case scriptReleaseFair, scriptReleaseQueued, scriptForce:
		return true
	}
	return false
}

// swaps reports whether another holder fits where those seen are: not among
// members without deadlines of their own.
func (c Call) swaps() bool {
	switch c.Script {
	case scriptReleaseMembers:
		return c.Args[headArgs+2] == "deadlines"
	case scriptReleaseQueued:
		return false
	}
	return true
}
