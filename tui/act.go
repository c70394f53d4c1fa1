package tui

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/audit"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// armedFor is how long an armed target stays so without use.
const armedFor = 10 * time.Minute

// ArmingName is what has to be typed to arm a guarded target: the name of its
// environment, else its host.
func (s Server) ArmingName() string {
	if s.Env != "" {
		return s.Env
	}
	addr := s.Addr
	if addr == "" {
		addr = s.Name
	}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		return host
	}
	return addr
}

// used keeps an armed target armed: it lapses only without use.
func (m root) used() root {
	if m.server.Guarded {
		m.armed = m.now.Add(armedFor)
	}
	return m
}

// idOf is how a plan is told which holder is meant.
func idOf(h family.Holder) wire.Raw {
	if h.ID == "" {
		return wire.Raw(h.Label)
	}
	return h.ID
}

// sentMsg is what came of a plan.
type sentMsg struct {
	question int
	outcome  inspect.Outcome
	warnings []string
	at       time.Time
}

// send carries out the plan that was shown: written down before, and after.
func (m root) send(plan inspect.Plan, verb, reason string) (root, tea.Cmd) {
	p := &m.release
	if len(plan.Steps) == 0 || m.mayNot() != "" || (m.server.Guarded && !p.armed) {
		return m, nil
	}
	m = m.used()
	if reason != "" {
		m.reason = reason
	}
	p.stage, p.sent, p.top, m.notice = sending, plan, 0, notice{}
	act, q := m.acting(plan, verb, reason, m.signs()), p.question
	return m, func() tea.Msg {
		o, warnings := act()
		return sentMsg{q, o, warnings, time.Now()}
	}
}

// acting is what writes a plan down, carries it out and writes what came of it.
func (m root) acting(plan inspect.Plan, verb, reason string, signs []inspect.Evidence) func() (inspect.Outcome, []string) {
	in, log, limit, fw := m.opts.Inspector, m.opts.Audit, m.opts.timeout()*time.Duration(len(plan.Steps)), m.following
	parent, acts := context.WithoutCancel(m.ctx), m.outlet.acts // who leaves the console does not break off what was sent
	c := audit.Context{
		Verb: verb, Console: true, Target: m.server.auditName(), Env: m.server.Env, Guarded: m.server.Guarded,
		RedisUser: m.server.User, Reason: reason, Evidence: signWords(signs),
	}
	if c.Evidence == "" {
		c.Evidence = plan.Lock.Evidence(m.now)
	}
	return func() (inspect.Outcome, []string) {
		defer acts.begin()()
		ctx, cancel := context.WithTimeout(parent, limit)
		defer cancel()
		o, warnings := log.Act(ctx, in, plan, c)
		if fw != nil {
			fw.f.Acted(&plan.Lock, o) // its event will say who it was
		}
		return o, warnings
	}
}

// inFlight counts the acts that are under way: the console does not end before
// what came of them is written down.
type inFlight struct{ n atomic.Int32 }

// begin counts one in; what it returns counts it out.
func (f *inFlight) begin() (end func()) {
	f.n.Add(1)
	return func() { f.n.Add(-1) }
}

// settle waits until none is under way, for at most so long.
func (f *inFlight) settle(most time.Duration) {
	for began := time.Now(); f.n.Load() > 0 && time.Since(began) < most; {
		time.Sleep(10 * time.Millisecond)
	}
}

// actsEnd is how long the console's end waits for acts that are under way.
const actsEnd = 15 * time.Second

// auditName is the target as the audit names it.
func (s Server) auditName() string {
	if s.Addr != "" {
		return s.Addr
	}
	return s.Name
}

// signWords are signs of life, each with how it is known.
func signWords(signs []inspect.Evidence) string {
	var parts []string
	for _, e := range signs {
		parts = append(parts, signText(e))
	}
	return strings.Join(parts, "; ")
}

func signText(e inspect.Evidence) string { return e.Says + " (" + e.How + ")" }

// afterFor is how long it is looked who takes a lock next.
const afterFor = 10 * time.Second

// afterMsg is who took a lock after a plan of ours.
type afterMsg struct {
	question int
	lock     string
	text     string
	at       time.Time
}

func (s sentMsg) apply(m root) (root, tea.Cmd) {
	p := &m.release
	if s.question != p.question {
		return m, nil
	}
	m.now = later(m.now, s.at)
	p.stage, p.outcome, p.warnings, p.top = done, s.outcome, s.warnings, 0
	if s.outcome.Word != inspect.Released {
		return m, nil
	}
	p.after = afterBegun
	return m, m.watchAfter(p.sent, s.outcome)
}

// afterBegun stands where nothing is known yet of who takes it next.
const afterBegun = "watching who takes it next"

// watchAfter looks who takes the lock next.
func (m root) watchAfter(plan inspect.Plan, o inspect.Outcome) tea.Cmd {
	in, q, parent := m.opts.Inspector, m.release.question, m.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, afterFor)
		defer cancel()
		after, err := in.WatchAfter(ctx, &plan, &o)
		text := after.Text()
		if err != nil {
			text = "who takes it next cannot be seen: " + cleanError(err)
		}
		return afterMsg{q, plan.Lock.Name(), text, time.Now()}
	}
}

func (a afterMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	m.now = later(m.now, a.at)
	if a.question == m.release.question {
		m.release.after = a.text
		return m, nil
	}
	if m.ctx.Err() == nil { // the panel was left before anybody took it
		m = m.say(fine, a.lock+": "+a.text)
	}
	return m, nil
}

// commandsMsg are the commands of a release, made from what is there now.
type commandsMsg struct {
	plan inspect.Plan
	err  error
}

// copyCommands copies what a release of a row would send.
func (m root) copyCommands(r *row) (root, tea.Cmd) {
	ctx, cancel := m.bounded()
	in, known := m.opts.Inspector, *r.lock
	return m, func() tea.Msg {
		defer cancel()
		l, _, err := readAgain(ctx, in, known)
		if err == nil && l == nil {
			err = formError("this lock is gone")
		}
		if err != nil {
			return commandsMsg{err: err}
		}
		plan, err := in.PlanRelease(*l)
		return commandsMsg{plan, err}
	}
}

func (c commandsMsg) apply(m root) (root, tea.Cmd) {
	if c.err != nil {
		return m.say(warn, cleanError(c.err)), nil
	}
	return m, m.copyPlan(c.plan)
}

func (m root) copyPlan(plan inspect.Plan) tea.Cmd {
	return m.copyText("the commands", strings.Join(plan.Lines(), "\n"))
}
