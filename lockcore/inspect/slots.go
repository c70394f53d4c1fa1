package inspect

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// receiptLife is how long a receipt stays: long enough to ask for it after a
// connection was lost, short enough not to be in anybody's way.
const receiptLife = 60_000 // ms

// The marks in the names of keys that this program writes beside a lock, so
// that a scan passes them over.
const (
	receiptMark = ":fencepost:receipt:"
	holdMark    = ":fencepost:hold"
)

// isReceipt reports whether a key is one that this program left beside a lock.
func isReceipt(key string) bool {
	return strings.Contains(key, receiptMark) || strings.HasSuffix(key, holdMark)
}

// beside is the beginning of a name for a key beside another. It begins with
// that key's own name, so that a user who may write only some keys may write it,
// and in a Cluster it lies in its slot; "" where no such name exists.
func (in *Inspector) beside(node, key string) string {
	if !in.cluster(node) || hashTag(key) != key {
		return key
	}
	if strings.ContainsAny(key, "{}") {
		return ""
	}
	return "{" + key + "}"
}

// receipt names the key that proves what a step did; none where no key can.
func (in *Inspector) receipt(node, key string) wire.Receipt {
	name := in.beside(node, key)
	if name == "" {
		return wire.Receipt{}
	}
	return wire.Receipt{Key: name + receiptMark + rand.Text(), LifeMS: receiptLife}
}

func (in *Inspector) cluster(addr string) bool {
	return slices.ContainsFunc(in.nodes, func(n Node) bool { return n.Addr == addr && n.Cluster })
}

// hashTag is the part of a key that decides its slot: what stands between the
// first brace and the next closing one, if anything does, else all of it.
// Source: Redis Cluster specification, "Hash tags".
func hashTag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	if !ok {
		return key
	}
	tag, _, ok := strings.Cut(rest, "}")
	if !ok || tag == "" {
		return key
	}
	return tag
}

// slotOf is the slot of a key in a Cluster: CRC16 (XMODEM) of its hash tag.
func slotOf(key string) uint16 {
	var crc uint16
	for _, b := range []byte(hashTag(key)) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}

// route gives every step its receipt, chooses how it publishes, and takes it
// apart where its keys lie in different slots; a plan that cannot be taken apart
// is refused.
func (in *Inspector) route(p *Plan) error {
	cluster, publish := in.cluster(p.Lock.Node), in.publish(p.Lock.Node)
	var steps []Step
	for _, s := range p.Steps {
		s.Call = s.Call.WithReceipt(in.receipt(s.Node, s.Call.Lock())).WithPublish(publish)
		if !cluster {
			steps = append(steps, s)
			continue
		}
		own, then, ok := s.Call.Split(func(key string) bool { return slotOf(key) != slotOf(s.Call.Lock()) })
		if s.Call.IsRelease() && !ok {
			return fmt.Errorf("%w: its keys lie in different slots of the Cluster, so that no one step can compare and act on all of them", ErrNoRelease)
		}
		s.Call = own
		steps = append(steps, s)
		for _, c := range then {
			steps = append(steps, Step{
				Step: family.Step{Call: c.WithReceipt(in.receipt(s.Node, c.Lock())), Says: partSays(c)}, Node: s.Node, DB: s.DB, After: true,
			})
		}
	}
	p.Steps = steps
	if cluster && slices.ContainsFunc(steps, func(s Step) bool { return slotOf(s.Call.Lock()) != slotOf(steps[0].Call.Lock()) }) {
		p.Said = append(p.Said, fmt.Sprintf("its keys lie in different slots of the Cluster: %d steps, one after the other, and each of them may fail on its own", len(steps)))
	}
	return nil
}

// publish is how a message goes out. In a Cluster a library may listen on plain
// or on sharded channels: on both, a waiter is at worst told twice, and tries
// once more.
func (in *Inspector) publish(node string) wire.WakeVerb {
	if in.cluster(node) {
		return wire.WakeBoth
	}
	return wire.WakePublish
}

// partSays is what a step does that was split off another.
func partSays(c wire.Call) string {
	switch {
	case c.IsRelease():
		return "the same for another key of the lock, in its own slot"
	case c.Name == "DEL":
		return "delete what belonged to the lock"
	}
	return "wake the waiters"
}
