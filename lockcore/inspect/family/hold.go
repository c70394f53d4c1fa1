package family

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"
)

// Operator is whoever takes a lock into custody, and what an id can be made of.
type Operator struct {
	Host   string             // of the operator, letters, digits, dots and hyphens
	PID    int                // of this program
	Now    time.Time          // by the server's clock
	Life   time.Duration      // how long the lock is to be held
	Random func(n int) []byte // n random bytes
}

// hold makes the id by which an operator takes a lock, in the family's own form;
// "" where this lock of the family cannot be held. A family has one only where
// every holder's release and renewal compare the id first: else the evicted
// holder would let the operator's lock go.
type hold func(r *Reading, o Operator) string

// What keeps families without a hold from having one.
const (
	holdUnknown  = "it is not known that its holder compares before it lets go, so a hold might not last"
	holdBareDEL  = "its holder deletes the key without comparing when it is done, and a hold with it"
	holdShared   = "several may hold it at once, and holding one place keeps nobody else out"
	holdDeadline = "its deadline stands in a record of its own, which its holder writes"
)

// HoldID is the id by which an operator would hold a lock as it was read, or why
// there is none.
func (r *Reading) HoldID(o Operator) (id, why string) {
	switch {
	case r.Kind == Semaphore || r.Kind == Latch:
		return "", holdShared
	case len(r.Holders) != 1:
		return "", "it has not exactly one holder whose place could be taken"
	case r.Holders[0].ID == "":
		return "", "its holders leave no name, so that nobody could tell the operator's place from the next one's"
	case r.Holders[0].Mode == "read":
		return "", "it is held for reading, and another reader would keep no reader out"
	}
	if why := noHold[r.Family]; why != "" {
		return "", why
	}
	if make, ok := holds[r.Family]; ok {
		id = make(r, o)
	}
	if id == "" {
		return "", holdUnknown
	}
	return id, ""
}

// always is a hold of every lock of a family.
func always(id func(Operator) string) hold {
	return func(_ *Reading, o Operator) string { return id(o) }
}

// onlyOf is a hold of the locks of a family that have this label.
func onlyOf(label string, id func(Operator) string) hold {
	return func(r *Reading, o Operator) string {
		if r.Label != label {
			return ""
		}
		return id(o)
	}
}

// noHold are the families of which it is known that a hold would not last.
var noHold = map[string]string{
	"activejob-uniqueness": holdBareDEL, "arq": holdBareDEL, "celery-once": holdBareDEL, "celery-singleton": holdBareDEL,
	"huey": holdBareDEL, "jedis-lock": holdBareDEL, "redis-objects": holdBareDEL, "resque": holdBareDEL,
	"servicestack": holdBareDEL, "rq": holdBareDEL,
	"shedlock":            "its holder by default deletes or prolongs the key without comparing, and a hold with it",
	"mlanett":             holdDeadline,
	"syncguard":           holdDeadline,
	"gocraft-work":        holdShared,
	"sidekiq-unique-jobs": "it is held by a job, and what would hold it is no job: the library's reaper would take it away",
}

// holds are the families whose holders compare before they release or renew.
var holds = map[string]hold{
	// Redlock's own scripts, and what follows them, compare the whole value.
	"redsync":             always(randomToken(16, base64.StdEncoding.EncodeToString)),
	"node-redlock":        always(randomToken(16, hex.EncodeToString)),
	"aioredlock":          always(uuid4),
	"pottery":             always(uuid4),
	"redlock.net":         always(uuid4),
	"redlock-rb":          always(uuid4),
	"redlock-py":          always(alnumToken(22)),
	"redlock-php":         always(phpUniqid),
	"rslock":              always(randomToken(20, asBytes)),
	"redislock":           always(randomToken(16, base64.RawURLEncoding.EncodeToString)),
	"rueidislock":         always(randomToken(24, asBytes)),
	"go-zero":             always(alnumToken(16)),
	"fencepost":           always(fencepostHold),
	"redis-py":            always(uuid1Hex),
	"django-redis":        always(uuid1Hex),
	"redbeat":             always(uuid1Hex),
	"kombu":               always(uuid1Hex),
	"dogpile":             always(uuid1Hex),
	"tooz":                always(uuid1Hex),
	"ioredis-lock":        always(func(o Operator) string { return hyphened(uuid1Hex(o)) }),
	"sherlock":            always(uuid4),
	"yii2":                always(alnumToken(20)),
	"python-redis-lock":   always(randomToken(18, base64.StdEncoding.EncodeToString)),
	"mastodon":            always(uuid4),
	"gitlab":              always(uuid4),
	"hangfire":            always(uuid4),
	"asynq":               always(uuid4),
	"bull":                always(uuid4),
	"bullmq":              always(func(o Operator) string { return uuid4(o) + ":0" }),
	"redis-semaphore-npm": always(uuid4),
	"spring-integration":  always(uuid4),
	"sentry":              always(randomToken(16, uuidHex)),
	"medusa":              always(func(o Operator) string { return "fencepost-" + o.Host + "-" + randomToken(4, hex.EncodeToString)(o) }),
	"n8n":                 n8nHold,
	"laravel":             onlyOf("Laravel lock", alnumToken(16)),
	"symfony":             always(randomToken(32, base64.StdEncoding.EncodeToString)),
	"walrus":              always(randomToken(32, asBytes)),
	"madelson":            always(madelsonHold),
	"redisson":            redissonHoldAs,
	"php-lock":            always(randomToken(32, hex.EncodeToString)),
}

func asBytes(b []byte) string { return string(b) }

func randomToken(n int, as func([]byte) string) func(Operator) string {
	return func(o Operator) string { return as(o.Random(n)) }
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// alnumToken is n random letters and digits.
func alnumToken(n int) func(Operator) string {
	return func(o Operator) string {
		v, base, mod := new(big.Int).SetBytes(o.Random(n)), big.NewInt(int64(len(alphabet))), new(big.Int)
		out := make([]byte, n)
		for i := range out {
			v.DivMod(v, base, mod)
			out[i] = alphabet[mod.Int64()]
		}
		return string(out)
	}
}

// uuidHex is a random UUID (RFC 9562, version 4) without hyphens.
func uuidHex(b []byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return hex.EncodeToString(b)
}

func hyphened(h string) string {
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func uuid4(o Operator) string { return hyphened(uuidHex(o.Random(16))) }

// uuid1Hex is a UUID of version 1 made now, by a node that is no MAC address (its
// group bit is set), without hyphens: as redis-py makes its tokens.
func uuid1Hex(o Operator) string {
	ticks := uint64(o.Now.UnixMilli()+gregorianMS) * 10_000
	tail := o.Random(8)
	tail[0], tail[2] = tail[0]&0x3f|0x80, tail[2]|1
	return fmt.Sprintf("%08x%04x1%03x%x", uint32(ticks), uint16(ticks>>32), uint16(ticks>>48)&0x0fff, tail)
}

// phpUniqid is PHP's uniqid(): the time in microseconds, as 8 and 5 hexadecimal digits.
func phpUniqid(o Operator) string {
	return fmt.Sprintf("%08x%05x", o.Now.Unix(), o.Now.Nanosecond()/1000)
}

// redissonHoldAs names a thread of an instance that does not exist.
func redissonHoldAs(r *Reading, o Operator) string {
	id := uuid4(o) + ":1"
	if r.Holders[0].Mode == "write" {
		id += ":write"
	}
	return id
}

func n8nHold(r *Reading, o Operator) string {
	if r.Kind == Lease {
		return "main-fencepost-" + o.Host
	}
	return uuid4(o)
}

func madelsonHold(o Operator) string {
	return fmt.Sprintf("fencepost.%s_%d_%s", o.Host, o.PID, randomToken(16, hex.EncodeToString)(o))
}

// fencepostHold is a value without its number, which the script puts in.
func fencepostHold(o Operator) string {
	return fmt.Sprintf("%s:since=%s host=%s pid=%d label=%q", randomToken(16, base64.RawURLEncoding.EncodeToString)(o),
		o.Now.UTC().Format("2006-01-02T15:04:05.000Z"), o.Host, o.PID, "held by an operator")
}
