// Command fencepost shows the locks in a Redis and helps to release one
// safely. See README.md.
package main

import (
	"os"
	"runtime"

	"fencepost/tui/cli"
)

func main() {
	shareProcessors()
	os.Exit(cli.Run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// shareProcessors leaves half of the processors to others: whoever looks at an
// incident is often on the server's own host, and a scan is faster where the
// server has a processor to itself (on two: by a tenth by name, by a fifth deep).
// GOMAXPROCS in the environment has the last word.
func shareProcessors() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	}
}
