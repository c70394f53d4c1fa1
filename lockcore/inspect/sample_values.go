package inspect

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
)

// asked are the answers that one key waits for.
type asked struct{ idle, value, size, ttl *redis.Cmd }

// values is the pass that dates the samples: the server's time, and for each
// key its value (or its size, where it is large) beside its TTL.
func (s *sampler) values(ctx context.Context) error {
	b := newBatch(ctx, s.c)
	clock := b.do("time")
	cmds := make([]asked, len(s.probes))
	for i, sm := range s.samples {
		cmds[i] = s.ask(b, sm, &s.probes[i])
	}
	s.when.sent = time.Now()
	err := b.exec()
	s.when.received = time.Now()
	if err != nil {
		return err
	}
	s.when.server = serverTime(clock)
	var wrong []int
	for i, sm := range s.samples {
		sm.NowMS = s.when.now().UnixMilli()
		switch a := &cmds[i]; {
		case a.ttl == nil:
		case a.wrongType():
			wrong = append(wrong, i)
		default:
			s.fill(i, a)
		}
		if s.probes[i].known != nil {
			sm.Idle, sm.HasIdle = *s.probes[i].known, true
		}
	}
	return s.again(ctx, wrong)
}

// ask puts what is wanted of one key into a batch. The idle time comes first:
// reading resets it.
func (s *sampler) ask(b *batch, sm *family.Sample, p *probe) asked {
	var a asked
	switch sm.Type {
	case family.String, family.Hash, family.ZSet, family.Set, family.List:
	default:
		return a // streams and module types are no locks
	}
	if p.idle && p.known == nil {
		a.idle = b.do("object", "idletime", sm.Key)
	}
	if sm.Type == family.String {
		a.value = b.do("getrange", sm.Key, 0, s.bounds.value) // a byte more than wanted shows that there is more
	} else {
		a.size = b.do(sizeCommand(sm.Type), sm.Key)
		if !p.big {
			a.value = b.do(s.entriesCommand(sm)...)
		}
	}
	a.ttl = b.do("pttl", sm.Key)
	return a
}

// wrongType reports whether the key is of another type than was thought.
func (a *asked) wrongType() bool {
	for _, cmd := range [...]*redis.Cmd{a.value, a.size} {
		if cmd != nil && cmd.Err() != nil && strings.HasPrefix(cmd.Err().Error(), "WRONGTYPE") {
			return true
		}
	}
	return false
}

// again samples the keys whose type is another than was thought, asking this
// time. One that changes its type faster than it can be asked is not known.
func (s *sampler) again(ctx context.Context, wrong []int) error {
	if len(wrong) == 0 {
		return nil
	}
	if s.second {
		for _, at := range wrong {
			s.fail(at, errRestless)
		}
		return nil
	}
	probes := make([]probe, len(wrong))
	for i, at := range wrong {
		if s.guess != nil {
			s.guess.forget(s.probes[at].key)
		}
		probes[i] = s.probes[at]
		probes[i].kind, probes[i].big = "", false
	}
	second := &sampler{c: s.c, bounds: s.bounds, probes: probes, second: true}
	if err := second.sample(ctx); err != nil {
		return err
	}
	for i, at := range wrong {
		s.samples[at], s.fates[at] = second.samples[i], second.fates[i]
		s.probes[at].big = false // read already
		if s.guess != nil {
			s.guess.learn(s.probes[at].key, second.samples[i].Type)
		}
	}
	return nil
}

// errRestless says that a key had another type each time it was asked for.
var errRestless = errors.New("its type changes faster than it can be read")

// fill puts the answers into a sample.
func (s *sampler) fill(i int, a *asked) {
	sm := s.samples[i]
	pttl, err := a.ttl.Int64()
	n := int64(0)
	if err == nil && a.size != nil {
		n, err = a.size.Int64()
	}
	if err == nil && sm.Type == family.String {
		sm.Value, err = a.value.Text()
	}
	if err != nil {
		s.fail(i, err)
		return
	}
	if pttl == family.Gone {
		*sm = family.Sample{Key: sm.Key, Type: family.None, PTTL: family.Gone, NowMS: sm.NowMS}
		return
	}
	if pttl < family.Gone {
		pttl = 0 // a server that has not deleted yet what is over
	}
	sm.PTTL, sm.Len = pttl, n
	if a.idle != nil {
		sm.Idle, err = a.idle.Int64()
		sm.HasIdle = err == nil // an LFU policy keeps no idle time
	}
	switch {
	case sm.Type == family.String:
		sm.Len = int64(len(sm.Value))
		sm.Whole = sm.Len <= s.bounds.value
	case a.value != nil && a.value.Err() != nil:
		s.fail(i, a.value.Err())
	case a.value != nil:
		sm.Pairs = pairsOf(sm.Type, a.value.Val())
		sm.Whole = int64(len(sm.Pairs)) == n
	}
}

// lengths asks how long the strings are that were not read to their end.
func (s *sampler) lengths(ctx context.Context) error {
	b := newBatch(ctx, s.c)
	cmds := make([]*redis.Cmd, len(s.samples))
	for i, sm := range s.samples {
		if sm.Type == family.String && !sm.Whole {
			sm.Value = sm.Value[:min(len(sm.Value), int(s.bounds.value))]
			cmds[i] = b.do("strlen", sm.Key)
		}
	}
	if err := b.exec(); err != nil {
		return err
	}
	for i, cmd := range cmds {
		if cmd == nil {
			continue
		}
		if n, err := cmd.Int64(); err == nil {
			s.samples[i].Len = max(n, s.samples[i].Len)
		}
	}
	return nil
}
