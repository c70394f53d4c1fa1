package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// confirm shows what will be done and asks, where that was not answered on the
// command line. ok is false where it must not be done: exit with code.
func (a *act) confirm(ctx context.Context, p *inspect.Plan) (code int, ok bool) {
	a.foresee(ctx, p)
	if a.opts.yes && a.opts.reason != "" {
		return exitOK, true
	}
	a.show(p)
	if !a.opts.yes {
		word := wanted(p)
		answer, err := a.prompt(ctx, fmt.Sprintf("Type %s to go on, anything else to leave it: ", word.ask))
		if err != nil || answer != word.text {
			return a.leave(), false
		}
	}
	if !a.askReason(ctx) {
		return a.leave(), false
	}
	return exitOK, true
}

// leave says that nothing was done, for want of a yes.
func (a *act) leave() int {
	fmt.Fprintln(a.err, "Nothing was changed.")
	return exitError
}

// askReason asks for the reason until one is given, where none was.
func (a *act) askReason(ctx context.Context) bool {
	for a.opts.reason == "" {
		reason, err := a.prompt(ctx, "Reason (for the audit): ")
		if err != nil {
			return false
		}
		a.opts.reason = strings.TrimSpace(reason)
	}
	return true
}

// foresee warns of what will not go as it should, before it is done.
func (a *act) foresee(ctx context.Context, p *inspect.Plan) {
	for _, text := range p.Said {
		a.warn(text)
	}
	if text := p.Guard.String(); text != "" {
		a.warn(text)
	}
	ctx, cancel := a.step(ctx)
	defer cancel()
	for _, text := range a.insp.Foresee(ctx, p) {
		a.warn(text)
	}
}

// show prints what an operator should have read before saying yes.
func (a *act) show(p *inspect.Plan) {
	l, now := &p.Lock, time.Now()
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(a.err, "  %-12s %s\n", name, text)
		}
	}
	fmt.Fprintf(a.err, "%s\n", p.Question())
	row("target", a.place()+fmt.Sprintf(", db %d", l.DB))
	row("lock", l.Name())
	row("library", fmt.Sprintf("%s (%s)", wire.Clean(l.Label), l.Confidence))
	for _, h := range p.Holders {
		row("holder", inspect.HolderText(h, now))
	}
	if l.State != family.Free {
		row("ends", l.Expiry(now))
	}
	row("evidence", l.Evidence(now))
	row("fence", l.Fence)
	row("consequence", p.Consequence())
	row("afterwards", p.Afterwards())
	for i, s := range p.Steps {
		row(fmt.Sprintf("step %d", i+1), s.Says)
	}
}

// answer is what has to be typed.
type answer struct{ text, ask string }

// wanted is proof that it was read who holds the lock, where somebody does.
func wanted(p *inspect.Plan) answer {
	if p.Lock.State != family.Held || len(p.Holders) == 0 {
		return answer{"yes", "yes"}
	}
	text, ask := p.Proof()
	return answer{text, ask}
}

// prompter reads lines; one reader, so that nothing typed ahead is lost.
type prompter struct{ lines chan string }

func newPrompter(in io.Reader) *prompter {
	p := &prompter{lines: make(chan string)}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	return p
}

// prompt asks for one line. ctrl+c and the end of input are errors.
func (a *act) prompt(ctx context.Context, text string) (string, error) {
	if a.typed == nil {
		a.typed = newPrompter(a.in)
	}
	fmt.Fprint(a.err, text)
	select {
	case line, ok := <-a.typed.lines:
		if !ok {
			return "", io.EOF
		}
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(a.err)
		return "", ctx.Err()
	}
}
