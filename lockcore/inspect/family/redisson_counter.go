package family

import (
	"strings"

	"fencepost/lockcore/wire"
)

// redissonNever is the score of a permit without a deadline.
const redissonNever = "922337203685477"

// redissonPermits is the sorted set of a semaphore whose permits expire.
func redissonPermits(lock string) string { return redissonSuffix(lock, "timeout") }

// redissonMatchPermits claims <name>:timeout of an expirable semaphore: members
// are permit ids, of 16 random bytes (32 hex digits before 2022).
func redissonMatchPermits(s *Sample) []Claim {
	named, ok := strings.CutSuffix(s.Key, ":timeout")
	if !ok || !strings.Contains(named, "{") || len(s.Pairs) == 0 {
		return nil
	}
	for _, p := range s.Pairs {
		if len(p.A) != 16 && !isHex(p.A, 32) {
			return nil
		}
		if _, isTime := epochMS(p.B); !isTime && p.B != redissonNever {
			return nil
		}
	}
	return redissonCounter(named, Likely, "permit ids with deadlines: a semaphore whose permits expire")
}

// redissonDecodeCounter is a string that a channel or a set of permits says to
// be Redisson's: a semaphore's free permits, or a latch's count.
func redissonDecodeCounter(f *Facts) Reading {
	n, ok := parseInt(f.Main.Value)
	if !ok || !f.Main.Whole {
		return Reading{NoRow: true}
	}
	if f.Key(redissonPermits(f.Main.Key)).Type == ZSet {
		r := redissonDecodePermits(f)
		if twin := redissonTwin(f.Main.Key); twin != "" && f.Key(twin).Type == String {
			r.NoRelease = "its permits may as well be those of " + twin + ": nothing tells which of the two numbers a permit is to be given back to"
		}
		return r
	}
	if subs := f.Subs[redissonName(redissonSemChan, f.Main.Key)]; subs > 0 {
		return Reading{
			Label: "RSemaphore", Kind: Semaphore, State: Held, ByDesign: true,
			Permits: &Permits{Free: n, Limit: -1}, Waiters: &Waiters{Count: subs, How: "pubsub"},
			NoRelease: "a Redisson semaphore does not record who holds its permits; give permits back with the application's own release()",
		}
	}
	if subs := f.Subs[redissonCDLChan+"{"+f.Main.Key+"}"]; subs > 0 {
		return Reading{
			Label: "RCountDownLatch", Kind: Latch, State: Held, ByDesign: true,
			Permits: &Permits{Free: n, Limit: -1}, Waiters: &Waiters{Count: subs, How: "pubsub"},
			NoRelease: "a latch has no holder: it opens when its count of " + f.Main.Value + " is counted down",
		}
	}
	return Reading{NoRow: true}
}

// redissonDecodePermits is a semaphore whose permits have ids and deadlines;
// the string of its name holds how many are free. Permits past their deadline
// are given back when somebody asks next.
func redissonDecodePermits(f *Facts) Reading {
	permits := f.Key(redissonPermits(f.Main.Key))
	r := Reading{
		Label: "RPermitExpirableSemaphore", Kind: Semaphore, State: Held, ByDesign: true,
		Waiters: redissonSubscribers(f, redissonSemChan),
		Note:    "the holder is not told: it works on until its own release of the permit fails",
	}
	r.have(f, permits.Key)
	if n, ok := parseInt(f.Main.Value); ok && f.Main.Type == String {
		r.Confidence = Certain
		r.Permits = &Permits{Free: n, Limit: n + permits.Len}
	} else {
		r.TTLKey = permits.Key
		if redissonTwin(f.Main.Key) != "" {
			r.NoRelease = "the number of its free permits is not there: nothing tells to which key a permit is to be given back"
		}
	}
	for _, p := range permits.Pairs {
		h := Holder{ID: wire.Raw(p.A)}
		if ms, ok := epochMS(p.B); ok && p.B != redissonNever {
			h.until(f, ms)
		}
		r.Holders = append(r.Holders, h)
	}
	r.expireTogether(f)
	return r
}
