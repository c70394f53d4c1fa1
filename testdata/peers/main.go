// Command peers runs lockcore beside other lock libraries for Go, on one Redis
// server that it starts, in one run:
//
//	cd testdata/peers && go run .          # about half a minute
//	cd testdata/peers && go run . -long    # some minutes, steadier figures
//
// It needs redis-server on PATH, and taskset for the part in which client and
// server share one CPU. It is a module of its own, so that the libraries do not
// become dependencies of fencepost. It exits with 1 when lockcore misses one of
// its targets.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"

	"github.com/redis/go-redis/v9/logging"
)

func main() {
	log.SetFlags(0)
	logging.Disable() // connections of other libraries that are closed in use
	long := flag.Bool("long", false, "measure for longer")
	part := flag.String("part", "", "only this part: pair, idle, hand-off, contend")
	flag.Parse()
	m := &measurement{long: *long, out: os.Stdout}
	parts := map[string]func() error{"pair": m.pairs, "idle": m.idle, "hand-off": m.handOffs, "contend": m.contention}
	if *part != "" {
		run, ok := parts[*part]
		if !ok {
			log.Fatalf("no part %q", *part)
		}
		if err := run(); err != nil {
			log.Fatal(err)
		}
		m.verdict()
		return
	}
	missed := false
	for _, name := range []string{"pair", "idle", "hand-off", "contend"} {
		missed = !again(name, *long) || missed
	}
	if missed {
		os.Exit(1)
	}
}

// again runs one part in a process of its own, so that nothing is left over from
// the one before; the first part on one CPU, which its server inherits.
func again(part string, long bool) bool {
	args := []string{os.Args[0], "-part", part}
	if long {
		args = append(args, "-long")
	}
	if path, err := exec.LookPath("taskset"); err == nil && part == "pair" {
		args = append([]string{path, "-c", "0"}, args...)
	} else if part == "pair" {
		fmt.Println("no taskset: client and server do not share one CPU")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run() == nil
}

// measurement is one run, and what came of it.
type measurement struct {
	long   bool
	out    io.Writer
	missed bool
}

// rounds is how often something is repeated.
func (m *measurement) rounds(short, long int) int {
	if m.long {
		return long
	}
	return short
}

func (m *measurement) printf(format string, args ...any) { fmt.Fprintf(m.out, format, args...) }

// target says whether a figure of lockcore is what it has to be.
func (m *measurement) target(met bool, format string, args ...any) {
	word := "met   "
	if !met {
		word, m.missed = "MISSED", true
	}
	m.printf("  %s  %s\n", word, fmt.Sprintf(format, args...))
}

func (m *measurement) verdict() {
	m.printf("\n")
	if m.missed {
		os.Exit(1)
	}
}
