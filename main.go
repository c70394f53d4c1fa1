// Command fencepost shows the locks in a Redis and helps to release one
// safely. See README.md.
package main

import (
	"os"

	"fencepost/tui/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
