package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/oneshot"
	"fencepost/lockcore/wire"
)

// Run carries out a plan and says truly what came of it. Each step is sent
// once: the client library does not send it again, and after a lost reply the
// server is asked what is there, never told to do it again. ctx bounds all
// steps; after a lost reply Run looks on for up to settleFor, whatever ctx says.
func (in *Inspector) Run(ctx context.Context, p Plan) Outcome {
	out := Outcome{Told: wire.ToldNobody}
	for _, step := range p.Steps {
		if step.After && !out.Word.Done() && out.Word != Partial {
			continue // there is nothing that it would complete
		}
		if !out.add(in.step(ctx, p.Act, step), p.Act) {
			break
		}
	}
	out.At = time.Now()
	if out.Word != Failed {
		in.lookAfter(ctx, &p, &out)
	}
	return out
}

func (in *Inspector) nodeAt(addr string, db int) (Node, bool) {
	i := slices.IndexFunc(in.nodes, func(n Node) bool { return n.Addr == addr && n.DB == db })
	if i < 0 {
		return Node{}, false
	}
	return in.nodes[i], true
}

// stepFor bounds one step where the caller did not.
const stepFor = 5 * time.Second

// step sends one command, on a connection that has just answered.
func (in *Inspector) step(ctx context.Context, act Act, s Step) StepOutcome {
	out := StepOutcome{Step: s, Told: wire.ToldNobody}
	n, ok := in.nodeAt(s.Node, s.DB)
	if !ok {
		out.Word, out.Err = Failed, fmt.Errorf("the plan is for a server that is not connected: %s", s.Node)
		return out
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, stepFor)
		defer cancel()
	}
	for range 2 { // a second time where the Cluster has moved the key, and nothing ran
		to := in.stepAt(ctx, n, act, &out)
		if to == "" {
			return out
		}
		if n, ok = in.nodeAt(to, s.DB); !ok {
			return out
		}
		out.Step.Node = to
	}
	return out
}

// stepAt sends the step to one node. It returns the address of another one
// where the server says that the key is there; then nothing ran.
func (in *Inspector) stepAt(ctx context.Context, n Node, act Act, out *StepOutcome) (movedTo string) {
	out.Word, out.Err, out.Told, out.ToldErr = "", nil, wire.ToldNobody, ""
	conn, err := ready(ctx, n.Client)
	if err != nil {
		out.Word, out.Err = Failed, err
		if serverError(err) || errors.As(err, new(*replicaError)) {
			out.Word = Refused
		}
		return ""
	}
	defer func() { _ = conn.Close() }() // back to the pool, or gone: both are fine
	call := out.Step.Call
	reply, err := sendTo(ctx, conn, call)
	if notPermitted(err) && !noScripts(err) && call.Receipt().Key != "" {
		// Nothing ran. This user may not write the receipt's key, or not act at
		// all: without a receipt the answer tells which.
		call = call.WithReceipt(wire.Receipt{})
		out.Step.Call = call
		reply, err = sendTo(ctx, conn, call)
	}
	switch {
	case err == nil || errors.Is(err, redis.Nil):
		out.fileAny(reply, call, act)
	case serverError(err) && out.Step.After && (wakes(call) || call.Name == "PEXPIRE"): // the life of the element that wakes
		out.fileUntold(err, call, act)
		return movedAddr(err) // the list lies on another node
	case noScripts(err) && call.IsRelease():
		in.plainly(ctx, n, act, out)
	case serverError(err):
		out.Word, out.Err = Refused, explainRefusal(err)
		return movedAddr(err)
	case notSent(err):
		out.Word, out.Err = Refused, err
	default:
		out.Word, out.Err = Unknown, err
		in.settle(n, act, out)
	}
	return ""
}

// fileAny reads the answer of a release script, or of a plain command.
func (s *StepOutcome) fileAny(reply any, call wire.Call, act Act) {
	if call.IsRelease() {
		s.file(reply, act.word())
		return
	}
	s.Word = act.word()
	if n, ok := reply.(int64); ok && wakes(call) {
		s.Told = n
	}
}

// wakes reports whether a plain command tells the waiters.
func wakes(c wire.Call) bool {
	return c.Name == "PUBLISH" || c.Name == "SPUBLISH" || c.Name == "LPUSH"
}

// fileUntold files a wake-up that the server refused: what it was to complete is
// done all the same. Sharded channels, which older servers lack, are the second
// of two ways.
func (s *StepOutcome) fileUntold(err error, call wire.Call, act Act) {
	s.Word = act.word()
	if call.Name != "SPUBLISH" {
		s.Told, s.ToldErr = wire.ToldFailed, wire.Clean(err.Error())
	}
}

// sendTo sends a script by its text: what was shown is what is sent, and a user
// who may only EVAL may send it.
func sendTo(ctx context.Context, conn oneshot.Processor, call wire.Call) (any, error) {
	if call.Script != nil {
		argv := call.Argv()
		call = wire.Command(argv[0], argv[1:]...)
	}
	return oneshot.Send(ctx, conn, call)
}

// movedAddr is the address in a MOVED error, "" in any other.
func movedAddr(err error) string {
	rest, ok := strings.CutPrefix(err.Error(), "MOVED ")
	if !ok {
		return ""
	}
	_, addr, _ := strings.Cut(rest, " ")
	return addr
}

// noScripts reports whether a server runs no scripts for this user, or at all.
func noScripts(err error) bool {
	if err == nil || !serverError(err) {
		return false
	}
	text := strings.ToLower(err.Error())
	return (strings.Contains(text, "unknown command") || strings.HasPrefix(text, "noperm")) &&
		(strings.Contains(text, "'eval'") || strings.Contains(text, "`eval`"))
}

// notSent reports whether the client itself kept a command back: a read-only
// target does.
func notSent(err error) bool {
	var n interface{ NotSent() bool }
	return errors.As(err, &n) && n.NotSent()
}

// explainRefusal adds to a server's refusal what an operator can do about it.
func explainRefusal(err error) error {
	text := err.Error()
	hint := ""
	switch {
	case strings.Contains(text, "READONLY"):
		hint = "this server is a replica: act on its master"
	case strings.Contains(text, "NOREPLICAS"):
		hint = "the server refuses all writes while it has too few replicas (min-replicas-to-write)"
	case strings.HasPrefix(text, "OOM"):
		hint = "the server is out of memory and refuses writes"
	case strings.Contains(text, "MISCONF"):
		hint = "the server refuses writes because it cannot save its data"
	case strings.HasPrefix(text, "BUSY"):
		hint = "another script has been running for seconds"
	case strings.HasPrefix(text, "ASK "), strings.HasPrefix(text, "TRYAGAIN"):
		hint = "the Cluster is moving this slot: try again when that is over"
	case strings.Contains(text, "can't run this command"), strings.Contains(text, "ACL failure"), strings.HasPrefix(text, noPermission):
		hint = "grant it by ACL SETUSER, or act as another user"
	case strings.Contains(text, "Unknown Redis command"), strings.Contains(text, "unknown command"):
		hint = "the command is renamed or disabled on this server"
	}
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, hint)
}

// lookAfter reads what is there now. A server that reported an error may have
// acted before it failed: then the outcome is not REFUSED. And where the holder
// is gone but another has the lock, it is not GONE.
func (in *Inspector) lookAfter(ctx context.Context, p *Plan, out *Outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepFor)
	defer cancel()
	out.Now, out.NowErr = in.now(ctx, p, out.Steps)
	switch {
	case out.NowErr != nil:
	case out.Word == Refused && !stillHeld(out.Now, p):
		out.Word = Unknown
	case out.Word == Gone && heldNow(out.Now):
		out.Word, out.Why = Changed, wire.WhyHolder
	}
}

func heldNow(now []Lock) bool {
	return slices.ContainsFunc(now, func(l Lock) bool { return l.State == family.Held && len(l.Holders) > 0 })
}

// now reads the lock of a plan on every node to which its steps went.
func (in *Inspector) now(ctx context.Context, p *Plan, went []StepOutcome) ([]Lock, error) {
	var locks []Lock
	seen := map[string]bool{}
	for _, s := range went {
		n, ok := in.nodeAt(s.Step.Node, s.Step.DB)
		if !ok || s.Step.After || seen[n.Addr] {
			continue
		}
		seen[n.Addr] = true
		known := p.Lock
		known.Node, known.DB = n.Addr, n.DB
		found, err := in.refreshNode(ctx, n, []Lock{known})
		if err != nil {
			return nil, err
		}
		locks = append(locks, found...)
	}
	if p.Lock.HasField {
		locks = slices.DeleteFunc(locks, func(l Lock) bool { return l.Field != p.Lock.Field })
	}
	return locks, nil
}

// Exists reports whether there is anything at a key of a database. An error says
// that it cannot be known.
func (in *Inspector) Exists(ctx context.Context, db int, key string) (bool, error) {
	nodes, err := in.places(ctx, db, key)
	var failed error
	for _, n := range nodes {
		kind, err := n.Client.Type(ctx, key).Result()
		if err == nil && kind != string(family.None) {
			return true, nil
		}
		failed = cmp.Or(failed, err)
	}
	return false, cmp.Or(err, failed)
}

// stillHeld reports whether every holder of the plan is still there.
func stillHeld(now []Lock, p *Plan) bool {
	for _, h := range p.Holders {
		there := slices.ContainsFunc(now, func(l Lock) bool {
			return slices.ContainsFunc(l.Holders, func(x family.Holder) bool { return sameName(x, h) })
		})
		if !there {
			return false
		}
	}
	return true
}
