package inspect

import (
	"context"
	"fmt"

	"fencepost/lockcore/oneshot"
	"fencepost/lockcore/wire"
)

// mayRun asks which of some commands this user may run, without running them
// (since Redis 7.0; EVAL_RO changes nothing, and is let through read-only).
// ARGV: for each command how many words it has, then the words.
var mayRun = wire.NewScript("may_run", `
if not redis.acl_check_cmd then return {} end
local out, i = {}, 1
while i <= #ARGV do
  local n, cmd = tonumber(ARGV[i]), {}
  for k = 1, n do cmd[k] = ARGV[i + k] end
  local known, may = pcall(redis.acl_check_cmd, unpack(cmd))
  out[#out + 1] = known and may and 1 or 0
  i = i + n + 1
end
return out
`)

// Foresee asks the server, as far as it tells beforehand, what of a plan it will
// refuse: sentences for the operator, before anything is done. Nothing foreseen
// is no promise.
func (in *Inspector) Foresee(ctx context.Context, p *Plan) []string {
	var said []string
	for _, s := range p.Steps {
		n, ok := in.nodeAt(s.Node, s.DB)
		if !ok {
			continue
		}
		said = append(said, foresee(ctx, n, s.Call)...)
	}
	return said
}

// foreseen is one command that a step will run, and what follows if it may not.
type foreseen struct {
	cmd  []string
	says string
}

func foresee(ctx context.Context, n Node, call wire.Call) []string {
	var asked []foreseen
	w := call.Wake()
	if wakes(call) && call.Name != "SPUBLISH" { // a step of its own
		w = wire.Wake{Verb: wire.WakePublish, Target: call.Args[0], Message: call.Args[1]}
		if call.Name == "LPUSH" {
			w.Verb = wire.WakePush
		}
	}
	switch w.Verb {
	case wire.WakePublish, wire.WakeBoth, wire.WakeSPublish:
		verb := string(w.Verb)
		if w.Verb == wire.WakeBoth {
			verb = string(wire.WakePublish)
		}
		asked = append(asked, foreseen{[]string{verb, w.Target, w.Message}, fmt.Sprintf("who waits cannot be told: this user may not publish on %s", wire.Escape(w.Target))})
	case wire.WakePush, wire.WakeReset:
		asked = append(asked, foreseen{[]string{"LPUSH", w.Target, w.Message}, fmt.Sprintf("the server will refuse it: this user may not write %s, on which waiters block", wire.Escape(w.Target))})
	}
	if r := call.Receipt(); r.Key != "" {
		asked = append(asked, foreseen{[]string{"SET", r.Key, "0"}, "should the reply be lost, nothing will prove what happened: this user may not write a receipt beside the lock"})
	}
	var args []string
	for _, a := range asked {
		args = append(args, fmt.Sprint(len(a.cmd)))
		args = append(args, a.cmd...)
	}
	reply, err := oneshot.Send(ctx, n.Client, wire.Command("EVAL_RO", append([]string{mayRun.Source, "0"}, args...)...))
	answers, _ := reply.([]any)
	if err != nil || len(answers) != len(asked) {
		return nil // the server does not tell
	}
	var said []string
	for i, a := range asked {
		if answers[i] == any(int64(0)) {
			said = append(said, a.says)
		}
	}
	return said
}
