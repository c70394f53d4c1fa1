package inspect

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// In a Cluster a lock's companions may lie in another slot than the lock, on
// another node: a fence counter, a queue without a hash tag. A node names the
// owner of a key that is not its own (MOVED), and there it is read.

// peerFor is how long another node is waited for. What it does not answer is
// said not to be known; the lock itself is.
const peerFor = time.Second

// forPeer bounds what another node is waited for: by peerFor, and by a part of the
// time that is left, for one that hangs must not use it up.
func forPeer(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := peerFor
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)/4)
	}
	return context.WithTimeout(ctx, wait)
}

// dated is a sample, when it was taken and where, and what became of it.
type dated struct {
	*family.Sample
	when stamp
	at   string // the node that was asked
	fate
}

// asOf is the sample as it would have been when another was taken: keys of one
// lock are read one after another, and a time that is left would else seem longer
// by what lies between.
func (d dated) asOf(when stamp) *family.Sample {
	apart := d.when.middle().Sub(when.middle()).Milliseconds()
	if d.Sample == nil || d.PTTL < 0 || apart == 0 {
		return d.Sample
	}
	sm := *d.Sample
	sm.PTTL = max(0, sm.PTTL+apart)
	return &sm
}

// dateAt samples keys at one node, each with the time of its answer.
func dateAt(ctx context.Context, n Node, probes []probe) ([]dated, error) {
	s := &sampler{c: n.Client, bounds: lookBounds, probes: probes}
	if err := s.sample(ctx); err != nil {
		return nil, err
	}
	out := make([]dated, len(s.samples))
	for i := range out {
		out[i] = s.dated(n, i)
	}
	return out, nil
}

func (s *sampler) dated(n Node, i int) dated { return dated{s.samples[i], s.when, n.Addr, s.fates[i]} }

// dateKeys samples keys, each at the node of a Cluster that has it, n first.
// An error is n's.
func (in *Inspector) dateKeys(ctx context.Context, n Node, probes []probe) ([]dated, error) {
	out, err := dateAt(ctx, n, probes)
	if err != nil {
		return nil, err
	}
	away := map[string][]int{}
	for i := range out {
		if addr := out[i].moved; addr != "" {
			away[addr] = append(away[addr], i)
		}
	}
	for addr, which := range away {
		in.dateAway(ctx, n, addr, which, probes, out)
	}
	return out, nil
}

// dateAway samples those keys that another node has.
func (in *Inspector) dateAway(ctx context.Context, n Node, addr string, which []int, probes []probe, out []dated) {
	theirs := make([]probe, len(which))
	for i, at := range which {
		theirs[i] = probes[at]
	}
	read, why := in.atPeer(ctx, n, addr, func(ctx context.Context, peer Node) ([]dated, error) { return dateAt(ctx, peer, theirs) })
	for i, at := range which {
		switch {
		case why != "":
			out[at].fate = fate{refused: why}
		case read[i].moved != "":
			out[at].fate = fate{refused: "its slot is being moved to another node"}
		default:
			out[at] = read[i]
		}
	}
}

// atPeer asks another node; why says why that did not do.
func (in *Inspector) atPeer(ctx context.Context, n Node, addr string, ask func(context.Context, Node) ([]dated, error)) (read []dated, why string) {
	if host, _, err := net.SplitHostPort(n.Addr); err == nil && strings.HasPrefix(addr, ":") {
		addr = host + addr // a node that does not know its own name
	}
	peer, ok := in.peer(addr, n.DB)
	if !ok {
		return nil, "it lies on " + wire.Clean(addr) + ", which is not looked at or does not answer"
	}
	ctx, cancel := forPeer(ctx)
	defer cancel()
	read, err := ask(ctx, peer)
	if err != nil {
		return nil, "it lies on " + wire.Clean(addr) + ": " + reasonOf(err)
	}
	return read, ""
}

// all are the nodes that may be asked, and the addresses of those that do not answer.
func (in *Inspector) all() (live []Node, silent []string) {
	if in.peers != nil {
		return in.peers()
	}
	return in.Nodes(), nil
}

// peer is a node by its address.
func (in *Inspector) peer(addr string, db int) (Node, bool) {
	all, _ := in.all()
	i := slices.IndexFunc(all, func(n Node) bool { return n.Addr == addr && n.DB == db })
	if i < 0 {
		return Node{}, false
	}
	return all[i], true
}

// fieldsOf reads single fields, each at the node of a Cluster that has its key.
func (in *Inspector) fieldsOf(ctx context.Context, n Node, refs []family.FieldRef) (fieldAnswers, error) {
	out, err := readFields(ctx, n.Client, lookBounds.item, refs)
	if err != nil {
		return out, err
	}
	away := map[string][]family.FieldRef{}
	for ref, err := range out.failed {
		if addr := movedAddr(err); addr != "" {
			away[addr] = append(away[addr], ref)
		}
	}
	for addr, theirs := range away {
		var read fieldAnswers
		_, why := in.atPeer(ctx, n, addr, func(ctx context.Context, peer Node) (_ []dated, err error) {
			read, err = readFields(ctx, peer.Client, lookBounds.item, theirs)
			return nil, err
		})
		for _, ref := range theirs {
			v, ok := read.values[ref]
			switch {
			case why != "":
				out.failed[ref] = errors.New(why)
				continue
			case read.failed[ref] != nil:
				out.failed[ref] = read.failed[ref]
				continue
			case ok:
				out.values[ref] = v
			}
			delete(out.failed, ref)
		}
	}
	return out, nil
}

// UnreadError says that what is at a key cannot be known, and why. It is not
// that there is nothing.
type UnreadError struct {
	Key wire.Raw
	Why string // safe to print
}

func (e *UnreadError) Error() string { return e.Key.String() + " could not be read: " + e.Why }

// Forbidden reports whether a read failed because this user may not read what was
// asked for.
func Forbidden(err error) bool {
	var unread *UnreadError
	var refused redis.Error
	switch {
	case errors.As(err, &unread):
		return strings.HasPrefix(unread.Why, noPermission)
	case errors.As(err, &refused):
		return strings.HasPrefix(refused.Error(), noPermission)
	}
	return false
}

// places are the nodes at which a key of a database may be: in a Cluster the one
// that has its slot. All are asked for that at once, so that one which hangs
// hides no other.
func (in *Inspector) places(ctx context.Context, db int, key string) ([]Node, error) {
	nodes := slices.DeleteFunc(in.Nodes(), func(n Node) bool { return n.DB != db })
	if len(nodes) < 2 || !nodes[0].Cluster {
		return nodes, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		n   Node
		err error
	}
	answers := make(chan answer, len(nodes))
	for _, n := range nodes {
		go func() { answers <- answer{n, n.Client.Type(ctx, key).Err()} }() // ends with its time-out
	}
	var failed error
	owner := ""
	for range nodes {
		a := <-answers
		switch {
		case a.err == nil || serverError(a.err) && movedAddr(a.err) == "":
			return []Node{a.n}, nil
		case serverError(a.err):
			owner = movedAddr(a.err)
		default:
			failed = cmp.Or(failed, error(&UnreadError{wire.Raw(key), wire.Clean(a.n.Addr) + ": " + reasonOf(a.err)}))
		}
	}
	if failed == nil {
		failed = &UnreadError{wire.Raw(key), "it lies on " + wire.Clean(owner) + ", which is not looked at"}
	}
	return nil, failed
}
