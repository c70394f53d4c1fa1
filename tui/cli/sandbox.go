package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"fencepost/lockcore/sandbox"
)

// defaultListen is where the sandbox is served unless --listen says otherwise:
// next to Redis' own port, where nothing else is expected.
const defaultListen = "127.0.0.1:6399"

// sandboxVerb serves the sandbox to other programs.
func sandboxVerb() verb {
	return verb{
		name:  "sandbox",
		short: "serve the embedded sandbox to other programs",
		long: "A Redis with a dozen living locks, until it is interrupted. From another terminal:\n" +
			"  redis-cli -p 6399\n  fencepost -p 6399",
		flags: []string{"listen"},
		run:   runSandbox,
	}
}

// runSandbox serves until ctx ends.
func runSandbox(ctx context.Context, inv *invocation) int {
	addr := inv.opts.listen
	if addr == "" {
		addr = defaultListen
	}
	s, err := sandbox.Start(ctx, sandbox.Options{Listen: addr, Seed: uint64(time.Now().UnixNano())})
	if errors.Is(err, sandbox.ErrNotLoopback) {
		return inv.fail(usagef("%s", err))
	}
	if err != nil {
		return inv.fail(err)
	}
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Addr())
	fmt.Fprintf(inv.out, "sandbox on %s, with %d demo locks; ctrl+c ends it\n", s.Addr(), len(s.Demos()))
	fmt.Fprintf(inv.out, "look at it from another terminal: redis-cli -p %s, or fencepost -p %s\n", port, port)
	<-ctx.Done()
	return exitOK
}
