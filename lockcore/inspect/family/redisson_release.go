package family

import "fencepost/lockcore/wire"

// redissonRelease ends a lock as RedissonLock.forceUnlock does, for the holders
// seen: the fence counter stays, and the waiters are told with 0 (1 after a
// writer: it wakes readers and writers).
func redissonRelease(t *Target) []Step {
	m := t.Facts.Main
	_, rw := m.Get("mode")
	switch {
	case t.Reading.State == Free:
		return redissonCleanQueue(t)
	case t.Reading.Kind == Semaphore:
		return redissonReleasePermits(t)
	case m.Type != Hash || len(t.Holders) == 0:
		return nil
	case rw:
		return redissonReleaseRW(t)
	case t.Reading.Label == "RedissonFasterMultiLock":
		return redissonReleaseItems(t)
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard, Wake: redissonWake(m.Key, redissonChannel, "0")}
	holder := string(t.Holders[0].ID)
	if t.Reading.Label == "RFairLock" {
		call := r.Fair(holder, redissonName(redissonQueue, m.Key), redissonName(redissonTimeout, m.Key),
			redissonName(redissonChannel, m.Key)+":")
		return []Step{{call, "drop waiters whose time is over, delete the lock if this holder still has it, tell the first waiter"}}
	}
	call := r.HashKey(1, []wire.Field{{Name: holder}})
	return []Step{{call, "delete the lock if this holder still has it, tell the waiters"}}
}

func redissonWake(lock, prefix, message string) wire.Wake {
	return wire.Wake{Verb: wire.WakeBoth, Target: redissonName(prefix, lock), Message: message}
}

// redissonReleaseRW deletes the hash where all of its holders go. Where some of
// several readers go, their fields are removed and the lock lives on; the
// timeouts of what they held are left to expire, as Redisson leaves them. Reads
// beside a write are the writer's own, and go with it.
func redissonReleaseRW(t *Target) []Step {
	m := t.Facts.Main
	mode, _ := m.Get("mode")
	leaving, message := t.Holders, "0"
	if mode == "write" {
		leaving, message = t.Reading.Holders, "1"
	}
	r := wire.Release{Lock: m.Key, Guard: t.Guard, Wake: redissonWake(m.Key, redissonRWChan, message)}
	var fields []wire.Field
	for _, h := range leaving {
		fields = append(fields, wire.Field{Name: string(h.ID)})
	}
	if len(leaving) < len(t.Reading.Holders) {
		return []Step{{r.HashFields(fields), "take these readers out of the lock, tell the waiters"}}
	}
	fields = append(fields, wire.Field{Name: "mode", Value: mode, Exact: true})
	call := r.HashKey(len(fields), fields, redissonHoldKeys(m)...)
	return []Step{{call, "delete the lock if exactly these hold it in " + mode + " mode, tell the waiters"}}
}

// redissonReleaseItems takes the items of these holders out of the hash.
func redissonReleaseItems(t *Target) []Step {
	m := t.Facts.Main
	r := wire.Release{Lock: m.Key, Guard: t.Guard, Wake: redissonWake(m.Key, redissonChannel, "0")}
	gone := map[string]bool{}
	for _, h := range t.Holders {
		gone[string(h.ID)] = true
	}
	var fields []wire.Field
	var also []string
	for _, p := range m.Pairs {
		item, id, ok := redissonSplitItem(p.A, redissonExpire)
		if owner, _ := m.Get(item); !ok || !gone[id] || owner != id {
			continue
		}
		fields = append(fields, wire.Field{Name: item, Value: id, Exact: true})
		also = append(also, p.A, item+":"+id+redissonCount)
	}
	if len(fields) == 0 || !m.Whole {
		return nil
	}
	return []Step{{r.HashFields(fields, also...), "take the items of these holders out of the lock, tell the waiters"}}
}

// redissonReleasePermits gives each permit back; the new number of free permits
// is what its waiters are told.
func redissonReleasePermits(t *Target) []Step {
	lock := t.Facts.Main.Key
	var steps []Step
	for _, h := range t.Holders {
		r := wire.Release{Lock: redissonPermits(lock), Guard: t.Guard, Wake: redissonWake(lock, redissonSemChan, "")}
		steps = append(steps, Step{r.Permit(string(h.ID), lock, false), "take this permit away and give it back, tell the waiters how many are free"})
	}
	return steps
}

// redissonCleanQueue drops the waiters of a lock that nobody holds whose time
// is over, and tells the one that is first then.
func redissonCleanQueue(t *Target) []Step {
	lock := t.Facts.Main.Key
	r := wire.Release{Lock: lock, Wake: redissonWake(lock, redissonChannel, "0")}
	call := r.FairQueue(redissonName(redissonQueue, lock), redissonName(redissonTimeout, lock), redissonName(redissonChannel, lock)+":")
	return []Step{{call, "if still nobody holds it: drop the waiters at the head whose time is over, tell the next one"}}
}
