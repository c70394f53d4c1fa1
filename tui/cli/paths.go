package cli

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"fencepost/lockcore/wire"
)

func pathsVerb() verb {
	return verb{name: "paths", short: "where configuration, state and audit lie", run: runPaths}
}

func runPaths(_ context.Context, inv *invocation) int {
	p := inv.paths()
	w := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{{"config", p.Config}, {"state", p.State}, {"audit", p.Audit}} {
		fmt.Fprintf(w, "%s\t%s\n", line[0], describePath(line[1]))
	}
	if err := w.Flush(); err != nil {
		return inv.fail(err)
	}
	return exitOK
}

func describePath(path string) string {
	if path == "" {
		return "nowhere: neither HOME nor the XDG variable is set"
	}
	text := wire.Clean(path)
	if _, err := os.Stat(path); err != nil {
		text += "  (not there)"
	}
	return text
}
