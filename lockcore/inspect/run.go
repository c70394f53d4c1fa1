package inspect

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/oneshot"
	"fencepost/lockcore/wire"
)

// Run carries out a plan and says truly what came of it. Each step is sent
// once: the client library does not send it again, and after a lost reply the
// server is asked what is there, never told to do it again.
func (in *Inspector) Run(ctx context.Context, p Plan) Outcome {
	n, ok := in.nodeOf(&p.Lock)
	if !ok {
		return Outcome{Word: Failed, Told: wire.ToldNobody, Err: errors.New("inspect: the plan is for another server")}
	}
	out := Outcome{Told: wire.ToldNobody}
	for i, step := range p.Steps {
		in.step(ctx, n, &p, step.Call, &out)
		if out.Word != Released {
			if i > 0 {
				out.Word = Partial
			}
			break
		}
	}
	in.lookAfter(ctx, n, &p, &out)
	return out
}

func (in *Inspector) nodeOf(l *Lock) (Node, bool) {
	i := slices.IndexFunc(in.nodes, func(n Node) bool { return n.Addr == l.Node && n.DB == l.DB })
	if i < 0 {
		return Node{}, false
	}
	return in.nodes[i], true
}

// step sends one call and files its answer.
func (in *Inspector) step(ctx context.Context, n Node, p *Plan, call wire.Call, out *Outcome) {
	call = in.publishVerb(ctx, n, call)
	reply, err := oneshot.Send(ctx, n.Client, call)
	if notPermitted(err) && p.receipt.Key != "" {
		// Nothing ran. This user may not write the receipt's key, or not act at
		// all: without a receipt the answer tells which.
		p.receipt = wire.Receipt{}
		reply, err = oneshot.Send(ctx, n.Client, call.WithReceipt(wire.Receipt{}))
	}
	switch {
	case err == nil:
		out.file(reply)
	case serverError(err):
		out.Word, out.Err = Refused, err
	case neverSent(err):
		out.Word, out.Err = Failed, err
	default:
		out.Word, out.Err = Unknown, err
		in.askReceipt(ctx, n, p, out)
	}
}

// file reads the answer of a release script into the outcome.
func (o *Outcome) file(reply any) {
	r, err := wire.ParseRelease(reply)
	if err != nil {
		o.Word, o.Err = Unknown, err
		return
	}
	switch r.Status {
	case wire.ReleaseDone:
		o.Word, o.Told, o.ToldErr = Released, r.Told, wire.Clean(r.Err)
	case wire.ReleaseGone:
		o.Word = Gone
	default:
		o.Word = Changed
	}
}

// publishVerb chooses how a release publishes: in a Cluster a library may listen
// on plain or on sharded channels, and the subscribers tell which. On neither,
// both are told: a spurious message makes a waiter try once more.
func (in *Inspector) publishVerb(ctx context.Context, n Node, call wire.Call) wire.Call {
	ch := call.Wake().Target
	if ch == "" || !n.Cluster {
		return call
	}
	plain, err1 := n.Client.PubSubNumSub(ctx, ch).Result()
	shard, err2 := n.Client.PubSubShardNumSub(ctx, ch).Result()
	switch {
	case err2 != nil: // before 7.0 there are no sharded channels
		return call.WithPublish(wire.WakePublish)
	case err1 == nil && plain[ch] > 0 && shard[ch] == 0:
		return call.WithPublish(wire.WakePublish)
	case shard[ch] > 0 && plain[ch] == 0:
		return call.WithPublish(wire.WakeSPublish)
	}
	return call.WithPublish(wire.WakeBoth)
}

// neverSent reports whether a connection could not even be made.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// receiptPatience is how long a lost reply is followed by questions: a server
// that was busy or paused may still run what it has received.
const receiptPatience = 5 * time.Second

// askReceipt looks for the proof of a release whose reply was lost.
func (in *Inspector) askReceipt(ctx context.Context, n Node, p *Plan, out *Outcome) {
	if p.receipt.Key == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiptPatience)
	defer cancel()
	for ctx.Err() == nil {
		told, err := n.Client.Get(ctx, p.receipt.Key).Int64()
		if err == nil {
			out.Word, out.Told, out.Receipt, out.Err = Released, told, true, nil
			return
		}
		if serverError(err) && !strings.HasPrefix(err.Error(), "redis: nil") {
			return
		}
		wait(ctx, 100*time.Millisecond)
	}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// lookAfter reads what is there now. A server that reported an error may have
// acted before it failed: then the outcome is not REFUSED.
func (in *Inspector) lookAfter(ctx context.Context, n Node, p *Plan, out *Outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiptPatience)
	defer cancel()
	out.Now, out.NowErr = in.lookAt(ctx, n, []probe{{key: string(p.Lock.Key)}})
	if p.Lock.HasField {
		out.Now = slices.DeleteFunc(out.Now, func(l Lock) bool { return l.Field != p.Lock.Field })
	}
	if out.Word == Refused && out.NowErr == nil && !stillHeld(out.Now, p) {
		out.Word = Unknown
	}
}

// stillHeld reports whether every holder of the plan is still there.
func stillHeld(now []Lock, p *Plan) bool {
	for _, h := range p.Holders {
		there := slices.ContainsFunc(now, func(l Lock) bool {
			return slices.ContainsFunc(l.Holders, func(x family.Holder) bool { return x.ID == h.ID })
		})
		if !there {
			return false
		}
	}
	return true
}
