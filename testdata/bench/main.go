// Command bench measures what looking at locks costs a Redis server and how fast
// it is, beside a bare SCAN loop, redis-cli and redis-benchmark, in one run. It
// starts servers of its own on loopback ports and ends them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9/logging"
)

// bench is one run.
type bench struct {
	ctx       context.Context
	keys      int
	rounds    int
	seconds   int
	fencepost string // the built program
	missed    []string
}

// parts are what can be measured, in this order.
var parts = []struct {
	name string
	run  func(*bench) error
}{
	{"scan", (*bench).scan},
	{"neighbour", (*bench).neighbour},
	{"memory", (*bench).memory},
	{"idle", (*bench).idle},
	{"change", (*bench).change},
	{"countdown", (*bench).countdown},
}

func main() {
	logging.Disable()
	b := &bench{ctx: context.Background()}
	only := flag.String("only", "", "parts to run, separated by commas: scan neighbour memory idle change countdown; default all")
	strict := flag.Bool("strict", false, "exit 1 where a target is missed")
	flag.IntVar(&b.keys, "keys", 1_000_000, "ordinary keys")
	flag.IntVar(&b.rounds, "rounds", 7, "rounds, interleaved")
	flag.IntVar(&b.seconds, "seconds", 20, "how long an idle follower is watched")
	flag.StringVar(&b.fencepost, "fencepost", "", "the built program, for its resident memory")
	flag.Parse()
	fmt.Printf("%s, %d CPUs, %s/%s\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	for _, p := range parts {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), p.name) {
			continue
		}
		fmt.Printf("\n# %s\n", p.name)
		if err := p.run(b); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", p.name, err)
			os.Exit(1)
		}
	}
	if len(b.missed) == 0 {
		fmt.Println("\nevery target was met")
		return
	}
	fmt.Printf("\nmissed: %s\n", strings.Join(b.missed, "; "))
	if *strict {
		os.Exit(1)
	}
}

// target prints a figure beside what it may be at most.
func (b *bench) target(what string, got, most float64, unit string) {
	mark := "ok"
	if got > most {
		mark = "MISSED"
		b.missed = append(b.missed, what)
	}
	fmt.Printf("%-58s %9.2f %-10s at most %-7g %s\n", what, got, unit, most, mark)
}

// figure prints a figure that has no target.
func figure(what string, got float64, unit string) {
	fmt.Printf("%-58s %9.2f %s\n", what, got, unit)
}

// median of some figures; they are sorted by it.
func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// percentile of some figures; they are sorted by it.
func percentile(all []float64, share int) float64 {
	slices.Sort(all)
	return all[min(len(all)-1, len(all)*share/100)]
}

// seconds is how long something took.
func seconds(do func() error) (float64, error) {
	began := time.Now()
	err := do()
	return time.Since(began).Seconds(), err
}
