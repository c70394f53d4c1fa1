// Package audit writes down what was changed with this program: one line of
// intent before anything is sent, one of outcome after, as JSON Lines in a file
// that only its owner can read.
//
// Act is the way in: it writes, carries a plan out, and writes again, so that no
// caller can forget one of the two.
package audit

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Schema names the form of the lines.
const Schema = "fencepost/audit/1"

// The two kinds of lines.
const (
	Intent  = "intent"
	Outcome = "outcome"
)

// Line is one line of the file. ID joins an intent with its outcome; an intent
// without one was not survived by the program that wrote it.
type Line struct {
	Schema string    `json:"schema"`
	Line   string    `json:"line"` // Intent or Outcome
	ID     string    `json:"id"`
	At     time.Time `json:"at"`

	// Of an intent.
	*What
	// Of an outcome.
	*Result
}

// What is intended: who, where, which lock as it was seen, and the commands.
type What struct {
	Verb   string `json:"verb"` // release, ttl, hold, unhold
	By     string `json:"by"`   // verb or console
	OSUser string `json:"os_user"`
	Host   string `json:"host"`
	PID    int    `json:"pid"`

	Target    string `json:"target"`
	DB        int    `json:"db"`
	Env       string `json:"env"`
	RedisUser string `json:"redis_user"`

	Key        string   `json:"key"`
	KeyB64     *string  `json:"key_b64"`
	Field      *string  `json:"field"`
	Family     string   `json:"family"`
	Kind       string   `json:"kind"`
	Confidence string   `json:"confidence"`
	State      string   `json:"state"`
	Holders    []Holder `json:"holders"`
	TTLMS      *int64   `json:"ttl_ms"`
	Fence      *string  `json:"fence"`
	Evidence   string   `json:"evidence"`
	Guard      string   `json:"guard"`
	NewTTLMS   *int64   `json:"new_ttl_ms,omitempty"` // of ttl and hold
	Reason     string   `json:"reason"`
	Commands   []string `json:"commands"` // values are masked, holders and keys are not
}

// Holder is one that was to go.
type Holder struct {
	ID    string  `json:"id"`
	IDB64 *string `json:"id_b64"`
	Count int64   `json:"count"`
	Mode  string  `json:"mode,omitempty"`
}

// Result is what came of it.
type Result struct {
	Outcome   string   `json:"outcome"` // the word that was printed
	Why       string   `json:"why,omitempty"`
	Told      *int64   `json:"told"` // who was woken; null: nobody was to be told; -1: refused
	Receipt   bool     `json:"receipt,omitempty"`
	CalledOff bool     `json:"called_off,omitempty"`
	Now       []string `json:"now"` // who holds it afterwards
	Error     string   `json:"error,omitempty"`
	Steps     []string `json:"steps,omitempty"` // where there were several
}

// Context is what a plan does not know: who acts, where, and why.
type Context struct {
	Verb      string
	Console   bool
	Target    string // host:port or the profile's name; never a password
	Env       string
	Guarded   bool // production: nothing is changed unwritten
	RedisUser string
	Evidence  string // signs of life of the holder, in words
	Reason    string
}

// id names one act.
func id() string { return rand.Text() }

func intent(p *inspect.Plan, c Context, now time.Time) Line {
	l := &p.Lock
	w := &What{
		Verb: c.Verb, By: "verb", PID: os.Getpid(), OSUser: osUser(), Target: wire.Escape(c.Target), DB: l.DB, Env: c.Env, RedisUser: wire.Escape(c.RedisUser),
		Key: l.Key.String(), KeyB64: b64(l.Key), Family: l.Family, Kind: string(l.Kind), Confidence: l.Confidence.String(), State: string(l.State),
		Holders: holders(p.Holders), Evidence: c.Evidence, Guard: p.Guard.String(), Reason: wire.Clean(c.Reason), Commands: commands(p),
	}
	w.Host, _ = os.Hostname() // a machine without a name is still this one
	if c.Console {
		w.By = "console"
	}
	if l.HasField {
		field := l.Field.String()
		w.Field = &field
	}
	if !l.Persistent {
		w.TTLMS = &l.TTL
	}
	if l.Fence != "" {
		w.Fence = &l.Fence
	}
	if ms := p.Life().Milliseconds(); ms > 0 {
		w.NewTTLMS = &ms
	}
	return Line{Schema: Schema, Line: Intent, ID: id(), At: now.UTC(), What: w}
}

func outcome(id string, o *inspect.Outcome, now time.Time) Line {
	r := &Result{Outcome: string(o.Word), Why: string(o.Why), Receipt: o.Receipt, CalledOff: o.CalledOff, Now: []string{}}
	if o.Told != wire.ToldNobody {
		r.Told = &o.Told
	}
	if o.Err != nil {
		r.Error = wire.Clean(o.Err.Error())
	}
	for _, l := range o.Now {
		for _, h := range l.Holders {
			r.Now = append(r.Now, h.ID.String())
		}
	}
	if len(o.Steps) > 1 {
		for _, s := range o.Steps {
			r.Steps = append(r.Steps, fmt.Sprintf("%s: %s", s.Step.Node, s.Word))
		}
	}
	return Line{Schema: Schema, Line: Outcome, ID: id, At: now.UTC(), Result: r}
}

func holders(hs []family.Holder) []Holder {
	out := make([]Holder, 0, len(hs))
	for _, h := range hs {
		out = append(out, Holder{ID: h.ID.String(), IDB64: b64(h.ID), Count: h.Count, Mode: h.Mode})
	}
	return out
}

// b64 is for what is not UTF-8: the escaped form is for people.
func b64(r wire.Raw) *string {
	if r.ValidUTF8() {
		return nil
	}
	s := base64.StdEncoding.EncodeToString([]byte(r))
	return &s
}

// osUser is who runs this program, and on whose behalf where sudo says so.
func osUser() string {
	name := strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); by != "" && by != name {
		return by + " as " + name
	}
	return name
}
