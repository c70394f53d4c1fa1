package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// printVersion prints one line: the version, the commit, and Go's.
func printVersion(out io.Writer) int {
	version, commit := "devel", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			version = v
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				commit = s.Value[:12] + ", "
			}
		}
	}
	fmt.Fprintf(out, "fencepost %s (%s%s %s/%s)\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK
}
