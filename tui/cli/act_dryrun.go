package cli

import (
	"fmt"

	"fencepost/lockcore/inspect"
)

// printDryRun prints the steps as lines for a shell, each behind a comment that
// says what it does. Nothing is done.
func (a *act) printDryRun(p *inspect.Plan) int {
	o, err := a.targetOptions()
	if err != nil {
		return a.fail(err)
	}
	fmt.Fprintf(a.out, "# %s %s, held by %s (a password is taken from REDISCLI_AUTH)\n", a.verb.name, p.Lock.Name(), p.Lock.HolderWords())
	for _, text := range append(p.Said, p.Guard.String()) {
		if text != "" {
			fmt.Fprintf(a.out, "# %s\n", text)
		}
	}
	if then := p.Afterwards(); then != "" {
		fmt.Fprintf(a.out, "# afterwards: %s\n", then)
	}
	for i, s := range p.Steps {
		flags, err := o.RedisCLI(s.Node, s.DB)
		if err != nil {
			return a.fail(err)
		}
		fmt.Fprintf(a.out, "# step %d: %s\n%s\n", i+1, s.Says, s.Call.Line(flags...))
	}
	return exitOK
}
