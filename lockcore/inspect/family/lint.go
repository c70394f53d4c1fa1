package family

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fencepost/lockcore/wire"
)

// The codes of the warnings that any lock may bear. Families add their own.
const (
	NoExpiry       = "no-expiry"           // by accident: its library would have set one
	NoExpiryDesign = "no-expiry-by-design" // its library sets none, or none by default
	TTLYears       = "ttl-years"
	DeadlinePassed = "deadline-passed"
	ConstantValue  = "constant-value"
	WrongType      = "wrong-type"
	SharedName     = "shared-name"
	FenceTTL       = "fence-ttl"
	FenceMissing   = "fence-missing"
	FenceBackwards = "fence-backwards"
	Overdue        = "waiter-overdue"
	Partial        = "partial"
	NotAllRead     = "not-all-read"
	Unread         = "unread"    // something that belongs to the lock could not be read
	HeldLong       = "held-long" // though it is renewed
	ShortTTL       = "ttl-short" // shorter than the holds that were seen
)

// lint returns the warnings that any lock may deserve.
func lint(f *Found, facts *Facts, r *Reading) []Warning {
	var out []Warning
	add := func(code, text string) { out = append(out, Warning{code, text}) }
	lintExpiry(facts, r, add)
	if r.State == Lapsed && !r.Deadline.IsZero() && !slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == DeadlinePassed }) {
		add(DeadlinePassed, "its time is over: its own library would ignore it and let the next one in")
	}
	if r.Kind == Mutex && r.Weak && r.State == Held && len(r.Holders) == 1 && r.Holders[0].ID == "" {
		add(ConstantValue, constantText(f))
	}
	if m := facts.Main; m.Type != None && !slices.Contains(f.Family.Types, m.Type) {
		add(WrongType, "the key is "+article(m.Type)+", which "+f.Family.Label+" does not use here: its calls will fail")
	}
	if m := facts.Main; !m.Whole && m.Type != None && m.Type != String && f.Field == "" && len(r.Holders) > 0 {
		add(NotAllRead, "the key has "+strconv.FormatInt(m.Len, 10)+" entries, of which "+strconv.Itoa(len(m.Pairs))+" were read: there are more holders than are shown")
	}
	if len(f.Rivals) > 0 {
		add(SharedName, "keys of another library belong to a lock of this name too: "+strings.Join(f.Rivals, ", "))
	}
	lintLong(facts, r, add)
	lintFence(facts, r, add)
	lintUnread(facts, r, add)
	return out
}

// mostWhys is how many reasons are said.
const mostWhys = 4

// lintUnread says what is not known of a lock because it could not be read.
// A fence is looked for in several places: where it was found, the others do not
// matter.
func lintUnread(facts *Facts, r *Reading, add func(code, text string)) {
	keys := slices.Sorted(maps.Keys(facts.Unread))
	if r.FenceKey != "" && facts.Unread[r.FenceKey] == "" {
		places := fenceKeys(facts.Main.Key)
		keys = slices.DeleteFunc(keys, func(k string) bool { return slices.Contains(places, k) })
	}
	if len(keys) == 0 {
		return
	}
	var parts, whys []string
	for _, k := range keys {
		if why := facts.Unread[k]; !slices.Contains(whys, why) {
			whys = append(whys, why)
			parts = append(parts, wire.Escape(firstBytes(k, longestNote))+": "+why)
		}
	}
	text := "who waits for it, or its fence, may be missing here, for not all could be read: " + strings.Join(parts[:min(len(parts), mostWhys)], "; ")
	add(Unread, text)
}

// A hold is long from an hour on, if it is many times what is left of the TTL: it
// is renewed then, or was given as long a lease.
const (
	longHold   = time.Hour
	longLeases = 20
)

// lintLong looks at the time since which a holder says that it holds the lock.
func lintLong(facts *Facts, r *Reading, add func(code, text string)) {
	ttl, ok := r.TTL(facts)
	if !ok || r.State != Held || len(r.Holders) != 1 || r.Holders[0].Since.IsZero() || !r.Kind.ForWork() {
		return
	}
	if held := facts.Now.Sub(r.Holders[0].Since); held >= longHold && held.Milliseconds() >= longLeases*ttl {
		add(HeldLong, "held for more than "+strconv.Itoa(int(held/time.Hour))+" h, many times its TTL: who renews a lock for so long may have forgotten it")
	}
}

// constantText says what a value that names nobody means. Of a known library it is
// known; else one value is all there is to go by.
func constantText(f *Found) string {
	if id := f.Family.ID; id == homegrownID || id == unknownID {
		return "its value looks like one that every holder writes; then none can tell its own lock from the next holder's when it releases"
	}
	return "every holder writes the same value, so none can tell its own lock from the next holder's when it releases"
}

func lintExpiry(facts *Facts, r *Reading, add func(code, text string)) {
	ttl, ok := r.TTL(facts)
	switch {
	case ok && ttl >= year:
		add(TTLYears, "its TTL is "+strconv.FormatInt(ttl/year, 10)+" years: practically it never expires")
	case ok, r.State != Held:
	case !r.Deadline.IsZero():
		if left := r.Deadline.UnixMilli() - facts.NowMS(); left >= year {
			add(TTLYears, "the deadline in it is "+strconv.FormatInt(left/year, 10)+" years away: practically it never expires")
		}
	case r.ByDesign:
		add(NoExpiryDesign, "its library sets no expiry, or none unless it is told to, so this may be meant: if the holder dies, it stays until somebody releases it")
	default:
		add(NoExpiry, "it has no expiry: if the holder dies, it stays until somebody releases it")
	}
}

// lintFence looks at the counter beside a fence. The fence in the lock must
// never be ahead of its counter: the next one would be given twice.
func lintFence(facts *Facts, r *Reading, add func(code, text string)) {
	if r.FenceKey == "" {
		return
	}
	c := facts.Key(r.FenceKey)
	switch {
	case facts.Unread[r.FenceKey] != "": // said as that
	case c.Type == None && r.State == Held:
		add(FenceMissing, "the fence counter is gone: the next holder may be given a number that was used before")
	case c.PTTL >= 0:
		add(FenceTTL, "the fence counter has a TTL: when it expires, numbers start again and stale writers pass the fence")
	case c.Type == String && wire.ValidFence(c.Value) && wire.ValidFence(r.Fence) && wire.LessFence(c.Value, r.Fence):
		add(FenceBackwards, "the fence counter is at "+c.Value+", behind the holder's fence "+r.Fence+": numbers will be given twice")
	}
}
