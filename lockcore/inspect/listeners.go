package inspect

import (
	"context"
	"slices"
	"sync"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// listeners is who subscribes to some channels.
type listeners struct {
	counts  map[string]int64 // where the server does not tell, the channel is missing
	unknown []string         // nodes that could not be asked, and why
}

// subscribers counts who listens on each channel. In a Cluster a plain channel
// may be listened to on any node, so that all are asked; a sharded one only where
// its slot is.
func (in *Inspector) subscribers(ctx context.Context, n Node, channels []string) (listeners, error) {
	channels = slices.Compact(slices.Sorted(slices.Values(channels))) // several locks may ask for one
	out := listeners{counts: make(map[string]int64, len(channels))}
	if len(channels) == 0 {
		return out, nil
	}
	verbs := []string{"numsub"}
	if n.Cluster {
		verbs = append(verbs, "shardnumsub")
	}
	own, err := numsub(ctx, n, channels, verbs...)
	if err != nil {
		return out, err
	}
	out.add(own)
	if !n.Cluster {
		return out, nil
	}
	all, silent := in.all()
	for _, addr := range silent {
		if addr != n.Addr {
			out.unknown = append(out.unknown, "who listens on "+wire.Clean(addr)+": it does not answer")
		}
	}
	others := slices.DeleteFunc(all, func(o Node) bool { return o.Addr == n.Addr || o.DB != n.DB })
	counts, errs := make([]map[string]int64, len(others)), make([]error, len(others))
	ctx, cancel := forPeer(ctx)
	defer cancel()
	var asked sync.WaitGroup
	for i, o := range others {
		asked.Go(func() { counts[i], errs[i] = numsub(ctx, o, channels, "numsub") })
	}
	asked.Wait()
	for i := range others {
		if errs[i] != nil {
			out.unknown = append(out.unknown, "who listens on "+wire.Clean(others[i].Addr)+": "+reasonOf(errs[i]))
		}
		out.add(counts[i])
	}
	return out, nil
}

func (l *listeners) add(counts map[string]int64) {
	for ch, n := range counts {
		l.counts[ch] += n
	}
}

// numsub asks one node.
func numsub(ctx context.Context, n Node, channels []string, verbs ...string) (map[string]int64, error) {
	b := newBatch(ctx, n.Client)
	for _, verb := range verbs {
		args := []any{"pubsub", verb}
		for _, ch := range channels {
			args = append(args, ch)
		}
		b.do(args...)
	}
	if err := b.exec(); err != nil {
		return nil, err
	}
	counts := make(map[string]int64, len(channels))
	for _, cmd := range b.cmds {
		for _, p := range pairsOf(family.Hash, cmd.Val()) {
			if c, ok := number(p.B); ok {
				counts[p.A] += c
			}
		}
	}
	return counts, nil
}
