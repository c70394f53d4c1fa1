package main

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// pairResult is an uncontended pair of one library.
type pairResult struct {
	micros   []float64 // of each block
	ratios   []float64 // to the baseline's block beside it
	commands float64
	allocs   float64
	bytes    float64
}

// pairs measures an uncontended acquire and release: all libraries in turn, in
// short blocks, so that what disturbs the machine disturbs all alike.
func (m *measurement) pairs() error {
	addr, stop, err := startServer()
	if err != nil {
		return err
	}
	defer stop()
	all := append([]subject{{baseline, baselineProcess}}, subjects...)
	processes, results := make([]*process, len(all)), make([]pairResult, len(all))
	for i, s := range all {
		if processes[i], err = s.start(addr, nil); err != nil {
			return err
		}
		defer processes[i].close()
		if _, err := block(processes[i], 200); err != nil { // connections, scripts, stacks
			return err
		}
	}
	const size = 150
	for range m.rounds(41, 301) {
		var beside float64
		for i, p := range processes {
			micros, err := block(p, size)
			if err != nil {
				return err
			}
			if i == 0 {
				beside = micros
			}
			results[i].micros = append(results[i].micros, micros)
			results[i].ratios = append(results[i].ratios, micros/beside)
		}
	}
	for i, p := range processes {
		if err := results[i].cost(p, m.rounds(2000, 20000)); err != nil {
			return err
		}
		if err := results[i].count(all[i], addr); err != nil {
			return err
		}
	}
	m.pairReport(all, results)
	return nil
}

// block runs some pairs, and returns the microseconds of one.
func block(p *process, n int) (float64, error) {
	ctx, cancel := context.WithCancel(context.Background()) // as a server's handlers have
	defer cancel()
	began := time.Now()
	for range n {
		unlock, err := p.try(ctx, "pair")
		if err != nil {
			return 0, err
		}
		if err := unlock(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(began).Microseconds()) / float64(n), nil
}

// cost measures allocations.
func (r *pairResult) cost(p *process, n int) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := block(p, n)
	runtime.ReadMemStats(&after)
	r.allocs = float64(after.Mallocs-before.Mallocs) / float64(n)
	r.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	return err
}

// count counts commands.
func (r *pairResult) count(s subject, addr string) error {
	const n = 200
	p, err := s.start(addr, &counter{})
	if err != nil {
		return err
	}
	defer p.close()
	if _, err := block(p, 10); err != nil {
		return err
	}
	before := p.n.Load()
	_, err = block(p, n)
	r.commands = float64(p.n.Load()-before) / n
	return err
}

func (m *measurement) pairReport(all []subject, results []pairResult) {
	m.printf("An uncontended pair, client and server on one CPU, medians of %d alternating blocks\n", len(results[0].micros))
	m.printf("  %-32s %8s %9s %9s %8s %7s\n", "", "µs", "ratio", "commands", "allocs", "B")
	for i, s := range all {
		r := results[i]
		m.printf("  %-32s %8.1f %9.2f %9.2f %8.1f %7.0f\n", s.name, median(r.micros), median(r.ratios), r.commands, r.allocs, r.bytes)
	}
	own, fewest := results[1], results[2].allocs
	for _, r := range results[2:] {
		fewest = min(fewest, r.allocs)
	}
	m.target(own.commands == 2, "exactly 2 commands a pair: %.2f", own.commands)
	m.target(median(own.ratios) <= 1.35, "at most 1.35 of the baseline's time: %.2f", median(own.ratios))
	m.target(own.allocs <= 24.5, "at most 24 allocations: %.1f", own.allocs)
	m.target(own.allocs < fewest, "fewer allocations than any peer: %.1f, the least of them %.1f", own.allocs, fewest)
}

func median(of []float64) float64 { return percentile(of, 50) }

func percentile(of []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(of))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
