package inspect

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// The shortest and the longest time for which an operator can hold a lock.
const (
	MinHold = 10 * time.Second
	MaxHold = 24 * time.Hour
)

// ErrNoHold says that a lock cannot be held, and why.
var ErrNoHold = errors.New("inspect: this lock cannot be held")

// ErrNotOnHold says that no operator holds a lock.
var ErrNotOnHold = errors.New("inspect: this lock is not on hold")

// hold is what a plan needs to know of a hold, or of a TTL.
type hold struct {
	life int64    // milliseconds
	id   wire.Raw // of the operator, as the family names its holders
}

// HoldNote stands beside a lock that an operator holds, for as long: who does,
// why, and under which holder's id. It is JSON, and readable in redis-cli.
type HoldNote struct {
	Schema  string    `json:"schema"` // "fencepost/hold/1"
	By      string    `json:"by"`     // user@host
	Reason  string    `json:"reason"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Holder  string    `json:"holder"` // base64: a holder may be any bytes
	Evicted []string  `json:"evicted"`
}

const holdSchema = "fencepost/hold/1"

// ID is the holder's id under which the operator holds the lock.
func (n *HoldNote) ID() wire.Raw {
	id, _ := base64.StdEncoding.DecodeString(n.Holder) // written by PlanHold; else it is nobody's
	return wire.Raw(id)
}

// noteKey is where a lock's HoldNote stands; "" where there is no such place.
func (in *Inspector) noteKey(l *Lock) string {
	name := in.beside(l.Node, string(l.Key))
	if name == "" {
		return ""
	}
	return name + holdMark
}

// PlanHold makes the plan that puts the operator in the place of a lock's holder
// for some time, if it is still as it was seen: nobody else gets it meanwhile,
// and its library goes on as if somebody had it. by is who the operator is, for
// whoever finds the lock. Lift it by PlanUnhold, or it ends by itself.
func (in *Inspector) PlanHold(l Lock, life time.Duration, by, reason string) (Plan, error) {
	if life < MinHold || life > MaxHold {
		return Plan{}, fmt.Errorf("%w for so long: a hold lasts from %s to %s", ErrNoHold, SpanOf(MinHold), SpanOf(MaxHold))
	}
	if l.State != family.Held {
		return Plan{}, fmt.Errorf("%w: nobody holds it, so there is no place to take", ErrNoHold)
	}
	p, err := in.plan(Hold, l, nil)
	if err != nil {
		return Plan{}, err
	}
	now := l.facts.Now.Add(time.Since(l.SampledAt))
	id, why := l.reading.HoldID(family.Operator{Host: hostWord(), PID: os.Getpid(), Now: now, Life: life, Random: randomBytes})
	if why != "" {
		return Plan{}, fmt.Errorf("%w: %s", ErrNoHold, why)
	}
	note := in.noteKey(&l)
	if note == "" {
		return Plan{}, fmt.Errorf("%w: in this Cluster no key beside it can say who holds it", ErrNoHold)
	}
	shown := holderOfHold(l.Family, id)
	text, err := json.Marshal(HoldNote{
		Schema: holdSchema, By: by, Reason: reason, Since: now.UTC(), Until: now.Add(life).UTC(),
		Holder: base64.StdEncoding.EncodeToString([]byte(shown)), Evicted: rawTexts(p.Holders),
	})
	if err != nil {
		return Plan{}, err
	}
	p.hold = hold{life: life.Milliseconds(), id: wire.Raw(shown)}
	for i := range p.Steps {
		s := &p.Steps[i]
		var ok bool
		s.Call, ok = s.Call.WithHold(wire.Hold{Holder: id, LifeMS: life.Milliseconds(), Note: note, Text: string(text)})
		if !ok || len(p.Steps) > 1 {
			return Plan{}, fmt.Errorf("%w: its record has more parts than a holder's place", ErrNoHold)
		}
		s.Says = "take the place of exactly this holder, for " + SpanOf(life)
	}
	return p, in.route(&p)
}

// holderOfHold is the holder's id that will show: of fencepost's own locks the
// token, which the value begins with; of bsm/redislock the same.
func holderOfHold(id, made string) string {
	if id == "fencepost" {
		made, _, _ = strings.Cut(made, ":")
	}
	return made
}

func rawTexts(hs []family.Holder) []string {
	out := make([]string, 0, len(hs))
	for _, h := range hs {
		out = append(out, h.ID.String())
	}
	return out
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return b
}

// hostWord is this machine's name in letters, digits, dots and hyphens.
func hostWord() string {
	name, _ := os.Hostname() // a machine without a name is "operator"
	name = strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, name)
	if name == "" {
		return "operator"
	}
	return name
}

// HoldOf reads who put a lock on hold; nil where nobody did, or where the lock
// has changed hands since.
func (in *Inspector) HoldOf(ctx context.Context, l *Lock) (*HoldNote, error) {
	n, ok := in.nodeAt(l.Node, l.DB)
	key := in.noteKey(l)
	if !ok || key == "" {
		return nil, nil
	}
	text, err := n.Client.GetRange(ctx, key, 0, maxNote).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	var note HoldNote
	if json.Unmarshal([]byte(text), &note) != nil || note.Schema != holdSchema {
		return nil, nil
	}
	for _, h := range l.Holders {
		if h.ID == note.ID() {
			return &note, nil
		}
	}
	return nil, nil
}

// maxNote bounds what is read of a note, in bytes.
const maxNote = 64 << 10

// PlanUnhold makes the plan that gives a lock up which an operator holds, and
// wakes who waits, as a release of its holder would. Only a hold is lifted:
// where the lock is anybody else's the error is ErrNotOnHold.
func (in *Inspector) PlanUnhold(ctx context.Context, l Lock) (Plan, *HoldNote, error) {
	note, err := in.HoldOf(ctx, &l)
	if err != nil {
		return Plan{}, nil, err
	}
	if note == nil {
		return Plan{}, nil, fmt.Errorf("%w: nothing beside it says that an operator holds it", ErrNotOnHold)
	}
	p, err := in.PlanRelease(l, note.ID())
	if err != nil {
		return Plan{}, nil, err
	}
	p.lifts = true
	p.Steps = append(p.Steps, Step{
		Step: family.Step{Call: wire.Command("DEL", in.noteKey(&l)), Says: "take away the note that said who held it"},
		Node: l.Node, DB: l.DB, After: true,
	})
	return p, note, nil
}
