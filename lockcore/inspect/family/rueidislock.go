package family

import (
	"strconv"
	"strings"

	"fencepost/lockcore/wire"
)

// rueidislock: one lock in 2n-1 keys, <prefix>:<i>:<name>, each holding the
// same 24 random bytes; who has n of them has the lock. Waiters wait for the
// server's invalidation, which a DEL causes. Source: rueidis
// rueidislock/lock.go (keyname, try), internal/util/rand (24 bytes).
func rueidislock() *Family {
	return &Family{
		ID:    "rueidislock",
		Label: "rueidislock",
		Types: []Type{String},
		Looks: "a string of 24 bytes at <prefix>:<i>:<name>, as rueidislock:0:<name>",
		Marks: []string{"rueidislock:"},
		Named: func(key string) bool {
			_, _, _, ok := rueidisKey(key)
			return ok && strings.Contains(key, "rueidislock:")
		},
		Match:   rueidisMatch,
		Reads:   rueidisReads,
		Decode:  rueidisDecode,
		Release: rueidisRelease,
	}
}

// rueidisMost is how many keys of one lock are looked at: a majority of five.
const rueidisMost = 9

// rueidisKey takes <prefix>:<i>:<name> apart at the first number of one digit.
func rueidisKey(key string) (prefix string, i int, name string, ok bool) {
	for at := 1; at+3 < len(key); at++ {
		if key[at] == ':' && key[at+2] == ':' && isDigits(key[at+1:at+2]) {
			return key[:at], int(key[at+1] - '0'), key[at+3:], true
		}
	}
	return "", 0, "", false
}

func rueidisMatch(s *Sample) []Claim {
	if s.Len != 24 {
		return nil
	}
	prefix, i, name, ok := rueidisKey(s.Key)
	if !ok {
		return nil
	}
	c := Claim{Lock: prefix + ":0:" + name, Companion: i > 0, Why: "24 bytes at a key with a number before the name"}
	switch {
	case strings.HasSuffix(prefix, "rueidislock"):
		c.Confidence = Certain
	case !isPrintable(s.Value) && s.PTTL > 0 && s.PTTL <= 10*minute:
		c.Confidence = Likely
	default:
		return nil
	}
	return []Claim{c}
}

func rueidisReads(c Claim, main *Sample) Reads {
	prefix, _, name, _ := rueidisKey(main.Key)
	var keys []string
	for i := 1; i < rueidisMost; i++ {
		keys = append(keys, prefix+":"+strconv.Itoa(i)+":"+name)
	}
	return Reads{Keys: keys}
}

// rueidisKeys are the samples of the lock's keys that exist and look like one.
func rueidisKeys(f *Facts) []*Sample {
	var out []*Sample
	if f.Main.Len == 24 && f.Main.Type == String {
		out = append(out, f.Main)
	}
	for _, k := range rueidisReads(Claim{}, f.Main).Keys {
		if s := f.Key(k); s.Type == String && s.Len == 24 {
			out = append(out, s)
		}
	}
	return out
}

func rueidisDecode(f *Facts) Reading {
	_, _, name, ok := rueidisKey(f.Main.Key)
	keys := rueidisKeys(f)
	if !ok || len(keys) == 0 {
		return Reading{NoRow: true}
	}
	votes := map[string]int{}
	best := keys[0]
	top := 0
	for _, s := range keys {
		_, i, _, _ := rueidisKey(s.Key)
		top = max(top, i)
		if votes[s.Value]++; votes[s.Value] > votes[best.Value] {
			best = s
		}
	}
	need := max(3, top+1)/2 + 1
	r := single(Mutex, Holder{ID: wire.Raw(best.Value)})
	r.Resource, r.TTLKey = name, best.Key
	r.Note = "its waiters and its holder learn of it at once: the holder's context is cancelled"
	for _, s := range keys {
		if s != f.Main {
			r.have(f, s.Key)
		}
	}
	if votes[best.Value] < need {
		r.State = Lapsed
		r.warn(Partial, "only "+strconv.Itoa(votes[best.Value])+" of its keys hold this value, "+strconv.Itoa(need)+" are needed: nobody has the lock")
	}
	return r
}

// rueidisRelease deletes all keys with the holder's value: one fewer than the
// majority would leave the lock as it is.
func rueidisRelease(t *Target) []Step {
	if len(t.Holders) == 0 {
		return nil
	}
	value := string(t.Holders[0].ID)
	var keys []string
	for _, s := range rueidisKeys(t.Facts) {
		if s.Value == value && s.Whole {
			keys = append(keys, s.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if !t.Split {
		r := wire.Release{Lock: keys[0], Guard: t.Guard}
		return []Step{{r.String(value, keys[1:]...), "delete the lock's keys that still hold this value"}}
	}
	var steps []Step
	for _, k := range keys {
		r := wire.Release{Lock: k, Guard: t.Guard}
		steps = append(steps, Step{r.String(value), "delete this one of the lock's keys if it still holds the value"})
	}
	return steps
}
